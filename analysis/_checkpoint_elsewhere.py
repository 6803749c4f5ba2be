"""Saves that bear a run's name and cannot be its own, by their time or step."""

from typing import Final

import polars as pl

from ingest.times import DAY_NS

#: Time outside a run at which nothing of it is saved: more than a zone is off. [ns]
FAR_NS: Final = DAY_NS

#: Steps of a save over the last step of its run, from which no other way to number
#: steps, as by micro-batches, explains it. [1]
FAR_STEPS_RATIO: Final = 100

_RUN: Final = "run_id"


def told_elsewhere(rows: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Tell which saves cannot be of their run: `is_elsewhere`.

    Of runs that nothing else tells of, none is.

    Args:
        rows: Rows of saves with run_id, step and start_ns.
        attempts: Rows of Attempts.
    """
    logged = pl.col("last_step").filter(pl.col("step_basis") == "steps")
    ends = attempts.group_by(_RUN).agg(
        _from=pl.col("start_ns").min(),
        _to=pl.col("end_ns").max(),
        _last=logged.max(),
        _open=pl.col("is_running").any(),
    )
    start = pl.col("start_ns")
    early = start + FAR_NS < pl.col("_from")
    late = (start - FAR_NS > pl.col("_to")) & ~pl.col("_open")
    beyond = pl.col("step") / FAR_STEPS_RATIO > pl.col("_last").clip(1)
    is_far = (early | late | beyond).fill_null(value=False)
    told = rows.join(ends, on=_RUN, how="left").with_columns(is_elsewhere=is_far)
    return told.drop("_from", "_to", "_last", "_open")


def parted(saves: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the saves of their runs, and run_id and elsewhere_save_count of others.

    Args:
        saves: Columns of SAVE and is_elsewhere.
    """
    counted = saves.filter("is_elsewhere").group_by(_RUN)
    own = saves.filter(~pl.col("is_elsewhere")).drop("is_elsewhere")
    return own, counted.agg(elsewhere_save_count=pl.len().cast(pl.Int64))
