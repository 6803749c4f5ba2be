"""Who held the devices that were sampled, looked up for some of them at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self

import polars as pl

from analysis._analysis import Frames
from analysis._energy_fleet import Fleet
from analysis._energy_held import held_gpus, held_nodes
from analysis._energy_windows import held_windows
from analysis._host_names import HOST
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.gpus import Gpus

#: Holds that are looked at at once: a long history has millions, of few GPUs. [1]
HOLDS: Final = 400_000

_SEAT: Final = ("run_id", "attempt", "rank", "host", "gpu_uuid", "cluster")


@dataclass(frozen=True, slots=True)
class Holdings:
    """What tells who held which device; read for some devices at a time.

    Attributes:
        allocations: Rows of Allocations, of the columns that power is held against.
        seats: Rows of Gpus, of the columns that name the GPUs of ranks.
        gpus: `cluster`, `host` and `gpu_uuid` of Gpus, each once.
        hosts: `cluster` and `host` of Allocations, each once.
        holds_count: Rows of Allocations. [1]
        attempts: Rows of Attempts.
    """

    allocations: pl.LazyFrame
    seats: pl.LazyFrame
    gpus: pl.DataFrame
    hosts: pl.DataFrame
    holds_count: int
    attempts: pl.DataFrame

    @classmethod
    def of(cls, frames: Frames, attempts: pl.DataFrame | None = None) -> Self:
        """Take what tells of holds from the tables.

        Args:
            frames: The tables.
            attempts: Rows of Attempts, where attempts are to be told apart.
        """
        held, gpus = frames[Allocations], frames[Gpus]
        counted = held.group_by(HOST).agg(holds=pl.len()).collect(engine="streaming")
        named = gpus.select(*HOST, "gpu_uuid").unique().collect(engine="streaming")
        return cls(
            held.select(*_SEAT, "slot", "role", "from_ns", "to_ns"),
            gpus.select(*_SEAT, "local_rank", "pci_address"),
            named.sort(*HOST, "gpu_uuid"),
            counted.select(HOST).sort(HOST),
            int(counted["holds"].sum()),
            Attempts.create_empty() if attempts is None else attempts,
        )

    def fleet(self, devices: pl.DataFrame) -> Fleet:
        """Return what must be known of all devices.

        Args:
            devices: Rows of `devices_of`: all that are looked at.
        """
        return Fleet.of(self.hosts, self.gpus, devices)

    def lots(self, devices: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """Yield devices in lots that were held so often that it fits into memory.

        Args:
            devices: Rows of `devices_of`.
        """
        most = max(devices.height * HOLDS // max(self.holds_count, 1), 1)
        yield from devices.iter_slices(most)

    def windows(self, fleet: Fleet, some: pl.DataFrame) -> pl.DataFrame:
        """Return what `held_windows` does, of some devices."""
        near = fleet.near(some)
        return held_windows(*self._rows(near), some, fleet)

    def of_gpus(self, fleet: Fleet, some: pl.DataFrame) -> pl.DataFrame:
        """Return what `held_gpus` does, of some devices."""
        near = fleet.near(some)
        return held_gpus(*self._rows(near), self.attempts, some, fleet)

    def of_nodes(self, fleet: Fleet, some: pl.DataFrame) -> pl.DataFrame:
        """Return what `held_nodes` does, of some nodes."""
        held = self.allocations.filter(fleet.near_nodes(some)).collect()
        return held_nodes(held, self.gpus, some, fleet)

    def _rows(self, near: pl.Expr) -> tuple[pl.DataFrame, pl.DataFrame]:
        held, seats = pl.collect_all(
            [self.allocations.filter(near), self.seats.filter(near)]
        )
        return held, seats
