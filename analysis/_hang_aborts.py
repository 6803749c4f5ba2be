"""Counts of ranks whose collectives were aborted, and counted as completed."""

from dataclasses import replace

import polars as pl

from analysis._hang_dumps import HANG, RANK
from analysis._hang_joint import JOINT
from analysis._hang_members import GROUP
from analysis._hang_moments import mark_moments
from analysis._hang_progress import Progress


def without_aborts(progress: Progress, dumps: pl.DataFrame) -> Progress:
    """Take back ends of aborted collectives, in hangs that they alone pull apart.

    Where dumps are of different moments even so, what empty ones claim is true.

    Args:
        progress: How far ranks got.
        dumps: Rows of `dumps_of`.
    """
    fewer = _without_aborted(progress.counts, progress.pending, dumps)
    marked = mark_moments(dumps, replace(progress, counts=fewer))
    apart = marked.filter("is_elsewhen").select(HANG).unique()
    kept = [
        fewer.join(apart, on=HANG, how="anti"),
        progress.counts.join(apart, on=HANG, how="semi"),
    ]
    return replace(progress, counts=pl.concat(kept))


def _without_aborted(
    counts: pl.DataFrame, pending: pl.DataFrame, dumps: pl.DataFrame
) -> pl.DataFrame:
    """Take back ends that only the status of an empty dump tells, and others deny.

    A watchdog that gives up aborts what is open, and that counts as completed; a dump
    of open entries alone then holds none. Where no fewer ranks of the group show the
    same collective open than empty dumps claim its end, it has not ended.

    Args:
        counts: How far ranks got in their groups.
        pending: Entries that did not end.
        dumps: Rows of `dumps_of`.
    """
    shown = pending.filter(pl.col("kind").is_in(JOINT)).group_by(GROUP)
    open_ = shown.agg(
        oldest=pl.col("sequence").min(), showing=pl.col("rank").n_unique()
    )
    bare = dumps.filter(pl.col("entries") == 0).select(RANK)
    rows = counts.join(open_, on=GROUP, how="left").join(
        bare.with_columns(is_bare=pl.lit(value=True)), on=RANK, how="left"
    )
    claims = pl.col("is_bare") & (pl.col("finished") >= pl.col("oldest"))
    claims &= pl.col("finished") >= 0
    claims = (claims & ~pl.col("is_paired")).fill_null(value=False)
    few = claims.sum().over(GROUP) <= pl.col("showing")
    before = pl.when(claims & few).then(pl.col("oldest") - 1)
    return rows.with_columns(finished=pl.min_horizontal("finished", before)).drop(
        "oldest", "showing", "is_bare"
    )
