"""Restarts that step numbers tell of, and the spells between them."""

from collections.abc import Iterable
from typing import Final

import polars as pl

from analysis._restart_dates import fewest_dates

_ORDER: Final = ("run_id", "seat", "start_ns", "end_ns", "step")
_RESTART: Final = ("run_id", "restart_ns")

_NO_SPANS: Final = pl.DataFrame(
    schema={
        "run_id": pl.String,
        "seat": pl.Int64,
        "from_ns": pl.Int64,
        "until_ns": pl.Int64,
    }
)


def find_restarts(marks: Iterable[pl.LazyFrame]) -> pl.LazyFrame:
    """Find where the step number of a rank does not grow any more.

    Ranks see one restart at different times: each only knows that it came after its
    last row and not after its first new one. Restarts are the fewest moments that such
    spans share, each the first new row of a rank. Of the ranks that were there before,
    at least half must have gone back with it: one bad row is not a restart.

    Args:
        marks: Frames with the columns run_id, seat, step, start_ns and end_ns; a seat
            is in one of them. Gone through twice.

    Returns:
        Columns run_id and restart_ns, sorted.
    """
    spans = pl.concat([_NO_SPANS, *(_spans(one).collect() for one in marks)])
    found = _dated(spans)
    back = found.group_by(_RESTART).agg(back=pl.col("seat").n_unique())
    known = back.filter(pl.col("restart_ns").is_not_null()).collect()
    if known.is_empty():
        return known.lazy().select(_RESTART)
    dates = known.lazy().select(_RESTART)
    counts = [_stayed(one, dates).collect() for one in marks]
    present = pl.concat(counts).group_by(_RESTART).agg(pl.col("present").sum())
    counted = known.lazy().join(present.lazy(), on=list(_RESTART), how="left")
    kept = counted.filter(pl.col("back") * 2 >= pl.col("present").fill_null(0))
    return kept.select(_RESTART).sort(_RESTART).collect().lazy()


def _dated(spans: pl.DataFrame) -> pl.LazyFrame:
    """Date each span to the first restart that is within it."""
    dates = fewest_dates(spans).sort("restart_ns")
    return (
        spans.lazy()
        .sort("from_ns")
        .join_asof(
            dates.lazy(),
            left_on="from_ns",
            right_on="restart_ns",
            by="run_id",
            strategy="forward",
            allow_exact_matches=False,
            check_sortedness=False,
        )
    )


def number_spells(marks: pl.LazyFrame, restarts: pl.LazyFrame) -> pl.LazyFrame:
    """Give each row its spell: how many restarts of its run came before it.

    Args:
        marks: Rows with run_id and start_ns.
        restarts: What `find_restarts` returns.

    Returns:
        The rows with spell, and restart_ns, the restart that it began with.
    """
    numbered = restarts.sort("run_id", "restart_ns").with_columns(
        spell=pl.int_range(1, pl.len() + 1).over("run_id")
    )
    placed = marks.sort("start_ns").join_asof(
        numbered.sort("restart_ns"),
        left_on="start_ns",
        right_on="restart_ns",
        by="run_id",
        strategy="backward",
        check_sortedness=False,
    )
    return placed.with_columns(pl.col("spell").fill_null(0))


def _spans(marks: pl.LazyFrame) -> pl.LazyFrame:
    """Return where a rank went back: after from_ns, until_ns at the latest.

    A row that begins in the first half of the one before is the same step, told twice.
    """
    ordered = marks.select(_ORDER).sort(_ORDER)
    old = ordered.with_columns(pl.all().shift(1).name.prefix("old_"))
    same = (pl.col("run_id") == pl.col("old_run_id")) & (
        pl.col("seat").eq_missing(pl.col("old_seat"))
    )
    length = pl.col("old_end_ns") - pl.col("old_start_ns")
    is_later = pl.col("start_ns") - pl.col("old_start_ns") >= length // 2
    is_back = pl.col("step") <= pl.col("old_step")
    return old.filter(same & is_back & is_later).select(
        "run_id", "seat", from_ns="old_start_ns", until_ns="start_ns"
    )


def _stayed(marks: pl.LazyFrame, restarts: pl.LazyFrame) -> pl.LazyFrame:
    """Count the ranks that were there before a restart and after it."""
    first = pl.col("start_ns").min().over("run_id", "seat")
    placed = number_spells(marks.with_columns(first_ns=first), restarts)
    stayed = placed.filter(pl.col("first_ns") < pl.col("restart_ns"))
    return stayed.group_by(_RESTART).agg(
        present=pl.col("seat").n_unique().cast(pl.Int64)
    )
