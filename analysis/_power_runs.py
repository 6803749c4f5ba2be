"""The runs whose GPUs were sampled, each with its power on a grid of time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._energy_bridges import Bridges
from analysis._energy_holdings import Holdings
from analysis._power_changes import sampled_changes, together
from analysis._power_grid import cluster_power
from analysis._power_hold import Hold
from analysis._power_ramps import Sensor
from analysis._power_rolled_changes import condensed_changes
from analysis._power_steps import stepped
from analysis._step_rollup_log import spanned_steps
from analysis.attempts import Attempts
from ingest.tables import RunCards, StepTimings

#: Levels that are power of one GPU.
_LEVELS: Final = ("gpu_board", "module")


@dataclass(frozen=True, slots=True)
class Run:
    """One run's power, and what it is looked at with.

    Attributes:
        run_id: Run.
        sensor: What its sensors can show.
        hold: How old the readings are, and how far apart.
        band_hz: Band that is watched. [Hz]
        power: Rows of `cluster_power`.
        steps: Rows of `stepped`.
        peaks_w: Peaks of its GPUs, added up. [W]
        ceiling_w: Most that they can draw together. [W]
        devices_count: GPUs that were sampled.
        expected_count: GPUs that it held.
    """

    run_id: str
    sensor: Sensor
    hold: Hold
    band_hz: tuple[float, float]
    power: pl.DataFrame
    steps: pl.DataFrame
    peaks_w: float
    ceiling_w: float
    devices_count: int
    expected_count: int


def runs_sampled(
    frames: Frames, bridges: Bridges, band_hz: tuple[float, float]
) -> Iterator[Run]:
    """Yield every run whose GPUs were sampled while it held them.

    Args:
        frames: The tables of the lake.
        bridges: Which silences of a sensor are bridged.
        band_hz: Band that is watched where no run card tells. [Hz]
    """
    holdings = Holdings.of(frames, frames[Attempts].collect())
    parts = [
        sampled_changes(frames, holdings, _LEVELS, bridges),
        condensed_changes(frames, holdings, _LEVELS, bridges),
    ]
    seen = [part for part in parts if part is not None]
    if not seen:
        return
    told, found = together(seen)
    steps = stepped(frames[StepTimings], frames[Attempts], spanned_steps(frames))
    cards = frames[RunCards].select("run_id", "power_band_low_hz", "power_band_high_hz")
    ranks = holdings.allocations.group_by("run_id", "attempt").agg(
        n=pl.col("slot").n_unique()
    )
    expected = ranks.group_by("run_id").agg(expected_count=pl.col("n").max())
    rows = (
        told.join(found.peaks, on="run_id")
        .join(cards.collect(), on="run_id", how="left")
        .join(expected.collect(engine="streaming"), on="run_id", how="left")
        .sort("run_id")
    )
    for row in rows.iter_rows(named=True):
        mine = pl.col("run_id") == row["run_id"]
        power = cluster_power(
            found.events.filter(mine), row["origin_ns"], row["grid_ns"]
        )
        yield Run(
            run_id=row["run_id"],
            sensor=Sensor(row["semantics"], row["refresh_ns"], row["grid_ns"]),
            hold=Hold(
                found.ages.filter(mine),
                row["aged_ns"],
                row["grid_ns"],
                row["interval_ns"],
                row["refresh_ns"],
            ),
            band_hz=(
                row["power_band_low_hz"] or band_hz[0],
                row["power_band_high_hz"] or band_hz[1],
            ),
            power=power,
            steps=steps.filter(mine),
            peaks_w=row["peaks_w"],
            ceiling_w=row["ceiling_w"],
            devices_count=row["devices_count"],
            expected_count=row["expected_count"],
        )
