"""GPUs that share means over ranks: how many of them told of each step, and how much.

Of a step that is kept as a sum over ranks it is known how many told of it, and how many
told its parts; which these were is not, and does not matter to what is added up. So
seats that are alike are cut into layers: some told all, some a duration, some nothing.
"""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._ledger_log import PARTS, PORTION_ROWS
from analysis._ledger_seats import SEAT
from analysis._step_rollup_log import RANKS

_ATTEMPT: Final = ["run_id", "attempt"]

#: Most layers of an attempt; of more, steps are rounded to less evidence. [1]
MOST_LAYERS: Final = 64

_WEIGHT: Final = pl.col("weight")

#: How many GPUs of a seat told of a step, and how many of them told its parts. [1]
_LEVELS: Final = ("_rows", "_parts")


def layered(
    shared: pl.LazyFrame, seats: pl.LazyFrame, means: pl.LazyFrame
) -> Iterator[tuple[pl.LazyFrame, pl.LazyFrame]]:
    """Give seats without evidence of their own the means over ranks, as far as told.

    A step of which fewer ranks told than were held lacks those of the largest seat, and
    so with parts: of a rank that told its duration alone there are none.

    Args:
        shared: Seats that take means, as `share_seats` returns them.
        seats: What `number_seats` returns.
        means: Rows that tell means over a run, with RANKS.

    Yields:
        Seats, those of some attempts at a time, and their rows with `seat`.
    """
    takers, rows = shared.collect(), means.collect()
    short = _short(takers, seats, rows)
    cut = _cut(takers, short, int(seats.select(pl.len()).collect().item()))
    for some in _portions(cut, rows):
        told = rows.join(some.select(*_ATTEMPT, SEAT, "_upper"), on=_ATTEMPT)
        placed = told.join(
            short, on=[*_ATTEMPT, "start_ns", "step"], how="left", nulls_equal=True
        )
        # of a seat that is not cut, and of a mean over the run, all is told
        has_row, has_parts = (
            (pl.col("_upper") <= pl.col(level)).fill_null(value=True)
            for level in _LEVELS
        )
        known = placed.filter(has_row).with_columns(
            pl.when(has_parts).then(pl.col(PARTS))
        )
        mine = known.drop(*_ATTEMPT, "_upper", *_LEVELS)
        yield some.drop("_upper").lazy(), mine.lazy()


def _short(
    takers: pl.DataFrame, seats: pl.LazyFrame, rows: pl.DataFrame
) -> pl.DataFrame:
    """Find how many GPUs of the largest seat of an attempt told of its steps.

    Returns:
        `run_id`, `attempt`, `start_ns`, `step` and _LEVELS, of attempts in which any
        lacks.
    """
    largest = takers.group_by(_ATTEMPT).agg(most=_WEIGHT.max())
    told = rows.filter(pl.col("row_ranks").is_not_null())
    held = _held(seats).join(told.lazy().select(_ATTEMPT).unique(), on=_ATTEMPT)
    placed = told.select(*_ATTEMPT, "start_ns", "step", *RANKS).sort("start_ns")
    counted = placed.join_asof(
        held.collect().sort("at"),
        left_on="start_ns",
        right_on="at",
        by=_ATTEMPT,
        strategy="backward",
        check_sortedness=False,
    ).join(largest, on=_ATTEMPT)
    silent = (pl.col("held") - pl.col("row_ranks")).fill_null(0).clip(0)
    bare = pl.when(pl.col("part_ranks") > 0).then(
        pl.col("row_ranks") - pl.col("part_ranks")
    )
    levels = counted.with_columns(_rows=(pl.col("most") - silent).clip(0)).with_columns(
        _parts=(pl.col("_rows") - bare.fill_null(0)).clip(0)
    )
    lacks = pl.col("_parts") < pl.col("most")
    short = levels.filter(lacks.any().over(_ATTEMPT))
    return (
        _rounded(short)
        .select(*_ATTEMPT, "start_ns", "step", *_LEVELS)
        .unique([*_ATTEMPT, "start_ns", "step"], keep="first", maintain_order=True)
    )


