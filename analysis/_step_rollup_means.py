"""What stands for the raw steps of large runs: a row for each step, the mean of it."""

from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl

from analysis._step_rollup_columns import GREATEST, PARTS
from ingest.times import DAY_NS

#: What a row that stands for many says of its file: none of them is of a file alone.
STAND_IN: Final = "step_rollups"

_STEP: Final = ["run_id", "attempt", "step", "scope"]

#: The part that is left of a step when all others have been told.
_WORK: Final = "compute_ns"

_TOTALS: Final = ("duration_ns", *PARTS)


def whole_steps(rollups: pl.LazyFrame) -> pl.DataFrame:
    """Put steps together that midnight has parted, and leave out means beside ranks.

    The halves of a step follow each other more closely than it took any rank, and have
    no more ranks than any other step of the attempt; a step that was done again has. Of
    a step put together, the own work of its slowest rank is right, and its typical own
    work is that of the half with more ranks.

    Args:
        rollups: Rows of StepRollups.
    """
    rows = rollups.collect().sort(*_STEP, "start_ns", "end_ns")
    longest = pl.col("duration_ns_max").max().over(_STEP) * pl.col("step_count")
    before = pl.col("end_ns").shift(1).over(_STEP)
    most = pl.col("ranks").max().over("run_id", "attempt", "scope")
    both = pl.col("ranks") + pl.col("ranks").shift(1).over(_STEP)
    night = (pl.col("start_ns") // DAY_NS).diff().over(_STEP)
    is_half = (pl.col("start_ns") - before <= longest) & (both <= most) & (night == 1)
    is_again = ~is_half.fill_null(value=False)
    told = rows.with_columns(time=is_again.cast(pl.Int64))
    numbered = told.with_columns(pl.col("time").cum_sum().over(_STEP))
    is_parted = pl.len().over(*_STEP, "time") > 1
    parted = numbered.filter(is_parted)
    whole = numbered.filter(~is_parted)
    if parted.height:
        whole = pl.concat([whole, _together(parted).select(whole.columns)])
    ranked = whole.filter(pl.col("scope") == "rank").select(_STEP[:3]).unique()
    means = whole.filter(pl.col("scope") != "rank")
    alone = means.join(ranked, on=_STEP[:3], how="anti", nulls_equal=True)
    kept = pl.concat([whole.filter(pl.col("scope") == "rank"), alone])
    return kept.drop("time").sort("run_id", "attempt", "start_ns", "step")


def _together(halves: pl.DataFrame) -> pl.DataFrame:
    """Add up the halves of steps."""
    of_larger = pl.col("typical_work_ns").sort_by("ranks").last()
    is_slowest = pl.col("slowest_work_ns") == pl.col("slowest_work_ns").max()
    names = [*[f"{part}_total" for part in _TOTALS], "stalled_ranks"]
    told = [f"{part.removesuffix('_ns')}_ranks" for part in PARTS]
    return halves.group_by(*_STEP, "time").agg(
        pl.col("start_ns").min(),
        pl.col("end_ns").max(),
        *[pl.col(name).sum() for name in ("ranks", "rows", *told)],
        pl.col("step_count").max(),
        *[_sum_where_told(name) for name in (*names, "tokens")],
        pl.col("duration_ns_max").max(),
        *[pl.col(f"{part}_max").max() for part in GREATEST],
        pl.col("wait_scope").max(),
        pl.col("clock").min(),
        pl.col("slowest_work_ns").max(),
        slowest_rank=pl.col("slowest_rank").filter(is_slowest).min(),
        typical_work_ns=of_larger,
    )


def _sum_where_told(column: str) -> pl.Expr:
    known = pl.col(column).count() > 0
    return pl.when(known).then(pl.col(column).sum()).alias(column)


def mean_steps(rollups: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows of StepTimings that stand for those of all ranks.

    A part that some ranks did not tell counts as nothing of theirs, so that totals stay
    what they are.

    Args:
        rollups: Rows of StepRollups.

    Returns:
        A row for each step: `run_mean`, from the earliest start of a rank, with means
        over the ranks. What rounding leaves is carried to the next step of as many
        ranks, so that the means of an attempt add up to less than a nanosecond a rank;
        those of own work, to that for each part.
    """
    return mean_rows(whole_steps(rollups)).lazy()


def mean_rows(
    whole: pl.DataFrame, more: Sequence[str] = (), tellers: str = "ranks"
) -> pl.DataFrame:
    """Return the same rows of what `whole_steps` returns, with some of its columns.

    Args:
        whole: What `whole_steps` returns.
        more: Columns of it to return, too.
        tellers: The column that says over how many ranks parts are averaged. [1]
    """
    return whole.select(
        pl.lit(STAND_IN).alias("file_id"),
        *["run_id", "attempt", "step"],
        pl.lit(None, pl.Int32).alias("rank"),
        "start_ns",
        _mean(pl.col("duration_ns_total"), "ranks").alias("duration_ns"),
        *_parts(tellers),
        *["wait_scope", "clock"],
        pl.lit("run_mean").alias("scope"),
        "step_count",
        _mean(pl.col("tokens"), "ranks").alias("tokens"),
        *more,
    )


def _parts(tellers: str) -> Iterator[pl.Expr]:
    """Return the means of parts; together they are the mean of what they add up to.

    Own work is what the others leave of that: were each rounded alone, parts that fill
    a step would not fill its mean.
    """
    others = [part for part in PARTS if part != _WORK]
    is_told = pl.col(f"{_WORK}_total").is_not_null()
    means = [_mean(pl.col(f"{part}_total"), tellers, is_told) for part in others]
    yield from (mean.alias(part) for mean, part in zip(means, others, strict=True))
    together = pl.sum_horizontal(f"{part}_total" for part in PARTS)
    left = _mean(together, tellers, is_told) - pl.sum_horizontal(means)
    yield pl.when(is_told).then(left.clip(0)).alias(_WORK)


def _mean(total: pl.Expr, over: str, *alike: pl.Expr) -> pl.Expr:
    """Return the mean over ranks, what rounding left before included."""
    ranks = pl.col(over)
    rest = (total % ranks).fill_null(0)
    until = rest.cum_sum().over("run_id", "attempt", over, *alike)
    return total // ranks + until // ranks - (until - rest) // ranks
