"""Phases of stops inside an attempt: what its GPUs cost while it stood still."""

from typing import Final

import polars as pl

_ATTEMPT: Final = ["run_id", "attempt"]
_PHASE: Final = [*_ATTEMPT, "stop", "phase"]


def inside_phases(
    rows: pl.DataFrame, held: pl.DataFrame, left: pl.DataFrame
) -> pl.DataFrame:
    """Add what the GPUs of the attempt cost while it stood still.

    Where the run went back the ledger books that as restart; the phases share what it
    booked by their length, so that they add up to it. Of a pause in which it did not,
    the ledger knows no more than that nothing is known.

    Args:
        rows: Phases of stops inside attempts, with the `kind` of their stop.
        held: GPUs of attempts: run_id, attempt, from_ns, to_ns and gpus.
        left: What is booked as restart inside attempts: run_id, attempt and left. [ns]

    Returns:
        The rows with gpu_ns and account, and one without `stop` for what no stop
        explains.
    """
    told = rows.filter(pl.col("phase").is_in(["hang", "start"]))
    weighed = told.join(_paid(told, held), on=_PHASE, how="left").with_columns(
        pl.col("gpu_ns").fill_null(0)
    )
    is_back = pl.col("kind") == "went_back"
    paused = weighed.filter(~is_back).with_columns(account=pl.lit("unattributed"))
    back = weighed.filter(is_back)
    alone = left.filter(pl.col("left") > 0).join(back, on=_ATTEMPT, how="anti")
    unexplained = alone.select(*_ATTEMPT, phase=pl.lit("start"), gpu_ns="left")
    booked = [_shared(back, left), unexplained]
    restarts = pl.concat(booked, how="diagonal").with_columns(account=pl.lit("restart"))
    return pl.concat([paused, restarts], how="diagonal").drop("kind")


def _paid(rows: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    meeting = rows.join(held, on=_ATTEMPT, suffix="_held")
    begin = pl.max_horizontal("from_ns", "from_ns_held")
    end = pl.min_horizontal("to_ns", "to_ns_held")
    length = (end - begin).clip(0).fill_null(0).cast(pl.Int128)
    return meeting.group_by(_PHASE).agg(gpu_ns=(length * pl.col("gpus")).sum())


def _shared(rows: pl.DataFrame, left: pl.DataFrame) -> pl.DataFrame:
    """Share what is booked among phases by their length; all to the last of none."""
    is_last = pl.int_range(pl.len()).over(_ATTEMPT) == pl.len().over(_ATTEMPT) - 1
    length = pl.col("gpu_ns").cast(pl.Int128)
    weight = (
        pl.when(length.sum().over(_ATTEMPT) > 0)
        .then(length)
        .otherwise(is_last.cast(pl.Int128))
    )
    ordered = rows.sort(_PHASE).with_columns(_weight=weight)
    reached = ordered.with_columns(
        _done=pl.col("_weight").cum_sum().over(_ATTEMPT),
        _all=pl.col("_weight").sum().over(_ATTEMPT),
    ).join(left, on=_ATTEMPT, how="left", maintain_order="left")
    total, done = pl.col("left").fill_null(0), pl.col("_done")
    before = done - pl.col("_weight")
    share = total * done // pl.col("_all") - total * before // pl.col("_all")
    return reached.with_columns(gpu_ns=share).drop("_weight", "_done", "_all", "left")
