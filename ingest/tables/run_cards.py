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
    tdp_w = c.watts("Most that one GPU may draw.", nullable=True)
    memory_bytes = c.quantity("Memory of one GPU.", "B", nullable=True)
    sms = c.number("Multiprocessors of one GPU.", nullable=True)
    communication_sms = c.number(
        "Multiprocessors that are given to communication.", nullable=True
    )
    communication_w = c.watts(
        "Power of one GPU while all of them communicate or wait.", nullable=True
    )
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
    total_tokens = c.real("Tokens of the whole training.", nullable=True)
    step_s = c.quantity("Time that a step should take.", "s", nullable=True)
    achieved_tflops = c.real("Rate of one GPU that is expected.", nullable=True)
    state_bytes_per_parameter = c.real(
        "Training state of one parameter in bytes.", nullable=True
    )
    data_bytes_per_token = c.real("Input of one token in bytes.", nullable=True)
    bucket_bytes = c.quantity("Largest all-reduce of gradients.", "B", nullable=True)
    exposed_communication_s = c.quantity(
        "Communication of a step that nothing hides, as planned.", "s", nullable=True
    )
    planned_days = c.real("Days that the run is meant to take.", nullable=True)
    kv_hidden = c.number("Width of keys, or of values, of all heads.", nullable=True)
    experts_per_token = c.number("Experts that one token goes to.", nullable=True)
    weight_bytes = c.quantity("One parameter as it is gathered.", "B", nullable=True)
    gradient_bytes = c.quantity("One gradient as it is reduced.", "B", nullable=True)
    usd_per_gpu_hour = c.real("Price of a GPU-hour.", nullable=True)
    price_mode = c.choice("How GPUs are paid for.", ("rental", "owned"), nullable=True)
    usd_per_kwh = c.real("Price of electricity.", nullable=True)
    pue = c.real("Facility power over power of the machines.", nullable=True)
    capex_usd_per_gpu_hour = c.real("Price of owning a GPU for an hour.", nullable=True)
    region = c.text("Region of the electricity, as carbon tables name it.")
    carbon_g_per_kwh = c.real("Carbon of a kilowatt-hour in grams.", nullable=True)
    fabric_gpus_per_rack = c.number("GPUs in one rack.", nullable=True)
    fabric_racks_per_pod = c.number("Racks in one pod.", nullable=True)
    fabric_pods = c.number("Pods of the network.", nullable=True)
    fabric_tiers = c.number("Tiers of switches.", nullable=True)
    fabric_fibre_m = c.real("Fibre on the longest path in metres.", nullable=True)
    fabric_round_latency_us = c.real(
        "Latency of one round of a collective in microseconds.", nullable=True
    )
    fabric_inside_latency_us = c.real(
        "The same of a round inside a node, in microseconds.", nullable=True
    )
    fabric_paths = c.number("Equal paths between two racks.", nullable=True)
    fabric_pairs = c.number("Pairs that send at once over the paths.", nullable=True)
    fabric_flows_per_pair = c.number(
        "Flows that one pair is split into.", nullable=True
    )
    checkpoint_interval_s = c.quantity(
        "Time between two checkpoints.", "s", nullable=True
    )
    checkpoint_stall_s = c.quantity(
        "Time that training stands still for one.", "s", nullable=True
    )
    checkpoint_restart_s = c.quantity(
        "Time to load one and to go on.", "s", nullable=True
    )
    checkpoint_downtime_s = c.quantity(
        "Time until the restart begins.", "s", nullable=True
    )
    checkpoint_bytes = c.quantity("Size of one checkpoint.", "B", nullable=True)
    checkpoint_store_gbs = c.quantity(
        "Rate of the store, all writers together.", "GB/s", nullable=True
    )
    checkpoint_local_gbs = c.quantity(
        "Rate of a local tier, for each node.", "GB/s", nullable=True
    )
    checkpoint_writers = c.number("Ranks that write at once.", nullable=True)
    reliability_interruptions = c.number("Unplanned interruptions seen.", nullable=True)
    reliability_observed_days = c.real("Days in which they were seen.", nullable=True)
    reliability_per_1000_node_days = c.real(
        "Failures of a thousand nodes and a day to plan with.", nullable=True
    )
    reliability_repair_h = c.real("Hours until a node is back.", nullable=True)
    reliability_spare_nodes = c.number("Nodes held in reserve.", nullable=True)
    power_ramp_up_w_per_s = c.quantity("Steepest rise allowed.", "W/s", nullable=True)
    power_ramp_down_w_per_s = c.quantity("Steepest fall allowed.", "W/s", nullable=True)
    power_dynamic_range_w = c.quantity("Greatest swing allowed.", "W", nullable=True)
    power_band_low_hz = c.quantity(
        "Lower end of the band that is watched.", "Hz", nullable=True
    )
    power_band_high_hz = c.quantity("Upper end of it.", "Hz", nullable=True)
    power_band_energy_ratio = c.quantity(
        "Share of AC energy allowed in it.", "1", nullable=True
    )
