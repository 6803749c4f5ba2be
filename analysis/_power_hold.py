"""What holding each reading until the next takes from swings of each frequency."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from ingest.times import SECOND_NS

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

#: Parts of a step of the grid that the age of a reading is told to. [1]
PARTS: Final = 32

#: Frequencies at which the gain is worked out; it is smooth between them. [1]
WORKED_OUT: Final = 257


def ages(placed: pl.DataFrame, of: tuple[str, ...] = ("run_id",)) -> pl.DataFrame:
    """Count readings by their age at the first point of the grid that they stand for.

    Args:
        placed: Rows of `in_force`, with the number of `devices` that each is of.
        of: What they are told apart by.

    Returns:
        `run_id`, `age_ns`, `points` (of the grid, one after the other, that a reading
        stands for) and `readings`, how many do.
    """
    grid, origin = pl.col("grid_ns"), pl.col("origin_ns")
    first, end = (
        -((origin - pl.col(name)) // grid) for name in ("time_ns", "until_ns")
    )
    age = origin + first * grid - pl.col("taken_ns")
    part = age * PARTS // grid
    told = placed.select(
        *of, "devices", age_ns=(2 * part + 1) * grid // (2 * PARTS), points=end - first
    )
    return (
        told.filter(pl.col("points") > 0)
        .group_by(*of, "age_ns", "points")
        .agg(readings=pl.col("devices").sum())
    )


@dataclass(frozen=True, slots=True)
class Hold:
    """How old the readings are that a run's power is made of.

    Attributes:
        ages: Rows of `ages` of one run.
        aged_ns: Time between two points that ages are told at. [ns]
        grid_ns: Time between two points of the run's power. [ns]
        interval_ns: Time between two samples. [ns]
        refresh_ns: Time between two changes of the reading. [ns]
    """

    ages: pl.DataFrame
    aged_ns: int
    grid_ns: int
    interval_ns: int
    refresh_ns: int

    def gain(self, hz: "Numbers") -> "Numbers":
        """Return what is left of the amplitude of a swing that all devices share. [1]

        A point of the grid shows the swing as it was one age ago. Over all points the
        mean of `e^(-2 pi i f age)` is left: `sinc(f r)` where ages are spread evenly
        from 0 to `r`, and all of it where they are all the same.

        Args:
            hz: Frequencies. [Hz]
        """
        if not hz.size or self.ages.is_empty():
            return np.ones_like(hz)
        told: Numbers = np.linspace(0, float(hz.max()), WORKED_OUT)
        return np.asarray(
            np.interp(hz, told, self._of_ages(told) * self._of_repeats(told))
        )

    def _of_ages(self, hz: "Numbers") -> "Numbers":
        columns = self.ages.sort("age_ns", "points").select(
            pl.col("age_ns", "points", "readings").cast(pl.Float64)
        )
        age_s = columns["age_ns"].to_numpy() / SECOND_NS
        points, readings = (columns[name].to_numpy() for name in ("points", "readings"))
        half = np.pi * hz[:, None] * self.aged_ns / SECOND_NS
        turned = np.exp(-1j * (2 * np.pi * hz[:, None] * age_s + (points - 1) * half))
        summed = (turned * points * _mean(half, points)) @ readings
        return np.asarray(np.abs(summed) / (points @ readings))

    def _of_repeats(self, hz: "Numbers") -> "Numbers":
        """Return the gain of a sensor that repeats its reading to several samples."""
        apart_ns = max(self.interval_ns, self.grid_ns)
        repeats = max(round(self.refresh_ns / apart_ns), 1)
        half = np.pi * hz * apart_ns / SECOND_NS
        return np.abs(_mean(half, np.float64(repeats)))


def _mean(half: "Numbers", count: "Numbers | np.float64") -> "Numbers":
    """Return the mean of `count` turns of `2 half` each, about their middle. [1]"""
    is_still = np.abs(np.sin(half)) < np.finfo(np.float64).eps
    over = np.where(is_still, 1.0, np.sin(half))
    return np.asarray(np.where(is_still, 1.0, np.sin(count * half) / (count * over)))
