"""One row per run, attempt, day, account and basis."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._ledger_accounts import ACCOUNTS
from analysis._ledger_book import book
from analysis._ledger_cells import attach_traces
from analysis._ledger_evidence import place_known
from analysis._ledger_gathered import Gathered, gather
from analysis._ledger_ladder import LADDER, weigh
from analysis._ledger_progress import completed_steps
from analysis._ledger_seats import SEAT, at_seats, number_seats, share_seats
from analysis._ledger_zones import frontiers, zones
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.overlap import Overlap
from ingest.tables import Checkpoints, Collectives, Kernels, StepTimings, Table
from ingest.tables import _columns as c
from ingest.times import DAY_NS, day_of

_ATTEMPT: Final = ["run_id", "attempt"]


class LostTime(Table):
    """One row per run, attempt, day, account and basis."""

    key: ClassVar = ("run_id", "attempt", "day", "category", "basis")

    run_id = c.identifier("Run that paid.")
    attempt = c.index("Attempt; null between attempts.", nullable=True)
    day = c.identifier("UTC day, as YYYY-MM-DD.")
    category = c.choice("Account.", ACCOUNTS)
    basis = c.choice("Evidence: the best there is for each rank and step.", LADDER)
    gpu_ns = c.gpu_time_ns("GPU time in the account.")


def account_time(frames: Frames) -> dy.DataFrame[LostTime]:
    """Book every GPU-nanosecond that was paid for to one account.

    Each attempt of each GPU is cut into time before its first completed step and after
    its last, cells of steps, and gaps between them. A cell whose step the run went back
    to is recompute. Any other is split by the best evidence that its own rank has of
    this very step. Waiting at a send or receive is all booked as the pipeline's bubble:
    how much of it the schedule explains takes a replay.

    Args:
        frames: Attempts, allocations, overlap, step timings, kernels, collectives and
            checkpoints.

    Returns:
        One row per run, attempt, UTC day, account and basis, in the order of the key.
        Over a run they add up to its allocations, to the nanosecond. [ns]
    """
    attempts = frames[Attempts]
    gathered = gather(frames)
    fronts = frontiers(attempts, gathered.shown, completed_steps(gathered.shown))
    seats = number_seats(frames[Allocations]).collect().lazy()
    rows, shared = _bring_to_seats(gathered, seats)
    basis = attempts.group_by("run_id").agg(is_job=(Attempts.basis.col == "jobs").any())
    job_basis = pl.when("is_job").then(pl.lit("jobs")).otherwise(pl.lit("none"))
    zoned = (
        zones(shared, rows, fronts)
        .join(basis, on="run_id", how="left")
        .with_columns(job_basis=job_basis)
        .collect()
        .lazy()
    )
    checkpoints = place_known(frames[Checkpoints], attempts)
    booked = book(weigh(rows), zoned, checkpoints, seats)
    dated = booked.with_columns(
        day=day_of(pl.col("day") * DAY_NS), gpu_ns=pl.col("gpu_ns").cast(_TOTAL)
    )
    ordered = dated.select(LostTime.column_names()).sort(LostTime.key)
    return LostTime.validate(ordered.collect(), cast=True)


_TOTAL: Final = pl.Decimal(38, 0)


def _bring_to_seats(
    gathered: Gathered, seats: pl.LazyFrame
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Bring the evidence to the GPUs that were paid for.

    A GPU without evidence of its own takes the mean over the run, where there is one.

    Returns:
        The steps of seats, and the seats.
    """
    has_rank = pl.col("rank").is_not_null()
    logged = at_seats(gathered.logged.filter(has_rank), seats).collect().lazy()
    traced = at_seats(gathered.traced, seats).collect().lazy()
    means = gathered.logged.filter(~has_rank).drop("rank")
    known = pl.concat([logged.select(SEAT), traced.select(SEAT)])
    shared = share_seats(seats, known, means).collect().lazy()
    takers = shared.filter("has_mean").select(*_ATTEMPT, SEAT)
    of_all = means.join(takers, on=_ATTEMPT).drop(_ATTEMPT)
    rows = pl.concat([attach_traces(logged, traced), of_all], how="diagonal")
    return rows.collect().lazy(), shared


def _compute(frames: Frames, _: Thresholds) -> Results:
    return {LostTime: account_time(frames)}


ANALYSIS: Final = Analysis(
    name="lost_time",
    version=1,
    describes="Where every GPU-second that was paid for went",
    inputs=(
        Attempts,
        Allocations,
        Overlap,
        StepTimings,
        Kernels,
        Collectives,
        Checkpoints,
    ),
    outputs=(LostTime,),
    compute=_compute,
)
