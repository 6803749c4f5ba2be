"""The energy of devices in windows, by the hours that samples were condensed to."""

from typing import Final

import polars as pl

from analysis._energy_bridges import Bridges
from analysis._energy_choice import METHODS
from analysis._energy_integral import integrate_segments
from analysis._energy_measure import DOUBTS, told
from analysis._power_roll_columns import OF_COUNTER, OF_METHOD, OF_POWER, SHORT
from analysis._power_rolled import Lot, placed_hours
from analysis._power_rolled_nights import nights

_KEY: Final = ("device", "window")

#: What of an hour adds up to a window, by the name it has there.
_ADDED: Final = {
    "energy_j": "mj",
    "credit_j": "credit_mj",
    "measured_ns": "measured_ns",
    "gap_ns": "gap_ns",
    "jump_ns": "jump_ns",
    "reset_ns": "reset_ns",
}

#: Columns of hours that energy is told by.
OF_ENERGY: Final = (
    "doubts",
    *(f"counter_{name}" for name in OF_COUNTER),
    *(f"{kind}_{name}" for kind in ("average", "instant") for name in OF_POWER),
)


def integrate_hours(lot: Lot, windows: pl.DataFrame, bridges: Bridges) -> pl.DataFrame:
    """Measure the energy that devices used in windows.

    Args:
        lot: Devices, their days and hours.
        windows: As `integrate` takes them.
        bridges: Which silences of sampled power are bridged.

    Returns:
        What `integrate` does, of the same windows.
    """
    placed = placed_hours(
        lot.hours, windows.select("device", "window", "from_ns", "to_ns")
    ).with_columns(pl.col("doubts").fill_null("").str.split(","))
    every = pl.concat(
        _of_method(method, lot.days, placed, windows, bridges) for method in METHODS
    )
    repeated = lot.days.group_by("device").agg(_twice=pl.col("is_repeated").any())
    common = (
        placed.group_by(_KEY)
        .agg(
            *(_is_told(flag.removeprefix("is_")).alias(flag) for flag in DOUBTS),
            peak_w=pl.max_horizontal("average_peak_w", "instant_peak_w").max(),
        )
        .join(repeated, on="device", how="left")
        .with_columns(is_repeated=pl.col("is_repeated") | pl.col("_twice"))
        .drop("_twice")
    )
    return told(every, common, windows)


def _is_told(doubt: str) -> pl.Expr:
    return pl.col("doubts").list.contains(doubt).any()


def _of_method(
    method: str,
    days: pl.DataFrame,
    placed: pl.DataFrame,
    windows: pl.DataFrame,
    bridges: Bridges,
) -> pl.DataFrame:
    """Measure all windows by one method."""
    short = SHORT[METHODS[method]]
    between = nights(days, method, bridges)
    of_nights = integrate_segments(between, windows).drop("is_bracketed")
    of_hours = _summed(placed, short)
    joined = of_nights.join(
        of_hours, on=_KEY, how="left", nulls_equal=True, suffix="_hours"
    )
    sums = [
        (pl.col(name) + pl.col(f"{name}_hours").fill_null(0)).alias(name)
        for name in _ADDED
    ]
    return (
        joined.with_columns(*sums, edge_w=pl.max_horizontal("edge_w", "edge_w_hours"))
        .drop([f"{name}_hours" for name in (*_ADDED, "edge_w")])
        .join(_bracketed(days, short, windows), on=_KEY, nulls_equal=True)
        .join(_sampling(days, short), on="device", how="left")
        .with_columns(
            pl.col("samples_count", "reads").fill_null(0).cast(pl.Int64),
            method=pl.lit(method),
            order=pl.lit(list(METHODS).index(method)),
        )
    )


def _summed(placed: pl.DataFrame, short: str) -> pl.DataFrame:
    """Add hours up to windows; of a part of an hour its share."""
    sums = []
    for name, column in _ADDED.items():
        if f"{short}_{column}" not in placed.columns:
            kind = pl.Float64() if name.endswith("_j") else pl.Int64()
            sums.append(pl.lit(0, kind).alias(name))
            continue
        value = pl.col(f"{short}_{column}")
        part = value * pl.col("share")
        if name.endswith("_j"):
            sums.append((part.sum() / 1_000).alias(name))
        else:
            whole = pl.when(pl.col("share") == 1).then(value)
            sums.append(whole.otherwise(part.round().cast(pl.Int64)).sum().alias(name))
    edge = pl.col(f"{short}_edge_w").max() if short != "counter" else pl.lit(None)
    marks = [
        _is_told(f"{short}_{mark}").alias(flag) for flag, mark in OF_METHOD.items()
    ]
    return placed.group_by(_KEY).agg(
        *sums,
        *marks,
        edge_w=edge.cast(pl.Float64),
        samples_count=pl.col(f"{short}_samples_count").sum(),
    )


def _bracketed(days: pl.DataFrame, short: str, windows: pl.DataFrame) -> pl.DataFrame:
    """Say whether windows lie inside the time that was sampled."""
    bounds = days.group_by("device").agg(
        first_ns=pl.col(f"{short}_first_ns").min(),
        end_ns=pl.col(f"{short}_last_ns").max(),
    )
    inside = (pl.col("from_ns") >= pl.col("first_ns")) & (
        pl.col("to_ns") <= pl.col("end_ns")
    )
    joined = windows.join(bounds, on="device", how="left")
    return joined.group_by(_KEY).agg(is_bracketed=inside.fill_null(value=False).all())


def _sampling(days: pl.DataFrame, short: str) -> pl.DataFrame:
    return days.group_by("device").agg(
        interval_ns=pl.col(f"{short}_interval_ns").median(),
        reads=pl.col(f"{short}_reads_count").sum(),
        refresh_ns=pl.col(f"{short}_refresh_ns").median(),
    )
