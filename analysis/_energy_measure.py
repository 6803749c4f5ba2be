"""The energy of devices in windows, by the best source there is, with its doubts."""

from typing import Final

import polars as pl

from analysis._energy_bridges import Bridges
from analysis._energy_choice import METHODS, choose
from analysis._energy_integral import integrate_segments
from analysis._energy_quality import reasons
from analysis._energy_refresh import refresh
from analysis._energy_samples import mark_doubts, one_per_time
from analysis._energy_segments import counter_segments, power_segments

_KEY: Final = ("device", "window")

#: What is true of a window where it is of one of its samples.
DOUBTS: Final = (
    "is_module",
    "is_assumed_zone",
    "is_file_time",
    "is_resampled",
    "is_repeated",
    "is_disagreeing",
)


def integrate(
    samples: pl.DataFrame, windows: pl.DataFrame, bridges: Bridges
) -> pl.DataFrame:
    """Measure the energy that devices used in windows.

    Args:
        samples: Rows of PowerSamples with `device`, a number for each.
        windows: `device`, `window`, `from_ns`, `to_ns`, `is_shared` and `is_assumed`;
            a window may have several pieces, and no two of a device share time.
        bridges: Which silences of sampled power are bridged.

    Returns:
        A row for each device and window with `from_ns`, `to_ns` and the columns of
        Energy from `energy_j` on.
    """
    marked = mark_doubts(one_per_time(samples))
    placed = place_samples(marked, windows)
    segments = segments_of(marked, bridges)
    every = pl.concat(
        of_method(name, segments[name], (marked, placed), windows) for name in METHODS
    )
    common = placed.group_by(_KEY).agg(
        pl.col(DOUBTS).any(),
        peak_w=pl.max_horizontal("_average", "_instant").max(),
    )
    return told(every, common, windows)


def segments_of(marked: pl.DataFrame, bridges: Bridges) -> dict[str, pl.DataFrame]:
    """Return what each method says of the time between samples.

    Args:
        marked: Rows of `mark_doubts`.
        bridges: Which silences of sampled power are bridged.
    """
    return {
        name: counter_segments(marked)
        if name == "counter"
        else power_segments(marked, column, bridges)
        for name, column in METHODS.items()
    }


def told(
    every: pl.DataFrame, common: pl.DataFrame, windows: pl.DataFrame
) -> pl.DataFrame:
    """Return the energy of windows by the best method that there is.

    Args:
        every: A row for each device, window and method, as `of_method` gives them.
        common: For each device and window the doubts of its samples, and `peak_w`.
        windows: Windows, as `integrate` takes them.
    """
    return (
        choose(every)
        .join(_bounds(windows), on=_KEY, nulls_equal=True)
        .join(common, on=_KEY, how="left", nulls_equal=True)
        .with_columns(_measures())
        .with_columns(quality=reasons())
    )


def _bounds(windows: pl.DataFrame) -> pl.DataFrame:
    """Return where the pieces of each window begin and end, and their length."""
    return windows.group_by(_KEY).agg(
        pl.col("from_ns").min(),
        pl.col("to_ns").max(),
        pl.col("is_shared", "is_assumed").any(),
        length_ns=(pl.col("to_ns") - pl.col("from_ns")).sum(),
    )


def place_samples(samples: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Give samples the window that they fall into; at an edge the later one.

    Args:
        samples: Rows of `mark_doubts`.
        windows: `device`, `window`, `from_ns` and `to_ns`.
    """
    believed = [
        pl.when(~pl.col(f"power_{name}_w_above"))
        .then(f"power_{name}_w")
        .alias(f"_{name}")
        for name in ("average", "instant")
    ]
    joined = (
        samples.with_columns(believed)
        .sort("time_ns")
        .join_asof(
            windows.select(*_KEY, "from_ns", "to_ns").sort("from_ns"),
            left_on="time_ns",
            right_on="from_ns",
            by="device",
            strategy="backward",
            check_sortedness=False,
        )
    )
    return joined.filter(pl.col("time_ns") <= pl.col("to_ns"))


def of_method(
    method: str,
    segments: pl.DataFrame,
    samples_and_placed: tuple[pl.DataFrame, pl.DataFrame],
    windows: pl.DataFrame,
) -> pl.DataFrame:
    """Measure all windows by one method.

    Args:
        method: Name of the method.
        segments: What it says of the time between samples.
        samples_and_placed: Rows of `mark_doubts` and of `place_samples`.
        windows: Windows, as `integrate` takes them.
    """
    column = METHODS[method]
    samples, placed = samples_and_placed
    is_counter = method == "counter"
    no = pl.lit(value=False)
    doubts = placed.group_by(_KEY).agg(
        samples_count=pl.col(column).count().cast(pl.Int64),
        is_blank=pl.col(f"{column}_blank").any(),
        is_stale=pl.col(f"{column}_stale").any(),
        is_above=no if is_counter else pl.col(f"{column}_above").any(),
    )
    sampling = segments.group_by("device").agg(
        interval_ns=pl.col("spacing_ns").median(), reads=pl.len()
    )
    refreshed = refresh(samples, column)
    return (
        integrate_segments(segments, windows)
        .join(doubts, on=_KEY, how="left", nulls_equal=True)
        .join(sampling, on="device", how="left")
        .join(refreshed, on="device", how="left")
        .with_columns(
            pl.col("samples_count", "reads").fill_null(0).cast(pl.Int64),
            method=pl.lit(method),
            order=pl.lit(list(METHODS).index(method)),
        )
    )


def _measures() -> list[pl.Expr]:
    is_fit = pl.col("is_fit")
    coverage = pl.col("measured_ns") / pl.col("length_ns")
    return [
        pl.when(is_fit).then("method").otherwise(pl.lit("none")).alias("method"),
        pl.when(is_fit).then(pl.col("energy_j") + pl.col("credit_j")).alias("energy_j"),
        pl.when(pl.col("length_ns") > 0)
        .then(coverage)
        .otherwise(0.0)
        .alias("coverage_ratio"),
        pl.when(is_fit).then("mean_w").alias("mean_w"),
        _peak().alias("peak_w"),
    ]


def _peak() -> pl.Expr:
    """Return the greatest power sampled, or between samples at the window's edges."""
    is_counter = pl.col("method") == "counter"
    highest = pl.max_horizontal("peak_w", pl.when(~is_counter).then("edge_w"))
    mean = pl.when(pl.col("is_fit")).then("mean_w")
    return pl.when(highest.is_not_null()).then(pl.max_horizontal(highest, mean))
