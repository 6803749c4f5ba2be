"""One row per run card, with the card's fields."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class RunCards(Table):
    """One row per run card, with the card's fields."""

    key: ClassVar = ("run_id",)

    file_id = c.identifier("Run card that the row was read from.")
    run_id = c.identifier("Run that the card describes.")
    cluster = c.identifier("Cluster that the run is on.")
    model = c.text("Model that is trained, in the owner's words.")
    zone = c.text("Zone of naive time stamps in this run's files, an IANA name.")
    year = c.number("Year of time stamps that carry none.", nullable=True)
    billing = c.choice("What is paid for.", ("allocated", "reserved"))
    reserved_gpus = c.number("GPUs paid for outside attempts too.", nullable=True)
    job_ids = c.text("Scheduler jobs of the run, separated by commas.")
    gpu = c.text("Model of the GPUs.")
    gpus = c.number("GPUs of the run, spares included.", nullable=True)
    gpus_per_node = c.number("GPUs in one node.", nullable=True)
    peak_tflops = c.real(
        "Dense peak of one GPU in the training number format.", nullable=True
    )
    nvlink_gbs = c.quantity(
        "Bandwidth of a GPU inside its node.", "GB/s", nullable=True
    )
    network_gbs = c.quantity("Bandwidth of a GPU between nodes.", "GB/s", nullable=True)
    watts_per_gpu_all_in = c.real("Facility power for each GPU.", nullable=True)
    tp = c.number("Tensor-parallel ranks.", nullable=True)
    cp = c.number("Context-parallel ranks.", nullable=True)
    pp = c.number("Pipeline stages.", nullable=True)
    dp = c.number("Data-parallel replicas.", nullable=True)
    ep = c.number("Expert-parallel ranks.", nullable=True)
    vpp = c.number("Virtual pipeline chunks of a stage.", nullable=True)
    rank_order = c.text("Order in which ranks are numbered, fastest first.")
    microbatches = c.number("Micro-batches of a step and replica.", nullable=True)
    parameters = c.real("Parameters of the model.", nullable=True)
    active_parameters = c.real("Parameters that one token uses.", nullable=True)
    layers = c.number("Layers of the model.", nullable=True)
    hidden = c.number("Width of the model.", nullable=True)
    tokens_per_step = c.number("Tokens of a step.", nullable=True)
    sequence_length = c.number("Tokens of a sequence.", nullable=True)
    planned_steps = c.number("Steps that the run is meant to take.", nullable=True)
    usd_per_gpu_hour = c.real("Price of a GPU-hour.", nullable=True)
    price_mode = c.choice("How GPUs are paid for.", ("rental", "owned"), nullable=True)
    usd_per_kwh = c.real("Price of electricity.", nullable=True)
    pue = c.real("Facility power over power of the machines.", nullable=True)
    capex_usd_per_gpu_hour = c.real("Price of owning a GPU for an hour.", nullable=True)
