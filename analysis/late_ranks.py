"""One row per rank with what collectives tell of its arrivals."""

from typing import ClassVar, Final

import dataframely as dy
import numpy as np
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._clock_shifts import Clocks, clocks_of
from analysis._collective_ranks import waits_in_batches
from analysis.attempts import Attempts
from analysis.clock_offsets import ClockOffsets
from analysis.gpus import Gpus
from ingest.tables import Collectives, Table
from ingest.tables import _columns as c

#: Chance of calling any rank late in an attempt of equal ranks. Reports run nightly: at
#: one in a hundred a fleet of a hundred healthy runs shows about one false name.
SIGNIFICANCE: Final = 0.01


#: Share of its time that a rank must cost the others alone. Equal GPUs differ by some
#: 0.3 % for ever: of two that meet often the slower one is last nearly always, and
#: that says nothing.
LEAST_RATIO: Final = 0.02


class LateRanks(Table):
    """One row per rank with what collectives tell of its arrivals."""

    key: ClassVar = ("run_id", "attempt", "rank")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    rank = c.index("Global rank.")
    collectives_count = c.count(
        "Complete collectives with a last arrival that the rank took part in."
    )
    last_count = c.count("Collectives that it arrived last in.")
    expected_count = c.quantity(
        "Collectives that it would have arrived last in by chance.", "1"
    )
    wait_ns = c.duration_ns("Its waits together.")
    late_ns = c.duration_ns(
        "How much later than the next-to-last it arrived, together."
    )
    p_value = c.real("Chance of being last so often among equal ranks.")
    is_late = c.flag(
        "Whether that is beyond chance, over all ranks of the attempt together, and"
        " costs the others more than healthy ranks do."
    )


def find_late_ranks(
    collectives: dy.LazyFrame[Collectives],
    attempts: dy.LazyFrame[Attempts],
    significance: float = SIGNIFICANCE,
    least_ratio: float = LEAST_RATIO,
    clocks: Clocks | None = None,
) -> dy.DataFrame[LateRanks]:
    """Tell the ranks that arrive last more often than equal ranks would.

    Among n equal ranks each is last with probability 1/n. How often a rank was last is
    then a sum of independent trials; its tail is at most that of a binomial with their
    mean probability, and equal to it where all groups have the same size (Hoeffding,
    Ann. Math. Statist. 27, 1956, theorem 4). All ranks of an attempt are tested
    together, by Holm's method, so that a healthy fleet as a whole flags a rank with at
    most this probability. Beyond chance is not yet much: a late rank must also cost
    the others a share of the time that it was watched for.

    Args:
        collectives: What ranks saw of collectives.
        attempts: Attempts, for traces that do not tell theirs.
        significance: Chance of flagging any rank of an attempt of equal ranks. [1]
        least_ratio: Lateness over time watched that matters. [1]
        clocks: What is known of clocks; None: all times are of one clock.

    Returns:
        One row per attempt and rank that took part in a complete collective.
    """
    batches = waits_in_batches(collectives, attempts, clocks)
    parts = [_per_trace(waits) for waits in batches]
    ranks = _per_rank(pl.concat(parts))
    judged = _holm(ranks.with_columns(p_value=_tail(ranks)), significance)
    matters = LateRanks.late_ns.col >= least_ratio * pl.col("watched_ns")
    judged = judged.with_columns(LateRanks.is_late.col & matters.fill_null(value=False))
    rows = judged.select(LateRanks.column_names()).sort(LateRanks.key)
    return LateRanks.validate(rows, cast=True)


def _per_trace(waits: pl.LazyFrame) -> pl.DataFrame:
    """Add up each rank's part by trace; only where one rank is clearly last, it counts.

    Chances are kept by the number of ranks they are shared among, so that their sum
    does not depend on the order of the rows.
    """
    has_last = pl.col("last_rank").is_not_null()
    is_last = (pl.col("last_rank") == pl.col("rank")).fill_null(value=False)
    known = pl.col("joint") & pl.col("is_complete") & pl.col("rank").is_not_null()
    by = ("run_id", "attempt", "rank", "trace_id", "ranks_seen")
    return (
        waits.filter(known)
        .group_by(by)
        .agg(
            collectives_count=has_last.cast(pl.Int64).sum(),
            last_count=is_last.cast(pl.Int64).sum(),
            wait_ns=pl.col("wait_ns").sum(),
            late_ns=pl.col("late_ns").filter(is_last).sum(),
            from_ns=pl.col("start_ns").min(),
            to_ns=pl.col("end_ns").max(),
        )
        .collect()
    )


def _per_rank(parts: pl.DataFrame) -> pl.DataFrame:
    rank = ["run_id", "attempt", "rank"]
    watched = parts.group_by(*rank, "trace_id").agg(
        watched_ns=pl.col("to_ns").max() - pl.col("from_ns").min()
    )
    times = watched.group_by(rank).agg(pl.col("watched_ns").sum())
    chance = pl.col("collectives_count") / pl.col("ranks_seen")
    counts = pl.col("collectives_count", "last_count", "wait_ns", "late_ns")
    by_size = parts.group_by(*rank, "ranks_seen").agg(counts.sum())
    sums = by_size.group_by(rank).agg(
        counts.sum(), expected_count=chance.sort_by("ranks_seen").sum()
    )
    return sums.join(times, on=rank)


def _tail(ranks: pl.DataFrame) -> pl.Series:
    """Return the chance of being last at least so often. [1]"""
    from scipy.stats import binom

    trials = ranks["collectives_count"].to_numpy()
    chance = ranks["expected_count"].to_numpy() / np.maximum(trials, 1)
    return pl.Series(binom.sf(ranks["last_count"].to_numpy() - 1, trials, chance))


def _holm(ranks: pl.DataFrame, significance: float) -> pl.DataFrame:
    """Tell which ranks are late, at a level over all of their attempt together.

    The smallest p-value is held against level / m, the next one against
    level / (m - 1), and so on until the first that stands.
    Source: Holm, Scand. J. Statist. 6, 1979.
    """
    attempt = ("run_id", "attempt")
    p_value, order = LateRanks.p_value.col, pl.int_range(pl.len())
    ordered = ranks.sort(*attempt, "p_value", "rank").with_columns(
        falls=(p_value * (pl.len() - order) < significance).over(attempt)
    )
    is_late = pl.col("falls").cast(pl.Int8).cum_min().over(attempt) > 0
    return ordered.with_columns(is_late=is_late)


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    found = find_late_ranks(
        frames[Collectives],
        frames[Attempts],
        thresholds["late_rank_significance"],
        thresholds["late_rank_least_ratio"],
        clocks_of(frames),
    )
    return {LateRanks: found}


ANALYSIS: Final = Analysis(
    name="late_ranks",
    version=2,
    describes="Which ranks arrive last at collectives, beyond chance",
    inputs=(Collectives, Attempts, Gpus, ClockOffsets),
    outputs=(LateRanks,),
    compute=_compute,
    thresholds={
        "late_rank_significance": SIGNIFICANCE,
        "late_rank_least_ratio": LEAST_RATIO,
    },
)
