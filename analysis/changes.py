"""What changed between two sides, and what of it is larger than its noise."""

from typing import Final

import polars as pl

from analysis._change_samples import shares, step_times
from analysis._change_sides import Side
from analysis._change_stops import stops
from analysis._change_tests import differences
from analysis.attempts import Attempts
from analysis.interrupt_rates import FEW_EVENTS
from analysis.interruptions import Interruptions
from analysis.lost_time import LostTime
from analysis.robust import false_discovery_q
from analysis.step_rollups import StepRollups
from analysis.stragglers import StragglerRanks
from ingest.tables import StepTimings, Table

__all__ = ["INPUTS", "MOST_Q", "Side", "changes"]

#: Tables that are compared.
INPUTS: Final[tuple[type[Table], ...]] = (
    LostTime,
    StepTimings,
    StepRollups,
    Attempts,
    Interruptions,
    StragglerRanks,
)

#: Share of false findings that is borne among what is called a change. [1]
MOST_Q: Final = 0.05

#: Changes of the time of a step below this are none: GPUs differ a little for ever.
#: The minimum effect of stragglers. [1]
LEAST_STEP_CHANGE: Final = 0.01

#: Of these more is better; of all others less.
_GOOD: Final = ("productive",)

#: Accounts that only stops fill.
_BY_STOPS: Final = ("restart", "recompute")

#: Days that each side must have, where they are not days of the same runs: one day of
#: another run does not tell how its days differ. [1]
LEAST_DAYS: Final = 1.5

_SCHEMA: Final = {
    "measure": pl.String,
    "subject": pl.String,
    "before": pl.Float64,
    "now": pl.Float64,
    "change": pl.Float64,
    "noise": pl.Float64,
    "p_value": pl.Float64,
    "before_count": pl.Int64,
    "now_count": pl.Int64,
}


def changes(before: Side, now: Side) -> pl.DataFrame:
    """Compare accounts, step times, interruptions and slow GPUs of two sides.

    All tests together keep the share of false findings below MOST_Q (Benjamini and
    Hochberg 1995). Slow GPUs were tested before: they are new, gone or in both; they
    are of whole runs, and not compared where sides are days of the same runs.

    Args:
        before: The baseline.
        now: What is compared with it.

    Returns:
        `measure`, `subject`, `before`, `now`, `change`, `noise`, `p_value`,
        `before_count`, `now_count`, `q_value` and `verdict`: better, worse, same
        (within its noise), little (outside its noise, but too little to matter),
        by_chance (outside its noise, as one of so many may be), not_testable, new or
        gone.
    """
    is_days = bool(now.since or now.until or before.since or before.until)
    rows = _tested(before, now, least=1.0 if is_days else LEAST_DAYS)
    told = rows.with_columns(
        q_value=pl.when(pl.col("p_value").is_not_null()).then(
            false_discovery_q(pl.col("p_value")).over(pl.col("p_value").is_null())
        )
    ).with_columns(verdict=_verdict())
    slow = told.clear() if is_days else _slow(before, now)
    return pl.concat([told, slow], how="diagonal_relaxed").sort("measure", "subject")


def _tested(before: Side, now: Side, least: float) -> pl.DataFrame:
    by_run = _runs(before) != 1 or _runs(now) != 1
    earlier, later = (step_times(side, by_run=by_run) for side in (before, now))
    stopped = stops(before, now)
    accounts = differences(shares(before), shares(now), least)
    is_there = (pl.col("before") > 0) | (pl.col("now") > 0)
    tested = [
        _with_stops(accounts.filter(is_there), stopped),
        differences(earlier, later),
        stopped,
    ]
    return pl.concat(
        [pl.DataFrame(schema=_SCHEMA), *(one for one in tested if one.height)],
        how="diagonal_relaxed",
    )


def _with_stops(accounts: pl.DataFrame, stopped: pl.DataFrame) -> pl.DataFrame:
    """Leave out tests of accounts that a few stops fill, where those do not differ.

    Days without a stop say nothing of what one costs: their spread is no noise.
    """
    if stopped.is_empty():
        return accounts
    row = stopped.row(0, named=True)
    is_few = min(row["before_count"], row["now_count"]) < FEW_EVENTS
    if not is_few or row["p_value"] < MOST_Q:
        return accounts
    untold = pl.when(~pl.col("measure").is_in(_BY_STOPS))
    return accounts.with_columns(
        untold.then("noise").alias("noise"), untold.then("p_value").alias("p_value")
    )


def _runs(side: Side) -> int:
    runs = side.rows(StepTimings).select(pl.col("run_id").n_unique())
    return int(runs.collect(engine="streaming").item())


def _verdict() -> pl.Expr:
    """Say what a change is; its noise is where its own test has a p-value of MOST_Q."""
    is_more = pl.col("change") > 0
    is_little = (pl.col("measure") == "step_time") & (
        pl.col("change").abs() < LEAST_STEP_CHANGE * pl.col("before")
    )
    is_good = is_more == pl.col("measure").is_in(_GOOD)
    return (
        pl.when(pl.col("q_value").is_null())
        .then(pl.lit("not_testable"))
        .when((pl.col("p_value") >= MOST_Q) | (pl.col("change") == 0))
        .then(pl.lit("same"))
        .when(is_little)
        .then(pl.lit("little"))
        .when(pl.col("q_value") >= MOST_Q)
        .then(pl.lit("by_chance"))
        .when(is_good)
        .then(pl.lit("better"))
        .otherwise(pl.lit("worse"))
    )


def _slow(before: Side, now: Side) -> pl.DataFrame:
    """Return what is slow on one side alone, with its slowdown."""
    sides = [_slowest(side) for side in (before, now)]
    both = sides[0].join(
        sides[1], on="subject", how="full", coalesce=True, suffix="_now"
    )
    is_new, is_gone = pl.col("ratio").is_null(), pl.col("ratio_now").is_null()
    return both.select(
        "subject",
        measure=pl.lit("slow"),
        before=pl.col("ratio") - 1,
        now=pl.col("ratio_now") - 1,
        verdict=pl.when(is_new)
        .then(pl.lit("new"))
        .when(is_gone)
        .then(pl.lit("gone"))
        .otherwise(pl.lit("same")),
    )


def _slowest(side: Side) -> pl.DataFrame:
    named = pl.col("scope") + " " + pl.col("scope_id")
    slow = side.rows(StragglerRanks).filter(pl.col("lost_gpu_ns") > 0)
    return (
        slow.group_by(subject=named)
        .agg(ratio=pl.col("slowdown_ratio").max())
        .sort("subject")
        .collect()
    )
