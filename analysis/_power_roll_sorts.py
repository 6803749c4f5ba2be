"""Which devices may go in one array: alike in all but their values."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from analysis._power_roll_lots import Lot

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

#: Columns that arrays are made of.
COLUMNS: Final = (
    *("power_average_w", "power_instant_w", "power_limit_w", "energy_mj"),
    *("temperature_c", "sm_clock_mhz", "throttle_reasons", "throttle_power_ns"),
    *("throttle_thermal_ns", "last_xid", "utilization_ratio"),
)

#: Devices of one array: with all that is derived it stays in a processor's cache.
MOST_DEVICES: Final = 16

#: Samples that are enough for an array. [1]
FEWEST_SAMPLES: Final = 3


class Sorts:
    """Devices of a lot by what arrays need.

    Attributes:
        starts: First row of each device, and the end of the last.
        has: By column, whether each device has a value in every row.
    """

    def __init__(self, lot: Lot) -> None:
        """Look at samples that are sorted by device and time."""
        self._samples = lot.samples
        self.starts = np.append(0, np.cumsum(lot.devices["samples"].to_numpy()))
        self._sizes = np.diff(self.starts)
        self._times = lot.samples["time_ns"].to_numpy()
        counts = {name: self._known(name) for name in COLUMNS}
        self.has = {name: known == self._sizes for name, known in counts.items()}
        whole = [self.has[name] | (known == 0) for name, known in counts.items()]
        self._is_plain = np.logical_and.reduce(
            [*whole, self._rises(), self._is_alone(), self._sizes >= FEWEST_SAMPLES]
        )
        patterns = np.stack([*self.has.values()]).T
        _, pattern = np.unique(patterns, axis=0, return_inverse=True)
        self._sort = list(
            zip(
                self._sizes.tolist(),
                pattern.ravel().tolist(),
                lot.devices["level"].to_list(),
                _signatures(lot),
                strict=True,
            )
        )

    def groups(self) -> Iterator["Array"]:
        """Yield rows of devices that go in one array, neighbours all of them."""
        group: list[int] = []
        for row in np.flatnonzero(self._is_plain).tolist():
            if group and not self._fits(group, row):
                yield np.array(group)
                group = []
            group.append(row)
        if group:
            yield np.array(group)

    def _fits(self, group: list[int], row: int) -> bool:
        first = group[0]
        if row != group[-1] + 1 or len(group) == MOST_DEVICES:
            return False
        if self._sort[row] != self._sort[first]:
            return False
        return np.array_equal(self._of(row), self._of(first))

    def _of(self, row: int) -> "Array":
        return self._times[self.starts[row] : self.starts[row + 1]]

    def _known(self, name: str) -> "Array":
        """Return how many values each device has."""
        column = self._samples[name]
        if not column.null_count():
            return self._sizes
        if column.null_count() == len(column):
            return np.zeros_like(self._sizes)
        return self._count(column.is_not_null())

    def _count(self, holds: pl.Series) -> "Array":
        told = holds.fill_null(value=False).to_numpy().astype(np.int64)
        return np.asarray(np.add.reduceat(told, self.starts[:-1]))

    def _rises(self) -> "Array":
        back = np.diff(self._times, prepend=self._times[0] - 1) <= 0
        back[self.starts[:-1]] = False
        return np.asarray(np.add.reduceat(back.astype(np.int64), self.starts[:-1]) == 0)

    def _is_alone(self) -> "Array":
        """Return whether each row has all that was sampled, of one file each time."""
        alone = np.ones(self._sizes.size, dtype=bool)
        rows = self._samples
        if rows["series"].null_count() < rows.height:
            alone &= self._count(rows["series"].is_not_null()) == 0
        if rows["series_count"].null_count() < rows.height:
            alone &= self._count(rows["series_count"] > 1) == 0
        loose = rows["time_quality"] != "exact"
        if loose.any():
            alone &= self._count(loose) == 0
        return alone & self._one_file()

    def _one_file(self) -> "Array":
        """Return whether no file of a device comes again after another."""
        file = self._samples["file_id"]
        changes = (file != file.shift(1)).fill_null(value=True).to_numpy().copy()
        changes[self.starts[:-1]] = True
        at = np.flatnonzero(changes)
        if at.size == self._sizes.size:
            return np.ones(self._sizes.size, dtype=bool)
        device = np.searchsorted(self.starts, at, "right") - 1
        told = pl.DataFrame({"device": device, "file": file.gather(at)})
        again = told.filter(told.is_duplicated())["device"]
        return ~np.isin(np.arange(self._sizes.size), again.to_numpy())


def _signatures(lot: Lot) -> list[int]:
    """Return a number for each device, the same where two are cut alike."""
    parts = []
    for rows in (lot.pieces, lot.spans, lot.held):
        names = [name for name in rows.columns if name != "device"]
        hashed = rows.select("device", _hash=pl.struct(names).hash())
        parts.append(hashed.group_by("device").agg(pl.col("_hash").sum()))
    every = lot.devices.select("device")
    for number, part in enumerate(parts):
        every = every.join(
            part.rename({"_hash": f"_{number}"}), on="device", how="left"
        )
    return every.sort("device").drop("device").hash_rows().to_list()
