"""Which silences of a sensor are bridged, as settings tell."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._analysis import Thresholds
from ingest.times import SECOND_NS

#: Longest silence that is bridged at any rate of sampling: samples of a second that
#: come late or of which two are lost (InferenceX allows the same at 1 Hz).
GAP_FLOOR_S: Final = 3.0

#: Longest silence that is bridged, in sampling intervals of the device: a scrape every
#: 30 s is no gap, four of them lost in a row are.
GAP_INTERVALS: Final = 5.0

#: Longest silence that is bridged at all: after five minutes without a sample
#: Prometheus, too, holds a series for ended. The spacing of two or three samples tells
#: no sampling interval: they may be of different months. A counter of energy saw what
#: lies between its reads, and is read across.
GAP_CEILING_S: Final = 300.0

#: Thresholds of every measure of energy.
THRESHOLDS: Final = {
    "energy_gap_floor_s": GAP_FLOOR_S,
    "energy_gap_intervals": GAP_INTERVALS,
    "energy_gap_ceiling_s": GAP_CEILING_S,
}


@dataclass(frozen=True, slots=True)
class Bridges:
    """Which silences between two samples of power are bridged.

    Attributes:
        floor_ns: One up to it is never a gap, if not above the ceiling. [ns]
        intervals: Nor is one of so many sampling intervals of the device. [1]
        ceiling_ns: A longer one always is. [ns]
    """

    floor_ns: int
    intervals: float
    ceiling_ns: int

    def allowed(self, spacing: pl.Expr) -> pl.Expr:
        """Return the longest silence of a device by what is between its samples. [ns]

        Args:
            spacing: Time until the next sample. Where several files tell a device, of
                the same file: two that sample each half minute, three seconds apart,
                tell no interval of three seconds.
        """
        usual = (self.intervals * spacing.median().over("device")).clip(self.floor_ns)
        return usual.clip(upper_bound=self.ceiling_ns)


def bridges_of(thresholds: Thresholds) -> Bridges:
    """Return which silences are bridged, as settings tell.

    Args:
        thresholds: Those of this analysis.
    """
    return Bridges(
        floor_ns=round(thresholds["energy_gap_floor_s"] * SECOND_NS),
        intervals=thresholds["energy_gap_intervals"],
        ceiling_ns=round(thresholds["energy_gap_ceiling_s"] * SECOND_NS),
    )
