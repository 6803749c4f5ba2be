"""One row for each run: its verdict, and what its feed cost."""

from typing import Final

import polars as pl

from analysis._feed_cover import PASS
from analysis._feed_verdicts import NOT_TOLD

_RUN: Final = "run_id"
_TOTAL: Final = pl.Decimal(38, 0)


def runs_of(
    faults: pl.DataFrame,
    steps: pl.DataFrame,
    passes: pl.DataFrame,
    blind: pl.DataFrame,
    ledger: pl.DataFrame,
) -> pl.DataFrame:
    """Return a row for each run with steps.

    Args:
        faults: The violations.
        steps: The steps.
        passes: What `passes_of` returns.
        blind: What cannot be told of each run.
        ledger: Rows of LostTime.
    """
    booked = ledger.filter(pl.col("category") == "data_stall")
    stalls = booked.group_by(_RUN).agg(data_stall_gpu_ns=_total("gpu_ns"))
    told = (
        _of_steps(steps)
        .join(_of_faults(faults), on=_RUN, how="left")
        .join(_of_passes(passes), on=_RUN, how="left")
        .join(blind, on=_RUN, how="left")
        .join(stalls, on=_RUN, how="left")
        .with_columns(pl.col("violations_count").fill_null(0))
    )
    unread = pl.col("ranks").is_null()
    spots = pl.when(unread).then(pl.lit(NOT_TOLD)).otherwise("blind_spots")
    return told.with_columns(
        blind_spots=spots,
        verdict=pl.when(pl.col("violations_count") > 0)
        .then(pl.lit("violations"))
        .when(spots.is_null())
        .then(pl.lit("complete"))
        .otherwise(pl.lit("cannot tell")),
    )


def _of_steps(steps: pl.DataFrame) -> pl.DataFrame:
    is_kept, is_read = pl.col("is_kept"), pl.col("ranks_seen").is_not_null()
    kept_read = is_kept & is_read
    stalled = is_kept & (pl.col("stalled_ranks") > 0)
    told = pl.col("stalled_ranks").filter(is_kept).count() > 0
    samples = pl.col("samples").filter(kept_read)
    ordered = steps.sort(_RUN, "attempt", "step")
    return ordered.group_by(_RUN).agg(
        steps_count=kept_read.sum().cast(pl.Int64),
        redone_count=(is_read & ~is_kept).sum().cast(pl.Int64),
        ranks=pl.col("ranks_seen").max(),
        readers=pl.col("readers_expected").max(),
        lacking_count=(pl.col("lacking").filter(kept_read) > 0).sum().cast(pl.Int64),
        samples=pl.when((samples.null_count() == 0) & (samples.len() > 0)).then(
            samples.cast(pl.Int128).sum().cast(pl.Int64, strict=False)
        ),
        imbalance_ratio=pl.col("imbalance_ratio").filter(kept_read).mean(),
        longest_document=pl.col("longest_document").max(),
        stalled_count=pl.when(told).then(stalled.sum().cast(pl.Int64)),
        stalled_gpu_ns=pl.when(told).then(
            _total("data_gpu_ns", where=stalled.fill_null(value=False))
        ),
    )


def _of_faults(faults: pl.DataFrame) -> pl.DataFrame:
    known = pl.col("gpu_ns").count() > 0
    return faults.group_by(_RUN).agg(
        violations_count=pl.len().cast(pl.Int64),
        lost_gpu_ns=pl.when(known).then(_total("gpu_ns")),
    )


def _of_passes(passes: pl.DataFrame) -> pl.DataFrame:
    one = passes.select(*PASS, "is_ordered")
    return one.group_by(_RUN).agg(pl.col("is_ordered").all())


def _total(column: str, where: pl.Expr | None = None) -> pl.Expr:
    values = pl.col(column) if where is None else pl.col(column).filter(where)
    return values.cast(pl.Int128).sum().cast(_TOTAL)
