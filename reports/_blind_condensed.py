"""Runs and clusters of which analyses see days, not rows: what that hides."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.energy_checks import EnergyChecks
from analysis.power_days import PowerDays
from analysis.runs import Runs
from analysis.step_rollups import StepRollups
from reports._blind_spot import BlindSpot
from reports._section import Scope
from reports._words import listed, name, plural

#: Runs or clusters that are named: the rest is a count.
_MOST: Final = 3


def condensed(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return whose steps and samples are condensed by day before they are analysed."""
    runs = _names(scope.of_runs(frames[StepRollups]).select("run_id"))
    clusters = _names(frames[PowerDays].select("cluster"))
    told = []
    if runs:
        told.append(
            f"steps of {listed(runs, _MOST)} are condensed by day: analyses see the"
            " mean of all ranks in a step, its slowest rank, and each rank by the hour;"
            " not what a rank took in a single step outside of spells of slow ones"
        )
    if clusters:
        told.append(
            f"power of {listed(clusters, _MOST)} is condensed by day: analyses see each"
            " device by the hour and all of them together over time; not single samples"
            " of a device"
        )
        told += _of_power(frames, scope)
    if not told:
        return None
    return BlindSpot(
        "Single ranks in single steps, single samples of devices",
        "; ".join(told),
        "a greater by_day_rows, where raw rows are still there and memory lasts",
    )


def _of_power(frames: Frames, scope: Scope) -> list[str]:
    """Return what is told without the samples of clusters that are condensed."""
    told = []
    hours = pl.col("quality").str.split(",").list.contains("by_hours")
    unsure = frames[EnergyChecks].filter(hours, pl.col("verdict") == "not_comparable")
    windows = unsure.select(pl.len()).collect().item()
    if windows:
        told.append(
            f"hours of power are too coarse to hold {plural(windows, 'window')} against"
            " whose energy a program told"
        )
    raw = scope.of_runs(frames[Runs]).join(
        frames[StepRollups].select("run_id").unique(), on="run_id", how="anti"
    )
    runs = _names(
        raw.join(frames[PowerDays], on="cluster", how="semi").select("run_id")
    )
    if runs:
        told.append(
            f"why ranks of {listed(runs, _MOST)} are slow, and at which clocks traced"
            " operations ran, is told without power"
        )
    return told


def _names(column: pl.LazyFrame) -> list[str]:
    found = column.unique().collect(engine="streaming").to_series().drop_nulls().sort()
    return [name(one, 30) for one in found]
