"""What a day of a device leaves to the next, of samples of any kind."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from analysis._energy_choice import METHODS
from analysis._energy_refresh import refresh
from analysis._power_roll_columns import SHORT
from analysis._throttle_times import COUNTERS, until_next

_TIME: Final = pl.col("time_ns")


def days_of(
    samples: pl.DataFrame,
    marked: pl.DataFrame,
    segments: Mapping[str, pl.DataFrame],
    placed: pl.DataFrame,
) -> pl.DataFrame:
    """Return the first and last samples of devices, and how they were sampled.

    Args:
        samples: Rows of PowerSamples with `device`.
        marked: Rows of `mark_doubts`.
        segments: What each method says of the time between samples.
        placed: Rows of `placed_in`: samples that runs held.

    Returns:
        The columns of PowerDays but for names of the device, by `device`.
    """
    found = samples.group_by("device").agg(
        first_ns=_TIME.min(),
        last_ns=_TIME.max(),
        samples_count=pl.len().cast(pl.Int64),
    )
    limits = marked.group_by("device").agg(
        pl.col("ceiling_w").max(), pl.col("is_file_time").any()
    )
    is_finite = pl.col("ceiling_w").is_finite()
    parts = [
        limits.with_columns(pl.when(is_finite).then("ceiling_w")),
        *(_of_method(marked, segments[method], method) for method in METHODS),
        *(_of_counter(placed, cause, name) for cause, name in COUNTERS.items()),
        _of_reasons(placed),
        _of_xids(samples),
    ]
    for part in parts:
        found = found.join(part, on="device", how="left")
    return found


def _of_method(
    marked: pl.DataFrame, segments: pl.DataFrame, method: str
) -> pl.DataFrame:
    column = METHODS[method]
    short, unit = SHORT[column], "mj" if method == "counter" else "w"
    values = marked.select("device", "time_ns", value=column)
    read = segments.select("device", "time_ns", "spacing_ns").join(
        values, on=["device", "time_ns"], maintain_order="left"
    )
    edges = read.group_by("device").agg(
        **_edges(short, f"{short}_{{}}_ns", f"{short}_{{}}_{unit}", "value"),
        **{
            f"{short}_reads_count": pl.len().cast(pl.Int64),
            f"{short}_interval_ns": pl.col("spacing_ns").median(),
        },
    )
    refreshed = refresh(marked, column).rename({"refresh_ns": f"{short}_refresh_ns"})
    return edges.join(refreshed, on="device", how="left")


def _edges(_: str, time: str, name: str, value: str) -> dict[str, pl.Expr]:
    """Return the first and the last of a value, and their times."""
    return {
        time.format("first"): _TIME.min(),
        name.format("first"): pl.col(value).sort_by("time_ns").first(),
        time.format("last"): _TIME.max(),
        name.format("last"): pl.col(value).sort_by("time_ns").last(),
    }


def _of_counter(placed: pl.DataFrame, cause: str, name: str) -> pl.DataFrame:
    known = placed.filter(pl.col(name).is_not_null())
    times, values = f"{cause}_{{}}_ns", f"{cause}_{{}}_counter_ns"
    return known.group_by("device").agg(**_edges(cause, times, values, name))


def _of_reasons(placed: pl.DataFrame) -> pl.DataFrame:
    known = placed.filter(pl.col("throttle_reasons").is_not_null())
    length = known.with_columns(_length=until_next())
    return length.group_by("device").agg(
        reasons_first_ns=_TIME.min(),
        reasons_last_ns=_TIME.max(),
        reasons_last=pl.col("throttle_reasons").sort_by("time_ns").last(),
        reasons_interval_ns=pl.col("_length").median(),
    )


def _of_xids(samples: pl.DataFrame) -> pl.DataFrame:
    once = _gauge(samples)
    return once.group_by("device").agg(
        xid_first_ns=_TIME.min(),
        xid_first=pl.col("last_xid").sort_by("time_ns").first(),
        xid_last_ns=_TIME.max(),
        xid_last=pl.col("last_xid").sort_by("time_ns").last(),
    )


def _gauge(samples: pl.DataFrame) -> pl.DataFrame:
    known = samples.filter(pl.col("last_xid").is_not_null())
    return known.group_by("device", "time_ns").agg(pl.col("last_xid").max())


def xid_changes(samples: pl.DataFrame) -> pl.DataFrame:
    """Return when the gauge of the last Xid changed, by `device`.

    Args:
        samples: Rows of PowerSamples with `device`.
    """
    before = pl.col("last_xid").shift(1).over("device", order_by="time_ns")
    changed = _gauge(samples).with_columns(before_xid=before)
    return changed.filter(
        pl.col("before_xid").is_not_null(),
        pl.col("before_xid") != pl.col("last_xid"),
    ).sort("device", "time_ns")
