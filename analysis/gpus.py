"""One row per GPU in a role of an attempt."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class Gpus(Table):
    """One row per GPU in a role of an attempt."""

    key: ClassVar = ("run_id", "attempt", "rank", "host", "gpu_uuid")

    cluster = c.identifier("Cluster of the GPU.", nullable=True)
    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    rank = c.index("Global rank; null for a spare.", nullable=True)
    from_ns = c.time_ns("Start of the role.")
    to_ns = c.time_ns("End of the role.")
    host = c.identifier("Node of the GPU.", nullable=True)
    local_rank = c.index("Position of the GPU in its node.", nullable=True)
    gpu_uuid = c.identifier("UUID of the GPU.", nullable=True)
    pci_address = c.identifier("PCI address of the GPU in its node.", nullable=True)
    serial = c.identifier("Serial number of the GPU.", nullable=True)
    nic = c.identifier("Network card that the GPU uses.", nullable=True)
    rail = c.identifier("Rail of that network card.", nullable=True)
    switch = c.identifier("First switch of that network card.", nullable=True)
    rack = c.identifier("Rack of the node.", nullable=True)
    pod = c.identifier("Pod of the rack.", nullable=True)
    tp_rank = c.index("Position in the tensor-parallel group.", nullable=True)
    cp_rank = c.index("Position in the context-parallel group.", nullable=True)
    pp_rank = c.index("Pipeline stage.", nullable=True)
    dp_rank = c.index("Data-parallel replica.", nullable=True)
    ep_rank = c.index("Position in the expert-parallel group.", nullable=True)
