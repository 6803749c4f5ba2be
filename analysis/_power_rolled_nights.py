"""Power between the last sample of a day and the first of the next."""

from typing import Final

import polars as pl

from analysis._energy_bridges import Bridges
from analysis._energy_choice import METHODS
from analysis._energy_samples import STILL_NS
from analysis._energy_segments import COUNTER_LAG_NS, SEGMENT
from analysis._power_roll_columns import SHORT
from ingest.times import SECOND_NS


def nights(days: pl.DataFrame, method: str, bridges: Bridges) -> pl.DataFrame:
    """Return what a method says of the time between days.

    Args:
        days: Rows of PowerDays with `device`.
        method: Name of the method.
        bridges: Which silences of sampled power are bridged.

    Returns:
        The columns of SEGMENT, sorted by device and time.
    """
    pairs = paired(days, SHORT[METHODS[method]], method == "counter")
    rows = _counter(pairs) if method == "counter" else _power(pairs, bridges)
    return rows.select(SEGMENT)


def paired(days: pl.DataFrame, short: str, is_counter: bool) -> pl.DataFrame:
    """Return the last value of each day beside the first of the next."""
    unit = "mj" if is_counter else "w"
    told = days.select(
        "device",
        "is_file_time",
        "ceiling_w",
        interval=pl.col(f"{short}_interval_ns").median().over("device"),
        first_ns=f"{short}_first_ns",
        first=f"{short}_first_{unit}",
        time_ns=f"{short}_last_ns",
        last=f"{short}_last_{unit}",
    ).drop_nulls("first_ns")
    ordered = told.sort("device", "first_ns")
    following = [
        pl.col(name).shift(-1).over("device").alias(f"next_{name}")
        for name in ("first_ns", "first", "is_file_time", "ceiling_w")
    ]
    both = ordered.with_columns(following).drop_nulls("next_first_ns")
    length = pl.col("next_first_ns") - pl.col("time_ns")
    loose = pl.col("is_file_time") | pl.col("next_is_file_time")
    return both.with_columns(
        length_ns=length, spacing_ns=length, is_apart=loose
    ).filter(pl.col("length_ns") > 0)


def _power(pairs: pl.DataFrame, bridges: Bridges) -> pl.DataFrame:
    length = pl.col("length_ns")
    usual = (bridges.intervals * pl.col("interval")).clip(bridges.floor_ns)
    allowed = usual.clip(upper_bound=bridges.ceiling_ns)
    is_measured = (length <= allowed).fill_null(value=False) & ~pl.col("is_apart")
    rise = (pl.col("next_first") - pl.col("last")) / length
    joules = (pl.col("last") + pl.col("next_first")) / 2 * length / SECOND_NS
    return pairs.with_columns(
        watts=pl.when(is_measured).then("last").otherwise(0.0),
        slope=pl.when(is_measured).then(rise).otherwise(0.0),
        energy_j=pl.when(is_measured).then(joules),
        credit_j=pl.lit(0.0),
        is_measured=is_measured,
        is_gap=~is_measured,
        is_reset=pl.lit(value=False),
        is_jump=pl.lit(value=False),
    )


def _counter(pairs: pl.DataFrame) -> pl.DataFrame:
    length, shown = pl.col("length_ns"), pl.col("next_first")
    rise = shown - pl.col("last")
    ceiling = pl.max_horizontal("ceiling_w", "next_ceiling_w").fill_null(float("inf"))
    most = ceiling * (length + COUNTER_LAG_NS) * 1_000 / SECOND_NS
    is_still = (rise == 0) & (length > STILL_NS)
    is_loose = pl.col("is_apart")
    is_measured = (rise >= 0) & (rise <= most) & ~is_loose & ~is_still
    is_reset = (rise < 0) & (shown <= most) & ~is_loose
    joules = rise / 1_000
    return pairs.with_columns(
        watts=pl.when(is_measured).then(joules * SECOND_NS / length).otherwise(0.0),
        slope=pl.lit(0.0),
        energy_j=pl.when(is_measured).then(joules),
        credit_j=pl.when(is_reset).then(shown / 1_000).otherwise(0.0),
        is_measured=is_measured,
        is_gap=is_loose,
        is_reset=is_reset,
        is_jump=~(is_measured | is_reset | is_loose | is_still),
    )


#: What is kept of a night where swings are looked at.
READING: Final = ("device", "time_ns", "length_ns", "is_measured", "watts", "slope")
