"""What saves and loads say of a run: how often, how long, how much, and what failed."""

from typing import Final

import polars as pl

_ATTEMPT: Final = ["run_id", "attempt"]


def seen_saves(saves: pl.DataFrame) -> pl.DataFrame:
    """Return what the saves of each run tell.

    The interval is the work between the starts of two saves of one attempt, without
    the stall of the first; times are medians, which a hang between two saves does not
    move.

    Args:
        saves: Columns of SAVE, those of one source.

    Returns:
        A row for each run: save_count, interval_ns, interval_steps, stall_ns, held_ns
        (until it was done), flush_ns (until it was safe), bytes, tiers and
        failed_save_count. [ns]
    """
    ordered = saves.sort("run_id", "start_ns", "step", "tier")
    between = pl.col("start_ns").shift(-1) - pl.col("start_ns")
    pairs = ordered.unique([*_ATTEMPT, "step", "start_ns"], keep="first").sort(
        "run_id", "start_ns", "step"
    )
    spaced = pairs.with_columns(
        between=(between - pl.col("stall_ns").fill_null(0)).over(_ATTEMPT),
        steps=(pl.col("step").shift(-1) - pl.col("step")).over(_ATTEMPT),
    )
    gaps = spaced.group_by("run_id").agg(
        interval_ns=_middle(pl.col("between").filter(pl.col("between") > 0)),
        interval_steps=_middle(pl.col("steps").filter(pl.col("steps") > 0)),
    )
    return _sizes(ordered).join(gaps, on="run_id", how="left")


def _sizes(saves: pl.DataFrame) -> pl.DataFrame:
    safe = pl.col("durable_ns") - pl.col("start_ns")
    return saves.group_by("run_id").agg(
        save_count=pl.len().cast(pl.Int64),
        stall_ns=_middle(pl.col("stall_ns")),
        held_ns=_middle(pl.col("duration_ns")),
        flush_ns=_middle(safe.filter(safe >= 0)),
        bytes=_middle(pl.col("bytes")),
        tiers=pl.col("tier").drop_nulls().unique().sort().str.join(", "),
        failed_save_count=_failed(),
    )


def seen_tiers(saves: pl.DataFrame) -> pl.DataFrame:
    """Return the stalls of the nearest and the farthest tier of runs with several.

    Near is where a save stalls least, far where it stalls most.

    Args:
        saves: Columns of SAVE.

    Returns:
        Columns run_id, near_stall_ns and far_stall_ns, a row for each run with stalls
        of two tiers. [ns]
    """
    told = saves.filter(pl.col("tier").is_not_null() & pl.col("stall_ns").is_not_null())
    tiers = told.group_by("run_id", "tier").agg(stall=_middle(pl.col("stall_ns")))
    ends = tiers.group_by("run_id").agg(
        near_stall_ns=pl.col("stall").min(), far_stall_ns=pl.col("stall").max()
    )
    return ends.filter(pl.col("near_stall_ns") < pl.col("far_stall_ns"))


def _failed() -> pl.Expr:
    """Count saves without an end, null where no save of the run has one."""
    done = pl.col("duration_ns").is_not_null()
    safe = pl.col("durable_ns").is_not_null()
    lost = (done.any() & ~done & ~safe) | (safe.any() & ~safe)
    return pl.when(done.any() | safe.any()).then(lost.sum().cast(pl.Int64))


def seen_loads(loads: pl.DataFrame) -> pl.DataFrame:
    """Return how many loads each run had, and how long they took. [ns]"""
    return loads.group_by("run_id").agg(
        load_count=pl.len().cast(pl.Int64), load_ns=_middle(pl.col("duration_ns"))
    )


def older_resumes(saves: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
    """Count the restarts that did not come back to the newest save.

    An attempt that goes on at a step before that of a save made earlier could not use
    it: it was not whole, not safe, or not found.

    Args:
        saves: Columns of SAVE.
        attempts: Rows of Attempts.

    Returns:
        Columns run_id and older_resume_count.
    """
    resumed = attempts.filter(pl.col("resumed_step").is_not_null()).select(
        *_ATTEMPT, "resumed_step", from_ns="start_ns"
    )
    saved = saves.filter(pl.col("step").is_not_null()).select(
        "run_id", "step", saved_ns="start_ns"
    )
    pairs = resumed.join(saved, on="run_id").filter(
        pl.col("saved_ns") < pl.col("from_ns")
    )
    newest = pairs.group_by(_ATTEMPT).agg(
        is_older=pl.col("step").sort_by("saved_ns").last()
        > pl.col("resumed_step").first()
    )
    return newest.group_by("run_id").agg(
        older_resume_count=pl.col("is_older").sum().cast(pl.Int64)
    )


def _middle(values: pl.Expr) -> pl.Expr:
    """Return the median as a whole number. [ns or 1]"""
    return values.median().round().cast(pl.Int64)
