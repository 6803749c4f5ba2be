"""What each rank did itself in each step: its duration without the waits."""

from typing import Final

import polars as pl

from analysis.placing import place
from ingest.tables import StepTimings

#: Rows to hold at once: steps are taken in portions of about this many. A row takes
#: some 100 B while it is compared with its peers.
PORTION_ROWS: Final = 500_000

#: Steps of a block. The median of a block forgets single slow steps, and blocks hardly
#: depend on each other where steps correlate up to 0.4.
BLOCK_STEPS: Final = 10

#: Blocks of all ranks of a run: longer runs have longer blocks, so that what is kept
#: of a run does not grow with its length. 1,024 ranks have 40,960 steps in tens.
MOST_BLOCKS: Final = 1 << 22

#: Blocks that a run may have at least, whatever its ranks.
LEAST_BLOCKS: Final = 512

#: More than a run has ranks, which are Int32.
_RANKS: Final = 1 << 31

#: Columns of a step of a rank.
COLUMNS: Final = (
    "run_id",
    "attempt",
    "step",
    "rank",
    "start_ns",
    "duration_ns",
    "wait_ns",
    "wait_scope",
    "data_ns",
    "transfer_ns",
)


def rank_steps(
    timings: pl.LazyFrame, traced: pl.LazyFrame, attempts: pl.LazyFrame
) -> pl.LazyFrame:
    """Return what is known of the steps of ranks, from step logs or from traces.

    Traces count in runs whose logs tell no waits: a trace times steps on the device and
    may number them otherwise, so that the two do not compare.
    """
    of_ranks = (StepTimings.scope.col == "rank") & StepTimings.rank.col.is_not_null()
    told = timings.filter(of_ranks).rename({"communication_ns": "transfer_ns"})
    logged = told.select(COLUMNS)
    has_attempt = pl.col("attempt").is_not_null()
    placed = place(logged.filter(~has_attempt), attempts, "start_ns")
    steps = pl.concat([logged.filter(has_attempt), placed.select(COLUMNS)])
    with_waits = logged.filter(pl.col("wait_ns").is_not_null()).select("run_id")
    others = traced.join(with_waits.unique(), on="run_id", how="anti")
    return pl.concat([steps, others.select(COLUMNS)])


def plan_portions(
    steps: pl.LazyFrame, block_steps: int, portion_rows: int
) -> pl.DataFrame:
    """Number the blocks of each run's steps, and the portions to take them in.

    Returns:
        Columns `run_id`, `step`, `number` (of both), `block`, `portion`, `rows` and
        `known` (rows with a wait), in order. No block is in two portions.
    """
    counted = (
        steps.group_by("run_id", "step")
        .agg(
            rows=pl.len().cast(pl.Int64),
            known=pl.col("wait_ns").is_not_null().cast(pl.Int64).sum(),
        )
        .collect(engine="streaming")
        .sort("run_id", "step")
        .with_row_index("number")
    )
    position, total = pl.int_range(pl.len()), pl.len().cast(pl.Int64)
    blocks_at_most = (MOST_BLOCKS // pl.col("rows").max()).clip(LEAST_BLOCKS)
    at_most = block_steps * blocks_at_most
    times = pl.max_horizontal((total + at_most - 1) // at_most, 1)
    blocks = counted.with_columns(
        block=(position // (block_steps * times)).over("run_id")
    )
    before = pl.col("rows").cum_sum() - pl.col("rows")
    numbered = blocks.with_columns(portion=before // portion_rows)
    first = pl.col("portion").min().over("run_id", "block")
    return numbered.with_columns(portion=first)


def portion_of(steps: pl.LazyFrame, plan: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each rank and step of a portion, with `work_ns` and `block`.

    Only rows whose wait is known are kept: without it everyone's step looks alike.
    Where a step log and a trace tell of the same step, the first start counts.
    """
    first, last = plan["step"].min(), plan["step"].max()
    runs = plan["run_id"].unique().sort()
    near = StepTimings.step.col.is_between(first, last)
    found = steps.filter(near & pl.col("run_id").is_in(runs.implode()))
    work = (pl.col("duration_ns") - pl.col("wait_ns")).clip(0)
    known = found.filter(pl.col("wait_ns").is_not_null()).with_columns(work_ns=work)
    keys = ["step"] if runs.len() == 1 else ["run_id", "step"]
    planned = plan.lazy().select(*keys, "number", "block")
    return keep_first(known.join(planned, on=keys).collect(engine="streaming"))


def keep_first(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each step of a rank once: of several, the one that began first."""
    if _is_unique(rows):
        return rows
    cell = ["number", "attempt", "rank"]
    return rows.sort("start_ns", "work_ns").unique(cell, keep="first")


def _is_unique(rows: pl.DataFrame) -> bool:
    """Return whether each rank has each step once, by one number where that tells."""
    if rows["attempt"].n_unique() > 1:
        return rows.n_unique(["number", "attempt", "rank"]) == rows.height
    seat = pl.col("number").cast(pl.Int64) * _RANKS + pl.col("rank")
    return int(rows.select(seat.n_unique()).item()) == rows.height


def varying(rows: pl.DataFrame, by: list[str]) -> list[str]:
    """Return the columns that tell groups apart, at least one: fewer are faster."""
    return [name for name in by if rows[name].n_unique() > 1] or by[:1]
