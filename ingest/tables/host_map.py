"""One row per rank of a run card's host map."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class HostMap(Table):
    """One row per rank of a run card's host map."""

    key: ClassVar = ("run_id", "rank", "spare")

    file_id = c.identifier("Run card that named the map.")
    run_id = c.identifier("Run that the map describes.")
    rank = c.index("Global rank; null for a spare.", nullable=True)
    spare = c.index("Position among the spares; null for a rank.", nullable=True)
    host = c.identifier("Node that holds the GPU.")
    local_rank = c.index("Position of the GPU in its node.", nullable=True)
    gpu_uuid = c.identifier("UUID of the GPU.", nullable=True)
    pci_address = c.identifier("PCI address of the GPU in its node.", nullable=True)
    nic = c.identifier("Network card that the GPU uses.", nullable=True)
    rail = c.identifier("Rail of that network card.", nullable=True)
    switch = c.identifier("First switch of that network card.", nullable=True)
    rack = c.identifier("Rack of the node.", nullable=True)
    pod = c.identifier("Pod of the rack.", nullable=True)
