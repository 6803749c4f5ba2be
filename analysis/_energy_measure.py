"""The energy of devices in windows, by the best source there is, with its doubts."""

from typing import Final

import polars as pl

from analysis._energy_integral import integrate_segments
from analysis._energy_quality import reasons
from analysis._energy_refresh import refresh
from analysis._energy_samples import mark_doubts, one_per_time
from analysis._energy_segments import Bridges, counter_segments, power_segments
from ingest.times import SECOND_NS

#: Column that each method reads, the best method first. The mean over a second keeps
#: energy that samples of the moment miss between them.
METHODS: Final = {
    "counter": "energy_mj",
    "trapezoid_average": "power_average_w",
    "trapezoid_instant": "power_instant_w",
}

#: A better method is taken if it measured this share of what another did: less, and
#: more is lost by not measuring than a worse sensor is wrong by (some percent).
ENOUGH_RATIO: Final = 0.95

#: Difference of the counter's mean and that of sampled power that is told: where both
#: are sound they agree within 1 % (ml-energy/zeus, issue 12).
DISAGREE_RATIO: Final = 0.05

#: Difference that is never told: readings of a board are good to 5 W. [W]
DISAGREE_W: Final = 5.0

#: Slowest sampling of power that a counter is held against: at 5 s bursts are wrong by
#: 3 %, at 15 s by 18 %. [ns]
SOUND_SAMPLING_NS: Final = SECOND_NS

_KEY: Final = ("device", "window")

#: What is true of a window where it is of one of its samples.
_DOUBTS: Final = (
    "is_module",
    "is_assumed_zone",
    "is_file_time",
    "is_resampled",
    "is_repeated",
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
    placed = _place(marked, windows)
    segments = {
        name: power_segments(marked, column, bridges)
        for name, column in METHODS.items()
        if name != "counter"
    } | {"counter": counter_segments(marked)}
    every = pl.concat(
        _of_method(name, segments[name], (marked, placed), windows) for name in METHODS
    )
    common = placed.group_by(_KEY).agg(
        pl.col(_DOUBTS).any(),
        peak_w=pl.max_horizontal("_average", "_instant").max(),
    )
    return (
        _choose(every)
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


def _place(samples: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Give samples the window that they fall into; at an edge the later one."""
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


def _of_method(
    method: str,
    segments: pl.DataFrame,
    samples_and_placed: tuple[pl.DataFrame, pl.DataFrame],
    windows: pl.DataFrame,
) -> pl.DataFrame:
    """Measure all windows by one method."""
    column = METHODS[method]
    samples, placed = samples_and_placed
    is_counter = method == "counter"
    no = pl.lit(value=False)
    doubts = placed.group_by(_KEY).agg(
        samples_count=pl.col(column).count().cast(pl.Int64),
        is_blank=pl.col(f"{column}_blank").any(),
        is_stale=no if is_counter else pl.col(f"{column}_stale").any(),
        is_above=no if is_counter else pl.col(f"{column}_above").any(),
    )
    sampling = segments.group_by("device").agg(
        interval_ns=pl.col("length_ns").median(), reads=pl.len()
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


def _choose(every: pl.DataFrame) -> pl.DataFrame:
    """Keep the best method that measured enough, and hold the counter against power."""
    most = pl.col("measured_ns").max().over(_KEY)
    some = (pl.col("measured_ns") > 0) | (pl.col("credit_j") > 0)
    is_fit = some & (pl.col("measured_ns") >= ENOUGH_RATIO * most)
    mean = pl.col("energy_j") * SECOND_NS / pl.col("measured_ns")
    is_sound = (
        is_fit
        & (pl.col("method") != "counter")
        & (pl.col("interval_ns") <= SOUND_SAMPLING_NS)
    )
    ranked = every.with_columns(
        is_fit=is_fit, mean_w=pl.when(pl.col("measured_ns") > 0).then(mean)
    ).with_columns(_sampled_w=pl.col("mean_w").filter(is_sound).first().over(_KEY))
    place = pl.when("is_fit").then("order").otherwise(-pl.col("samples_count"))
    best = ranked.sort("device", "window", ~pl.col("is_fit"), place, "order")
    apart = (pl.col("mean_w") - pl.col("_sampled_w")).abs()
    allowed = pl.max_horizontal(DISAGREE_RATIO * pl.col("mean_w"), DISAGREE_W)
    return best.unique(_KEY, keep="first", maintain_order=True).with_columns(
        is_contradicted=(pl.col("method") == "counter") & (apart > allowed)
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
    ]
