"""One row per run, its card joined to what was seen of it."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class Runs(Table):
    """One row per run, its card joined to what was seen of it."""

    key: ClassVar = ("run_id",)

    run_id = c.identifier("Run.")
    cluster = c.identifier("Cluster that it ran on.", nullable=True)
    model = c.text("Model that was trained.")
    gpu_model = c.text("Model of the GPUs.")
    gpu_count = c.count("GPUs of the run.", nullable=True)
    gpus_per_node = c.number("GPUs in one node.", nullable=True)
    tp = c.number("Tensor-parallel ranks.", nullable=True)
    cp = c.number("Context-parallel ranks.", nullable=True)
    pp = c.number("Pipeline stages.", nullable=True)
    dp = c.number("Data-parallel replicas.", nullable=True)
    ep = c.number("Expert-parallel ranks.", nullable=True)
    vpp = c.number("Virtual pipeline chunks of a stage.", nullable=True)
    rank_order = c.text("Order in which ranks are numbered, fastest first.")
    microbatches = c.number("Micro-batches of a step and replica.", nullable=True)
    tokens_per_step = c.number("Tokens of a step.", nullable=True)
    planned_steps = c.number("Steps that the run is meant to take.", nullable=True)
    billing = c.choice("What is paid for.", ("allocated", "reserved"))
    reserved_gpus = c.number("GPUs paid for outside attempts too.", nullable=True)
    usd_per_gpu_hour = c.real(
        "Price on the run card; null where there is none.", nullable=True
    )
    price_mode = c.choice(
        "How GPUs are paid for, on the run card.", ("rental", "owned"), nullable=True
    )
    has_card = c.flag("Whether a run card describes the run.")
    start_ns = c.time_ns("Start of the first attempt.", nullable=True)
    end_ns = c.time_ns("End of the last attempt.", nullable=True)
