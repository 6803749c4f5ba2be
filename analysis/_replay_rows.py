"""Rows of one trace, each at its seat: replica, stage and lane of its rank."""

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._ordering import order_of
from analysis._replay_kinds import KINDS, PASSES, known_kind

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
    named = _known(operations)
    _refuse_unfit(named)
    seats = _seats(named)
    seated = named.drop("dp_rank", "pp_rank").join(seats, on="rank")
    return _in_order(seated, seats.height).select(ROW)


def _known(operations: pl.DataFrame) -> pl.DataFrame:
    """Return the operations of known kinds; each of few words is looked up once."""
    words = operations["kind"].unique().sort()
    raw = operations["kind"].cast(pl.Enum(words))
    kinds = pl.select(known_kind(pl.lit(words.cast(pl.String)))).to_series()
    named = operations.select(
        *("step", "rank", "dp_rank", "pp_rank", "microbatch", "chunk", "sequence"),
        *("duration_ns",),
        kind=kinds.gather(raw.to_physical()),
        raw_kind=raw,
        at_ns=pl.coalesce("offset_ns", "start_ns"),
    )
    return named if not named["kind"].null_count() else named.drop_nulls("kind")


def _refuse_unfit(named: pl.DataFrame) -> None:
    kinds = set(named["kind"].unique())
    missing = [kind for kind in PASSES if kind not in kinds]
    if missing:
        reason = f"no operation of kind {' or '.join(missing)}"
        raise UnfitTraceError(reason)
    if named["at_ns"].null_count():
        reason = "the start of some operations is not told"
        raise UnfitTraceError(reason)


def _seats(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the stage, replica and lane of each rank, and its number in order. [1]"""
    places = pl.col("pp_rank", "dp_rank")
    told = rows.group_by("rank").agg(places.min(), places.max().name.suffix("_last"))
    seats = _with_replicas(_with_stages(told))
    lane = pl.col("rank").rank("dense").over("dp_rank", "pp_rank").cast(pl.Int32) - 1
    return seats.select("rank", "pp_rank", "dp_rank", lane=lane).with_row_index("seat")


def _with_stages(seats: pl.DataFrame) -> pl.DataFrame:
    """Fill the stage of a rank from its other rows; a rank is in one stage for ever."""
    known = _known_once(seats, "pp_rank")
    if len(known) == len(seats):
        return seats
    if not len(known) and len(seats) == 1:
        return seats.with_columns(pp_rank=pl.lit(0, pl.Int32))
    reason = (
        "the pipeline stage of some ranks is not told, and no run card has the layout"
        " (pp, dp and the order of ranks)"
    )
    raise UnfitTraceError(reason)


def _with_replicas(seats: pl.DataFrame) -> pl.DataFrame:
    """Fill the replica of a rank; a trace of one rank per stage is of one replica."""
    known = _known_once(seats, "dp_rank")
    if len(known) == len(seats):
        return seats
    ranks = seats.group_by("pp_rank").agg(pl.col("rank").n_unique())["rank"]
    if not len(known) and ranks.max() == 1:
        return seats.with_columns(dp_rank=pl.lit(0, pl.Int32))
    reason = (
        "the data-parallel replica of some ranks is not told, and no run card has the"
        " layout (pp, dp and the order of ranks)"
    )
    raise UnfitTraceError(reason)


def _known_once(seats: pl.DataFrame, column: str) -> pl.Series:
    """Return what is told of ranks, each of which has one place."""
    if seats.filter(pl.col(column) != pl.col(f"{column}_last")).height:
        reason = f"a rank has more than one {column}"
        raise UnfitTraceError(reason)
    return seats[column].drop_nulls()


def _in_order(rows: pl.DataFrame, ranks: int) -> pl.DataFrame:
    """Number operations of a kind, rank and step by their launch.

    Starts nearly always tell the order; what is written twice ties with itself.
    """
    kind = pl.col("kind").to_physical().cast(pl.Int64)
    step = pl.col("step").rank("dense").cast(pl.Int64) - 1
    stream = (step * ranks + pl.col("seat")) * len(KINDS) + kind
    numbered = rows.with_columns(stream=stream)
    order = _order(numbered, ("stream", "at_ns"))
    ordered = numbered.select("stream", "at_ns")[order]
    same = [pl.col(name) == pl.col(name).shift(1) for name in ("stream", "at_ns")]
    if ordered.select(pl.all_horizontal(same).any()).item():
        keys = ("stream", *_ORDER)
        numbered = numbered.unique(keys)
        order = _order(numbered, keys)
        ordered = numbered.select("stream")[order]
    place = np.arange(len(order))
    is_first = np.diff(ordered["stream"].to_numpy(), prepend=-1) != 0
    first = np.maximum.accumulate(np.where(is_first, place, 0))
    position = np.empty(len(order), dtype=np.int32)
    position[order] = place - first
    return numbered.with_columns(position=pl.lit(position))


def _order(rows: pl.DataFrame, keys: tuple[str, ...]) -> npt.NDArray[np.intp]:
    """Return the order by integers, key by key: much faster than by all at once."""
    arrays = [rows[name].cast(pl.Int64).fill_null(-1).to_numpy() for name in keys]
    return order_of(*arrays)
