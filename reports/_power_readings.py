"""Readings of power over time, of samples or of what was kept of their days."""

from dataclasses import dataclass, replace
from typing import Final, Self

import polars as pl

from reports import _sql
from reports._numbers import duration
from reports._section import About

#: A period of readings: their first and last times, and how many GPUs they are of.
Extent = tuple[int, int, int]

_SAMPLED_SQL: Final = """\
SELECT time_ns // $width * $width AS from_ns,
       min(power_w) AS low_w, avg(power_w) AS mean_w, max(power_w) AS high_w
FROM (
  SELECT time_ns, coalesce(power_instant_w, power_average_w) AS power_w
  FROM power_samples
  WHERE level = 'gpu_board' AND time_ns BETWEEN $first AND $last
)
WHERE power_w IS NOT NULL
GROUP BY from_ns
ORDER BY from_ns"""

_CONDENSED_SQL: Final = """\
SELECT time_ns // $width * $width AS from_ns,
       min(low_w) AS low_w, sum(sampled_w) / sum(readings_count) AS mean_w,
       max(high_w) AS high_w
FROM fleet_power
WHERE level = 'gpu_board' AND semantics = '$semantics' AND readings_count > 0
  AND time_ns BETWEEN $first AND $last
GROUP BY from_ns
ORDER BY from_ns"""

_SAMPLED: Final = About(
    definition="Samples of a point in time together: their mean, lowest and highest."
    " Instant power where a source has it, else its one-second mean.",
    source="power samples as sources gave them, sentinels left out",
    blind_spots="Swings faster than the sensor refreshes are not in it.",
)

#: What readings are, in words; the best kind first.
SEMANTICS: Final = {"instant": "Instant power", "average": "One-second means"}


@dataclass(frozen=True, slots=True)
class Sampled:
    """Readings of boards by their samples: `time_ns`, `host`, `gpu_uuid`, `power_w`."""

    rows: pl.LazyFrame

    @property
    def about(self) -> About:
        """What is drawn."""
        return _SAMPLED

    def among(self, first_ns: int, last_ns: int) -> Self:
        """Return the readings of a period, both ends included."""
        inside = pl.col("time_ns").is_between(first_ns, last_ns)
        return replace(self, rows=self.rows.filter(inside))

    def has_any(self) -> bool:
        """Tell whether there is any reading."""
        return not self.rows.head(1).collect().is_empty()

    def extent(self) -> Extent:
        """Return when they begin and end, and of how many GPUs they are."""
        extent = self.rows.select(
            first=pl.col("time_ns").min(),
            last=pl.col("time_ns").max(),
            gpus=pl.struct("host", "gpu_uuid").n_unique(),
        )
        first, last, gpus = extent.collect(engine="streaming").row(0)
        return first or 0, last or 0, gpus

    def width(self, least_ns: int) -> int:
        """Return the width of bins that are at least so wide. [ns]"""
        return least_ns

    def numbers(self, width: int) -> pl.DataFrame:
        """Return the lowest, mean and highest reading of each bin that has any."""
        power = pl.col("power_w")
        return _by_bin(
            self.rows,
            width,
            low_w=power.min(),
            mean_w=power.mean(),
            high_w=power.max(),
        )

    def sql(self, **period: str) -> str:
        """Return what gives the numbers: `width`, `first` and `last` are known."""
        return _sql.filled(_SAMPLED_SQL, **period)


@dataclass(frozen=True, slots=True)
class Condensed:
    """Readings of boards by what was kept of their days.

    Attributes:
        points: Rows of FleetPower of one kind of readings.
        days: Rows of PowerDays.
        semantics: What readings are.
        grid_ns: Time that a point stands for. [ns]
    """

    points: pl.LazyFrame
    days: pl.LazyFrame
    semantics: str
    grid_ns: int

    @property
    def about(self) -> About:
        """What is drawn."""
        kind, each = SEMANTICS[self.semantics], duration(self.grid_ns)
        return About(
            definition=f"{kind} of all GPUs together: mean, lowest and highest reading"
            f" taken. Samples are condensed by day: each {each} of all GPUs is one"
            " row.",
            source="fleet_power, of power samples as sources gave them, sentinels left"
            " out",
            blind_spots="Swings faster than the sensor refreshes are not in it; nor"
            " which GPU drew what.",
        )

    def among(self, first_ns: int, last_ns: int) -> Self:
        """Return the readings of a period, both ends included."""
        times, first, last = (pl.col(f"{n}_ns") for n in ("time", "first", "last"))
        return replace(
            self,
            points=self.points.filter(times.is_between(first_ns, last_ns)),
            days=self.days.filter((first <= last_ns) & (last >= first_ns)),
        )

    def has_any(self) -> bool:
        """Tell whether there is any reading."""
        return not self.points.head(1).collect().is_empty()

    def extent(self) -> Extent:
        """Return when they begin and end, and of how many GPUs they are."""
        time = pl.col("time_ns")
        first, last = self.points.select(a=time.min(), b=time.max()).collect().row(0)
        if first is None:
            return 0, 0, 0
        gpus = pl.struct("host", "gpu_uuid").n_unique()
        return first, last, self.days.select(gpus).collect().item()

    def width(self, least_ns: int) -> int:
        """Return the width of bins that are at least so wide, in whole points. [ns]"""
        return -(-least_ns // self.grid_ns) * self.grid_ns

    def numbers(self, width: int) -> pl.DataFrame:
        """Return the lowest, mean and highest reading of each bin that has any."""
        return _by_bin(
            self.points,
            width,
            low_w=pl.col("low_w").min(),
            mean_w=pl.col("sampled_w").sum() / pl.col("readings_count").sum(),
            high_w=pl.col("high_w").max(),
        )

    def sql(self, **period: str) -> str:
        """Return what gives the numbers: `width`, `first` and `last` are known."""
        return _sql.filled(_CONDENSED_SQL, semantics=self.semantics, **period)


Readings = Sampled | Condensed


def _by_bin(rows: pl.LazyFrame, width: int, **told: pl.Expr) -> pl.DataFrame:
    bins = rows.group_by(from_ns=pl.col("time_ns") // width * width).agg(**told)
    return bins.sort("from_ns").collect(engine="streaming")
