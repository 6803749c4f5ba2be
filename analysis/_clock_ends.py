"""Moments that several clocks saw: the ends of collectives that all leave together."""

from typing import Final

import polars as pl

from analysis._clock_windows import BIN_NS, SILENCE_NS
from analysis._collective_matching import INSTANCE

_WHERE: Final = ("run_id", "attempt", "group_id")


def common_ends(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the ends of collectives as each clock saw them.

    Of the ranks on one clock the middle end counts. What was matched by order counts
    only where it can be no other collective: all ranks are there and saw equally many;
    and where no step tells it either, its ends are closer than half the time to the
    next one of its series, so that nobody is one collective ahead. Ends that are
    further apart than a silence are kept: either a clock is wrong, or they are no one
    collective.

    Args:
        rows: What ranks saw of collectives: columns of INSTANCE, `run_id`, `attempt`,
            `group_id`, `clock`, `size`, `joint`, `is_uneven`, `time_basis` and
            `left_ns`.

    Returns:
        Columns run_id, attempt, group_id, the columns of INSTANCE, clock, first_ns (of
        all ends), away_ns (of this clock's, after that), bin and is_numbered.
    """
    on_gpu = pl.col("joint") & (pl.col("time_basis") == "gpu")
    ends = rows.filter(on_gpu & pl.col("left_ns").is_not_null())
    left = pl.col("left_ns")
    moments = ends.group_by(*_WHERE, *INSTANCE).agg(
        first_ns=left.min(),
        spread_ns=left.max() - left.min(),
        clocks=pl.col("clock").n_unique(),
        is_whole=pl.len() >= pl.col("size").max(),
        is_uneven=pl.col("is_uneven").any(),
    )
    told = moments.filter(pl.col("clocks") > 1)
    is_wide = pl.col("spread_ns") >= SILENCE_NS
    kept = told.filter(is_wide | _is_sure()).select(*_WHERE, *INSTANCE, "first_ns")
    shared = ends.join(kept, on=[*_WHERE, *INSTANCE], nulls_equal=True)
    return shared.group_by(*_WHERE, *INSTANCE, "clock").agg(
        pl.col("first_ns").first(),
        away_ns=(left - pl.col("first_ns")).median(),
        bin=pl.col("first_ns").first() // BIN_NS,
        is_numbered=pl.col("number").is_not_null().first(),
    )


def _is_sure() -> pl.Expr:
    by_number = pl.col("number").is_not_null()
    ordered = pl.col("first_ns").sort_by("first_ns")
    place = pl.col("first_ns").rank("ordinal") - 1
    gap = ordered.diff().fill_null(SILENCE_NS)
    before = gap.gather(place)
    after = gap.shift(-1, fill_value=SILENCE_NS).gather(place)
    nearest = pl.min_horizontal(before.over("series"), after.over("series"))
    alone = pl.col("within").is_not_null() | (2 * pl.col("spread_ns") < nearest)
    by_order = pl.col("is_whole") & ~pl.col("is_uneven") & alone
    return by_number | by_order
