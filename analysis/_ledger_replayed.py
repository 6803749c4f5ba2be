"""Steps of ranks split by what operations waited for, with a replay or without."""

from typing import NamedTuple

import polars as pl

from analysis._bubble_replay import replay_error
from analysis._ledger_explained import explained
from analysis._ledger_waiting import RANK_STEP, spent
from analysis._replay_steps import Replay
from analysis.intervals import END, START
from analysis.replays import RELIABLE_UP_TO


class Replayed(NamedTuple):
    """Operations of a trace beside what a replay makes of them.

    Attributes:
        rows: The operations, and first_ns, when the step began by the clock of the
            trace. [ns]
        limits: What the schedule explains of each rank's waits for stages: RANK_STEP
            and bubble_limit, null where the replay is not reliable. [ns]
        is_reliable: Whether replayed steps are near enough to the measured ones.
        has_transfers: Whether the trace shows transfers between stages.
    """

    rows: pl.DataFrame
    limits: pl.DataFrame
    is_reliable: bool
    has_transfers: bool


def replayed(replay: Replay, rows: pl.DataFrame) -> Replayed:
    """Return the operations of a replay, and what its schedule explains.

    Args:
        replay: Replay of the trace.
        rows: Its operations on the clock of the trace: columns of RANK_STEP, start_ns.
    """
    told = replay.operations.select(
        *RANK_STEP, "kind", "is_transfer", "own_ns", "duration_ns", begun="start_ns"
    )
    ranks = told.select(RANK_STEP).unique()
    kept = rows.join(ranks, on=RANK_STEP, how="semi")
    first = kept.group_by("step").agg(first_ns=pl.col(START).min())
    dated = told.join(first, on="step")
    is_reliable = replay_error(replay) <= RELIABLE_UP_TO
    unknown = ranks.with_columns(bubble_limit=pl.lit(None, pl.Int64))
    limits = explained(replay) if is_reliable else unknown
    return Replayed(dated, limits, is_reliable, replay.graph.has_transfers)


def split_waits(found: Replayed, windows: pl.DataFrame) -> pl.DataFrame:
    """Measure steps of which a replay tells who waited for whom.

    Where no transfer is recorded, a rank with nothing on while passes of its step go
    on waits for another stage, as far as the schedule explains it. What the schedule
    explains is not told by a replay that is far from what was measured: then all
    waiting for stages is the bubble, and the basis says so.

    Args:
        found: Operations of these steps.
        windows: Columns of RANK_STEP, start_ns, end_ns and ended_ns. [ns]

    Returns:
        The windows that have rows, with straggler_wait, pipeline_bubble,
        exposed_communication, productive, idle (collection of garbage, and short gaps
        with nothing on; nothing tells of longer ones), bubble_limit and basis. [ns]
    """
    rows = found.rows
    start = pl.col("first_ns") + pl.col("begun")
    wait = (pl.col("duration_ns") - pl.col("own_ns")).clip(0)
    told = pl.when("is_transfer").then(start + wait).otherwise(start)
    actual = rows.select(
        *[*RANK_STEP, "kind"],
        start.alias(START),
        (start + pl.col("duration_ns")).alias(END),
        until_ns=told,
    )
    here = windows.join(rows, on=RANK_STEP, how="semi")
    measured = spent(actual, here)
    both = here.join(measured, on=RANK_STEP).join(found.limits, on=RANK_STEP)
    quiet = pl.lit(0) if found.has_transfers else pl.col("quiet_ns")
    bubble = pl.min_horizontal(pl.col("stages_ns") + quiet, "bubble_limit")
    waited = pl.max_horizontal(pl.col("stages_ns") - bubble, 0)
    return both.with_columns(
        straggler_wait=pl.col("replicas_ns") + waited,
        pipeline_bubble=bubble,
        exposed_communication=pl.col("communication_ns"),
        productive=pl.col("compute_ns"),
        idle=pl.col("garbage_ns") + pl.col("short_ns"),
        basis=pl.lit("operations" if found.is_reliable else "operations_whole_bubble"),
    )


def without_waits(
    rows: pl.DataFrame, windows: pl.DataFrame, complete: pl.DataFrame
) -> pl.DataFrame:
    """Measure steps of which nothing tells what was waiting.

    Where operations are missing from a step, any gap may be one of them.

    Args:
        rows: Columns of RANK_STEP, kind, start_ns and end_ns. [ns]
        windows: As for `split_waits`, whose columns are returned.
        complete: Columns of RANK_STEP: steps in which no operation is missing.
    """
    alone = windows.with_columns(ended_ns=pl.col(START))
    measured = spent(rows.with_columns(until_ns=START), alone)
    whole = complete.with_columns(is_whole=pl.lit(value=True))
    both = windows.join(measured, on=RANK_STEP).join(whole, on=RANK_STEP, how="left")
    short = pl.when("is_whole").then("short_ns").otherwise(0)
    return both.with_columns(
        straggler_wait=pl.lit(0),
        pipeline_bubble=pl.lit(0),
        exposed_communication=pl.col("communication_ns"),
        productive=pl.col("compute_ns"),
        idle=pl.col("garbage_ns") + short,
        bubble_limit=pl.lit(None, pl.Int64),
        basis=pl.lit("operations_include_wait"),
    )
