"""Who arrives last at collectives beyond chance, and who waits for whom."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._clock_shifts import Clocks, clocks_of
from analysis._collective_ranks import waits_in_batches
from analysis._late_sums import (
    bundled,
    edges,
    sums_by_rank,
    sums_by_size,
    sums_by_trace,
)
from analysis._late_tests import holm, with_tails
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
    complete_count = c.count(
        "Complete collectives that the rank took part in: those of wait_ns."
    )
    collectives_count = c.count(
        "Those of them in which a rank is clearly last, no tie within the residual of"
        " clocks: the ones that last_count, expected_count, late_ns and p_value are of."
    )
    last_count = c.count("Collectives that it arrived last in.")
    expected_count = c.quantity(
        "Collectives that it would have arrived last in by chance.", "1"
    )
    wait_ns = c.duration_ns("Its waits together, in all complete collectives.")
    late_ns = c.duration_ns(
        "How much later than the next-to-last it arrived, together."
    )
    p_value = c.real(
        "Chance of being last so often among equal ranks; at most that where it took"
        " part in over 4096 collectives of groups of different sizes."
    )
    is_late = c.flag(
        "Whether that is beyond chance, over all ranks of the attempt together, and"
        " costs the others more than healthy ranks do."
    )
    verdict = c.choice(
        "Why it is late or not: late; within what chance allows; or beyond chance, but"
        " its lateness is below the share of the time watched that matters.",
        ("late", "within_chance", "below_share"),
    )


class WaitingEdges(Table):
    """One row per late rank and rank, or bundle of ranks, that waited for it."""

    key: ClassVar = ("run_id", "attempt", "waiting_rank", "late_rank")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    waiting_rank = c.index("Global rank that waited, or the first of a bundle.")
    waiting_to_rank = c.index(
        "Last rank of the bundle: above 64 ranks, neighbours are put together."
    )
    late_rank = c.index("Global rank that was clearly the last.")
    collectives_count = c.count("Waits that were added up.")
    wait_ns = c.duration_ns("How long they waited for it, together.")


def find_late_ranks(
    collectives: dy.LazyFrame[Collectives],
    attempts: dy.LazyFrame[Attempts],
    significance: float = SIGNIFICANCE,
    least_ratio: float = LEAST_RATIO,
    clocks: Clocks | None = None,
) -> dy.DataFrame[LateRanks]:
    """Tell the ranks that arrive last more often than equal ranks would.

    All ranks of an attempt are tested together, by Holm's method, so that a healthy
    fleet as a whole flags a rank with at most this probability. Beyond chance is not
    yet much: a late rank must also cost the others a share of the time that it was
    watched for.

    Args:
        collectives: What ranks saw of collectives.
        attempts: Attempts, for traces that do not tell theirs.
        significance: Chance of flagging any rank of an attempt of equal ranks. [1]
        least_ratio: Lateness over time watched that matters. [1]
        clocks: What is known of clocks; None: all times are of one clock.

    Returns:
        One row per attempt and rank that took part in a complete collective.
    """
    parts, _ = _sums(collectives, attempts, clocks)
    return _judged(parts, significance, least_ratio)


def find_waiting(
    collectives: dy.LazyFrame[Collectives],
    attempts: dy.LazyFrame[Attempts],
    clocks: Clocks | None = None,
) -> dy.DataFrame[WaitingEdges]:
    """Tell how long ranks waited for each rank that was clearly the last.

    Args:
        collectives: What ranks saw of collectives.
        attempts: Attempts, for traces that do not tell theirs.
        clocks: What is known of clocks; None: all times are of one clock.
    """
    _, waited = _sums(collectives, attempts, clocks)
    return _graph(waited)


def _sums(
    collectives: dy.LazyFrame[Collectives],
    attempts: dy.LazyFrame[Attempts],
    clocks: Clocks | None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    batches = waits_in_batches(collectives, attempts, clocks)
    found = [pl.collect_all([sums_by_trace(waits), edges(waits)]) for waits in batches]
    parts, waited = zip(*found, strict=True)
    return pl.concat(parts), pl.concat(waited)


def _judged(
    parts: pl.DataFrame, significance: float, least_ratio: float
) -> dy.DataFrame[LateRanks]:
    sizes = sums_by_size(parts)
    ranks = with_tails(sums_by_rank(parts, sizes), sizes)
    judged = holm(ranks, significance)
    matters = LateRanks.late_ns.col >= least_ratio * pl.col("watched_ns")
    judged = judged.with_columns(_verdict(LateRanks.is_late.col, matters))
    judged = judged.with_columns(is_late=LateRanks.verdict.col == "late")
    rows = judged.select(LateRanks.column_names()).sort(LateRanks.key)
    return LateRanks.validate(rows, cast=True)


def _verdict(is_beyond: pl.Expr, matters: pl.Expr) -> pl.Expr:
    return (
        pl.when(~is_beyond)
        .then(pl.lit("within_chance"))
        .when(matters.fill_null(value=False))
        .then(pl.lit("late"))
        .otherwise(pl.lit("below_share"))
        .alias("verdict")
    )


def _graph(waited: pl.DataFrame) -> dy.DataFrame[WaitingEdges]:
    rows = bundled(waited).select(WaitingEdges.column_names())
    return WaitingEdges.validate(rows.sort(WaitingEdges.key), cast=True)


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    parts, waited = _sums(frames[Collectives], frames[Attempts], clocks_of(frames))
    levels = thresholds["late_rank_significance"], thresholds["late_rank_least_ratio"]
    return {LateRanks: _judged(parts, *levels), WaitingEdges: _graph(waited)}


ANALYSIS: Final = Analysis(
    name="late_ranks",
    version=3,
    describes="Which ranks arrive last at collectives, and who waits for whom",
    inputs=(Collectives, Attempts, Gpus, ClockOffsets),
    needs=(Collectives,),
    outputs=(LateRanks, WaitingEdges),
    compute=_compute,
    thresholds={
        "late_rank_significance": SIGNIFICANCE,
        "late_rank_least_ratio": LEAST_RATIO,
    },
)
