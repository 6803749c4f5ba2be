"""Identities of the fleet: nodes, GPUs, network cards, switches."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from ingest.synthetic.scenario import Scenario

#: PCI buses of the GPUs in a node, as in an eight-GPU H100 server.
BUSES: Final = ("19", "3b", "4c", "5d", "9b", "bb", "cb", "db")


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU and where it is.

    Attributes:
        rank: Rank that runs on it.
        host: Its node.
        local_rank: Its position in the node.
        uuid: Identity that the driver gives it.
        serial: Serial number of the board.
        pci_address: Domain, bus and device.
        nic: Network card it uses.
        switch: First switch of that card.
    """

    rank: int
    host: str
    local_rank: int
    uuid: str
    serial: str
    pci_address: str
    nic: str
    switch: str


def host_name(node: int) -> str:
    """Return the name of a node."""
    return f"node-{node + 1:02}"


def fleet_of(scenario: Scenario) -> tuple[Gpu, ...]:
    """Return the GPUs of a run in the order of their ranks."""
    draw = scenario.draws("fleet")
    gpus = []
    for rank in range(scenario.ranks):
        node, local = divmod(rank, scenario.gpus_per_node)
        identity = UUID(int=draw.getrandbits(128), version=4)
        gpus.append(
            Gpu(
                rank=rank,
                host=host_name(node),
                local_rank=local,
                uuid=f"GPU-{identity}",
                serial=f"165{draw.randrange(10**10):010}",
                pci_address=f"0000:{BUSES[local % len(BUSES)]}:00",
                nic=f"mlx5_{local}",
                switch=f"leaf-{local // 4 + 1}",
            )
        )
    return tuple(gpus)
