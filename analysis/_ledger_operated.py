"""What traced operations tell of steps, one trace at a time."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._ledger_clock import on_a_clock
from analysis._ledger_evidence import TRACED_TYPES
from analysis._ledger_replayed import replayed, split_waits, without_waits
from analysis._ledger_waiting import RANK_STEP
from analysis._replay import Layouts, replays_of
from analysis._replay_kinds import known_kind
from analysis._replay_room import outlasting_steps
from analysis._replay_steps import NotReplayable, Replay
from analysis.intervals import END, START
from ingest.tables import Operations

#: Operations of a trace that are measured at once, whole steps of them. Each takes up
#: to a kilobyte.
PORTION_ROWS: Final = 500_000

#: What is told of a step of a rank, and its type.
_COLUMNS: Final = TRACED_TYPES | {
    "straggler_wait": pl.Int64,
    "pipeline_bubble": pl.Int64,
    "exposed_communication": pl.Int64,
    "productive": pl.Int64,
    "idle": pl.Int64,
    "bubble_limit": pl.Int64,
    "basis": pl.String,
}


def operated_cells(
    operations: pl.LazyFrame,
    attempts: pl.LazyFrame,
    portion_rows: int = PORTION_ROWS,
    layouts: Layouts | None = None,
) -> pl.DataFrame:
    """Return how each rank spent its traced steps, by its operations.

    A wait for replicas of the own stage is for a straggler. A wait for other stages is
    the pipeline's bubble up to what a replay has of it in which every operation takes
    the median of its peers; what is beyond is for a straggler, too. Of steps that
    cannot be replayed nothing tells what was waiting: all communication that compute
    does not hide is exposed, and the basis says so; the same where replicas or the last
    stage are missing. Steps with lengths that cannot be are left out.

    Collection of garbage is idle. Time in which no operation of a rank is recorded is
    idle only in gaps as short as launches explain, in steps of which no operation is
    missing: what longer ones were, no tracer of operations tells.

    A step lasts from the first operation of any rank to that of the next step, where
    the trace has the next one and it begins within the length of a step, else to the
    last end of any rank.

    Args:
        operations: Rows of Operations.
        attempts: Rows of Attempts.
        portion_rows: Operations to measure at once. [1]
        layouts: What run cards say of the layout, where they are known.

    Returns:
        Columns run_id, attempt, trace_id, device (null), rank, step, start_ns, end_ns,
        straggler_wait, pipeline_bubble, exposed_communication, productive, idle,
        bubble_limit (null without a replay) and basis. [ns]
    """
    clocked = on_a_clock(operations)
    nothing = pl.DataFrame(schema=_COLUMNS)
    parts = [
        part
        for found in replays_of(operations, attempts, layouts=layouts)
        for part in _of_trace(clocked, found, portion_rows)
    ]
    order = ("run_id", "attempt", "trace_id", *RANK_STEP)
    return pl.concat([nothing, *parts]).sort(order)


def _of_trace(
    clocked: pl.LazyFrame, found: Replay | NotReplayable, portion_rows: int
) -> Iterator[pl.DataFrame]:
    kind = known_kind(Operations.kind.col).cast(pl.String)
    rows = (
        found.trace.rows(clocked)
        .select(
            *RANK_STEP,
            START,
            (pl.col(START) + Operations.duration_ns.col).alias(END),
            kind=kind,
        )
        .drop_nulls("kind")
        .collect()
    )
    rows = _sound(rows, found)
    windows = _windows(rows)
    known = None
    if isinstance(found, Replay) and not found.doubts.partial():
        known = replayed(found, rows)
    for steps in _portions(rows, portion_rows):
        some = windows.filter(pl.col("step").is_in(steps))
        if known is not None:
            own = known.rows.filter(pl.col("step").is_in(steps))
            yield _named(split_waits(known._replace(rows=own), some), found)
            some = some.join(own, on=RANK_STEP, how="anti")
        others = rows.join(some, on=RANK_STEP, how="semi")
        yield _named(without_waits(others, some, _complete(found)), found)


def _complete(found: Replay | NotReplayable) -> pl.DataFrame:
    """Return the steps of ranks that a replay found to have all their operations."""
    if isinstance(found, NotReplayable):
        return pl.DataFrame(
            schema=dict(zip(RANK_STEP, [pl.Int64, pl.Int32], strict=True))
        )
    return found.operations.select(RANK_STEP).unique()


def _sound(rows: pl.DataFrame, found: Replay | NotReplayable) -> pl.DataFrame:
    """Leave out steps in which an operation outlasts what begins after it."""
    if isinstance(found, Replay) and not found.steps_passed_over:
        wrong = list(found.doubts.steps_outlasting)
    else:
        turn = pl.col(START).rank("ordinal").over(*RANK_STEP, "kind").cast(pl.Int64)
        length = pl.col(END) - pl.col(START)
        timed = rows.with_columns(position=turn - 1, at_ns=START, duration_ns=length)
        wrong = outlasting_steps(timed).to_list()
    return rows.filter(~pl.col("step").is_in(wrong)) if wrong else rows


def _portions(rows: pl.DataFrame, portion_rows: int) -> list[list[int]]:
    """Return the steps that are measured together."""
    counted = rows.group_by("step").agg(rows=pl.len().cast(pl.Int64)).sort("step")
    before = pl.col("rows").cum_sum() - pl.col("rows")
    numbered = counted.with_columns(portion=before // portion_rows)
    grouped = numbered.group_by("portion", maintain_order=True).agg("step")
    return [list(steps) for steps in grouped["step"]]


def _windows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the window of each step of each rank, and when the last rank ended."""
    steps = rows.group_by("step").agg(pl.col(START).min(), ended_ns=pl.col(END).max())
    ordered = steps.sort("step").with_columns(
        next_step=pl.col("step").shift(-1), next_ns=pl.col(START).shift(-1)
    )
    apart = pl.col("next_ns") - pl.col("ended_ns")
    follows = (
        (pl.col("next_step") == pl.col("step") + 1)
        & (pl.col("next_ns") > pl.col(START))
        & (apart <= pl.col("ended_ns") - pl.col(START))
    )
    end = pl.when(follows).then("next_ns").otherwise("ended_ns")
    bounds = ordered.select("step", START, end.alias(END), "ended_ns")
    return rows.select(RANK_STEP).unique().join(bounds, on="step").sort(RANK_STEP)


def _named(rows: pl.DataFrame, found: Replay | NotReplayable) -> pl.DataFrame:
    names = {name: getattr(found, name) for name in ("run_id", "attempt", "trace_id")}
    known = rows.with_columns(**{key: pl.lit(value) for key, value in names.items()})
    placed = known.with_columns(device=pl.lit(None))
    return placed.select(pl.col(name).cast(kind) for name, kind in _COLUMNS.items())
