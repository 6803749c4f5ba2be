"""Rows of one trace, each at its seat: replica, stage and lane of its rank."""

from typing import Final

import numpy as np
import polars as pl

from analysis._replay_kinds import PASSES, known_kind

#: Columns of a seated row. `lane` counts the ranks that share a stage of a replica,
#: as tensor parallelism has them; `at_ns` is the start by the trace's own clock.
ROW: Final = (
    "step",
    "rank",
    "dp_rank",
    "pp_rank",
    "lane",
    "kind",
    "raw_kind",
    "microbatch",
    "chunk",
    "position",
    "at_ns",
    "duration_ns",
)

#: Order of operations of a kind on one rank in one step: that of their launches.
_ORDER: Final = ("at_ns", "sequence", "microbatch", "chunk", "duration_ns")


class UnfitTraceError(ValueError):
    """A trace whose steps cannot be replayed; its text is the reason."""


def seat_rows(operations: pl.DataFrame) -> pl.DataFrame:
    """Give each operation its place in the layout and among those of its kind.

    Args:
        operations: Operations of one trace.

    Returns:
        The columns of ROW, without repetitions and kinds that a replay has no use for.

    Raises:
        UnfitTraceError: If times, stages or replicas are not told, or no pass is.
    """
    named = operations.select(
        *("step", "rank", "dp_rank", "pp_rank", "microbatch", "chunk", "sequence"),
        *("duration_ns",),
        kind=known_kind(pl.col("kind")),
        raw_kind=pl.col("kind"),
        at_ns=pl.coalesce("offset_ns", "start_ns"),
    ).filter(pl.col("kind").is_not_null())
    _refuse_unfit(named)
    words = pl.Enum(named["raw_kind"].unique().sort())
    named = named.with_columns(pl.col("raw_kind").cast(words))
    seated = _with_lanes(_with_replicas(_with_stages(named)))
    return _in_order(seated).select(ROW)


def _refuse_unfit(named: pl.DataFrame) -> None:
    kinds = set(named["kind"].unique())
    missing = [kind for kind in PASSES if kind not in kinds]
    if missing:
        reason = f"no operation of kind {' or '.join(missing)}"
        raise UnfitTraceError(reason)
    if named["at_ns"].null_count():
        reason = "the start of some operations is not told"
        raise UnfitTraceError(reason)


def _with_stages(rows: pl.DataFrame) -> pl.DataFrame:
    """Fill the stage of a rank from its other rows; a rank is in one stage for ever."""
    filled = _filled(rows, "pp_rank")
    known = filled["pp_rank"].drop_nulls()
    if len(known) == len(filled):
        return filled
    if not len(known) and filled["rank"].n_unique() == 1:
        return filled.with_columns(pp_rank=pl.lit(0, pl.Int32))
    reason = "the pipeline stage of some ranks is not told"
    raise UnfitTraceError(reason)


def _with_replicas(rows: pl.DataFrame) -> pl.DataFrame:
    """Fill the replica of a rank; a trace of one rank per stage is of one replica."""
    filled = _filled(rows, "dp_rank")
    known = filled["dp_rank"].drop_nulls()
    if len(known) == len(filled):
        return filled
    ranks = filled.group_by("pp_rank").agg(pl.col("rank").n_unique())["rank"]
    if not len(known) and ranks.max() == 1:
        return filled.with_columns(dp_rank=pl.lit(0, pl.Int32))
    reason = "the data-parallel replica of some ranks is not told"
    raise UnfitTraceError(reason)


def _in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Sort operations of a kind, rank and step by their launch, and number them.

    Starts nearly always tell the order; what is written twice ties with itself.
    """
    number = pl.struct("step", "rank", "kind").rank("dense").cast(pl.Int64)
    ordered = _sorted(rows.with_columns(stream=number), ("stream", "at_ns"))
    same = [pl.col(name) == pl.col(name).shift(1) for name in ("stream", "at_ns")]
    if ordered.select(pl.all_horizontal(same).any()).item():
        keys = ("stream", *_ORDER)
        ordered = _sorted(ordered.unique(keys), keys)
    changed = pl.col("stream").ne_missing(pl.col("stream").shift(1))
    place = pl.int_range(pl.len(), dtype=pl.Int64)
    first = pl.when(changed).then(place).forward_fill()
    return ordered.with_columns(position=(place - first).cast(pl.Int32))


def _sorted(rows: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """Sort by integers, key by key: much faster than by all of them at once."""
    arrays = [rows[name].cast(pl.Int64).fill_null(-1).to_numpy() for name in keys]
    return rows[np.lexsort(arrays[::-1])]


def _filled(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    seats = rows.group_by("rank").agg(pl.col(column).min(), _last=pl.col(column).max())
    if seats.filter(pl.col(column) != pl.col("_last")).height:
        reason = f"a rank has more than one {column}"
        raise UnfitTraceError(reason)
    return rows.drop(column).join(seats.drop("_last"), on="rank")


def _with_lanes(rows: pl.DataFrame) -> pl.DataFrame:
    seats = rows.select("rank", "dp_rank", "pp_rank").unique()
    lane = pl.col("rank").rank("dense").over("dp_rank", "pp_rank").cast(pl.Int32) - 1
    lanes = seats.with_columns(lane=lane).select("rank", "lane")
    return rows.join(lanes, on="rank")