def _held(seats: pl.LazyFrame) -> pl.LazyFrame:
    """Return how many ranks each attempt held from when on: `at` and `held`."""
    ranks = seats.filter(pl.col("role") == "rank")
    edges = [
        ranks.select(*_ATTEMPT, at=edge, change=sign * _WEIGHT)
        for edge, sign in (("from_ns", 1), ("to_ns", -1))
    ]
    changes = pl.concat(edges).group_by(*_ATTEMPT, "at").agg(pl.col("change").sum())
    ordered = changes.sort(*_ATTEMPT, "at")
    return ordered.with_columns(held=pl.col("change").cum_sum().over(_ATTEMPT)).drop(
        "change"
    )


def _rounded(short: pl.DataFrame) -> pl.DataFrame:
    """Leave no more levels in an attempt than there may be layers."""
    levels = pl.concat([short.select(*_ATTEMPT, level=name) for name in _LEVELS])
    counts = levels.group_by(_ATTEMPT).agg(
        distinct=pl.col("level").n_unique(), low=pl.col("level").min()
    )
    joined = short.join(counts, on=_ATTEMPT)
    span = pl.col("most") - pl.col("low")
    unit = pl.when(pl.col("distinct") > MOST_LAYERS).then(span // MOST_LAYERS + 1)
    each = unit.fill_null(1)
    return joined.with_columns(
        pl.when(pl.col(name) == pl.col("most"))
        .then(name)
        .otherwise(pl.col("low") + (pl.col(name) - pl.col("low")) // each * each)
        .alias(name)
        for name in _LEVELS
    )


def _cut(takers: pl.DataFrame, short: pl.DataFrame, first: int) -> pl.DataFrame:
    """Cut the largest seat of each attempt that lacks anything into layers.

    Args:
        takers: The seats.
        short: What `_short` returns.
        first: The first number that no seat has.

    Returns:
        The seats with `_upper`: of a layer, how many GPUs it and those below are. [1]
    """
    is_largest = pl.int_range(pl.len()).over(_ATTEMPT) == 0
    ordered = takers.sort(*_ATTEMPT, -_WEIGHT, SEAT).with_columns(_main=is_largest)
    lacking = short.select(_ATTEMPT).unique()
    main = ordered.filter("_main").join(lacking, on=_ATTEMPT, how="semi")
    others = ordered.join(main.select(SEAT), on=SEAT, how="anti")
    marks = [short.select(*_ATTEMPT, _upper=name) for name in _LEVELS]
    whole = main.select(*_ATTEMPT, _upper="weight")
    levels = pl.concat([*marks, whole]).filter(pl.col("_upper") > 0).unique()
    below = pl.col("_upper").shift(1, fill_value=0).over(_ATTEMPT)
    sized = levels.sort(*_ATTEMPT, "_upper").with_columns(
        _size=pl.col("_upper") - below
    )
    number = pl.int_range(pl.len()).over(_ATTEMPT)
    spare = first + pl.int_range(pl.len())
    layers = main.join(sized, on=_ATTEMPT, maintain_order="left_right").with_columns(
        pl.when(number == 0).then(SEAT).otherwise(spare).cast(pl.UInt32).alias(SEAT),
        weight="_size",
    )
    unlayered = others.with_columns(_upper=pl.lit(None, pl.Int64))
    names = [*takers.columns, "_upper"]
    return pl.concat([unlayered.select(names), layers.select(names)])


def _portions(cut: pl.DataFrame, rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Part seats by attempts, so that their rows fit into memory."""
    counts = rows.group_by(_ATTEMPT).agg(_count=pl.len().cast(pl.Int64))
    sized = cut.join(counts, on=_ATTEMPT, how="left").sort(*_ATTEMPT, SEAT)
    before = pl.col("_count").cum_sum() - pl.col("_count")
    portion = (before // PORTION_ROWS).first().over(_ATTEMPT)
    parted = sized.with_columns(_portion=portion).drop("_count")
    for some in parted.partition_by("_portion", maintain_order=True):
        yield some.drop("_portion")
