"""Identities of a cluster: hosts, boards, cards, racks, and the ranks on them."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

import numpy as np
import numpy.typing as npt
import polars as pl

from ingest.synthetic.cluster._draws import draws
from ingest.synthetic.cluster.scenario import Scenario

#: PCI buses of the GPUs in a node, as in an eight-GPU H100 server; more count on.
_BUSES: Final = (0x19, 0x3B, 0x4C, 0x5D, 0x9B, 0xBB, 0xCB, 0xDB)

#: Bytes of a UUID.
_UUID_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Fleet:
    """The GPUs of a cluster.

    Attributes:
        gpus: A row for each GPU, ranks first, then those of spares: rank (null for a
            spare), host, local_rank, gpu_uuid, serial, pci_address, nic, rail, switch,
            rack and pod.
        hosts: Names of the nodes, those of the run first.
    """

    gpus: pl.DataFrame
    hosts: tuple[str, ...]

    @property
    def ranks(self) -> pl.DataFrame:
        """The rows of ranks, in their order."""
        return self.gpus.filter(pl.col("rank").is_not_null())


def fleet_of(scenario: Scenario) -> Fleet:
    """Name everything of a scenario's fleet."""
    fleet = scenario.fleet
    per_node, nodes = fleet.gpus_per_node, fleet.hosts + fleet.spares
    hosts = tuple(host_name(node) for node in range(nodes))
    node, local = np.divmod(np.arange(nodes * per_node), per_node)
    rack = node * fleet.racks // nodes
    pod = rack * fleet.pods // fleet.racks
    rank = pl.Series(range(nodes * per_node), dtype=pl.Int32)
    uuids, serials = _identities(scenario, len(node))
    gpus = pl.DataFrame(
        {
            "rank": rank.set(rank >= scenario.ranks, None),
            "host": pl.Series(hosts).gather(node),
            "local_rank": pl.Series(local, dtype=pl.Int32),
            "gpu_uuid": uuids,
            "serial": serials,
            "pci_address": [pci_address(one) for one in local.tolist()],
            "nic": [f"mlx5_{one}" for one in local.tolist()],
            "rail": [f"rail-{one}" for one in local.tolist()],
            "switch": _named("leaf", rack, local),
            "rack": [f"rack-{one + 1:03}" for one in rack.tolist()],
            "pod": [f"pod-{one + 1:02}" for one in pod.tolist()],
        }
    )
    return Fleet(gpus, hosts)


def host_name(node: int) -> str:
    """Return the name of a node, counted from 0."""
    return f"node-{node + 1:04}"


def pci_address(local: int) -> str:
    """Return the PCI address of a GPU of a node."""
    more, at = divmod(local, len(_BUSES))
    return f"{more:04x}:{_BUSES[at]:02x}:00"


def _identities(scenario: Scenario, count: int) -> tuple[list[str], list[str]]:
    draw = draws(scenario.seed, "fleet")
    data = draw.bytes(_UUID_BYTES * count)
    pieces = [data[at : at + _UUID_BYTES] for at in range(0, len(data), _UUID_BYTES)]
    uuids = [f"GPU-{UUID(bytes=piece, version=4)}" for piece in pieces]
    # counted on, so that no two boards have the same
    first = int(draw.integers(10**8, 9 * 10**9))
    serials = [f"{scenario.fleet.serials}{first + one:010}" for one in range(count)]
    return uuids, serials


def _named(
    what: str, rack: npt.NDArray[np.int64], local: npt.NDArray[np.int64]
) -> list[str]:
    """Return the first switch of each card: of a rack and a rail."""
    pairs = zip(rack.tolist(), local.tolist(), strict=True)
    return [f"{what}-{one + 1:03}-{rail}" for one, rail in pairs]
