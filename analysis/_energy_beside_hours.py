"""The energy of windows that may lie in each other, by the hours of their device."""

from typing import Final

import polars as pl

from analysis._energy_beside import FOUND, NEAR, as_devices, near_windows
from analysis._energy_bridges import Bridges
from analysis._energy_choice import METHODS
from analysis._power_roll_columns import SHORT
from analysis._power_rolled import Lot, hours_of, one_spelling, placed_hours
from analysis._power_rolled_energy import integrate_hours
from ingest.times import HOUR_NS, SECOND_NS

#: How far around a window days are looked at: what lies between two of them follows
#: from both. [ns]
_MARGIN_NS: Final = 24 * HOUR_NS

_KEY: Final = ("device", "window")


def condensed_windows(
    days: pl.LazyFrame, hours: pl.LazyFrame, windows: pl.DataFrame, bridges: Bridges
) -> pl.DataFrame:
    """Measure windows by the hours that the samples of their device were condensed to.

    A window that begins or ends within an hour takes its share of it, by time. What it
    can have taken of it at the least and at the most follows from the greatest power in
    that hour.

    Args:
        days: Rows of PowerDays.
        hours: Rows of PowerHours.
        windows: Rows of EnergyWindows that are dated, with a number `w`.
        bridges: Which silences are bridged.

    Returns:
        What `sampled_windows` does.
    """
    time = pl.col("_from") - _MARGIN_NS, pl.col("_to") + _MARGIN_NS
    is_near = (pl.col("last_ns") >= time[0]) & (pl.col("first_ns") <= time[1])
    mine = near_windows(days, windows).filter(is_near).drop(NEAR).collect()
    if mine.is_empty():
        return pl.DataFrame(schema=FOUND)
    told = one_spelling(mine.sort("device", "first_ns", "cluster", "host", "gpu_uuid"))
    known = as_devices(windows).join(told, on="device", how="semi")
    lot = Lot(known.select("device"), told, hours_of(hours, told))
    measured = integrate_hours(lot, known, bridges)
    within = measured.join(_slack(lot, measured), on=_KEY, how="left").with_columns(
        pl.col("below_j", "above_j").fill_null(0.0)
    )
    return within.select(
        w=pl.col("device").cast(pl.UInt32),
        energy_j="energy_j",
        least_j=pl.col("energy_j") - pl.col("below_j"),
        most_j=pl.col("energy_j") + pl.col("above_j"),
        method="method",
        coverage_ratio="coverage_ratio",
        quality="quality",
        refresh_ns=pl.col("refresh_ns").cast(pl.Float64),
    )


def _slack(lot: Lot, measured: pl.DataFrame) -> pl.DataFrame:
    """Return how far the energy of windows may be off, for hours that they part.

    In the part of an hour a device draws nothing at the least, and its greatest power
    all the time at the most; in the rest of it, too.
    """
    windows = measured.select(*_KEY, "method", "from_ns", "to_ns")
    parted = placed_hours(lot.hours, windows).filter(pl.col("share") < 1)
    return pl.concat(
        _slack_of(parted.filter(pl.col("method") == method), SHORT[column])
        for method, column in METHODS.items()
    )


def _slack_of(parted: pl.DataFrame, short: str) -> pl.DataFrame:
    joules = pl.col(f"{short}_mj") / 1_000
    length = (pl.col("to_ns") - pl.col("from_ns")) / SECOND_NS
    inside, outside = (part * length for part in (pl.col("share"), 1 - pl.col("share")))
    names = ("average_peak_w", "average_edge_w", "instant_peak_w", "instant_edge_w")
    limit_w = pl.col("limit_w")
    if short == "counter":
        # it sees what is drawn between samples, too: below the limit, if that is known
        limit_w = limit_w.fill_null(float("inf"))
    most_w = pl.max_horizontal(*names, limit_w).fill_null(float("inf"))
    told = joules * pl.col("share")
    return parted.group_by(_KEY).agg(
        below_j=(told - (joules - most_w * outside).clip(0)).clip(0).sum(),
        above_j=(pl.min_horizontal(joules, most_w * inside) - told).clip(0).sum(),
    )
