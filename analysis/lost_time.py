"""One row per run, attempt, day, account and basis."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._ledger_accounts import ACCOUNTS
from analysis._ledger_book import Ledger, book_all
from analysis._ledger_evidence import place_known
from analysis._ledger_gathered import gather
from analysis._ledger_ladder import LADDER
from analysis._ledger_log import PORTION_ROWS
from analysis._ledger_progress import completed_steps
from analysis._ledger_returns import find_returns
from analysis._ledger_seats import number_seats
from analysis._ledger_zones import frontiers
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.clock_offsets import ClockOffsets
from analysis.gpus import Gpus
from analysis.overlap import Overlap
from analysis.runs import Runs
from analysis.step_rollups import StepRollups
from ingest.tables import (
    Checkpoints,
    Collectives,
    Kernels,
    Operations,
    StepTimings,
    Table,
)
from ingest.tables import _columns as c
from ingest.times import DAY_NS, day_of

_TOTAL: Final = pl.Decimal(38, 0)


class LostTime(Table):
    """One row per run, attempt, day, account and basis."""

    key: ClassVar = ("run_id", "attempt", "day", "category", "basis")

    run_id = c.identifier("Run that paid.")
    attempt = c.index("Attempt; null between attempts.", nullable=True)
    day = c.identifier("UTC day, as YYYY-MM-DD.")
    category = c.choice("Account.", ACCOUNTS)
    basis = c.choice("Evidence: the best there is for each rank and step.", LADDER)
    gpu_ns = c.gpu_time_ns("GPU time in the account.")


def account_time(
    frames: Frames, portion_rows: int = PORTION_ROWS
) -> dy.DataFrame[LostTime]:
    """Book every GPU-nanosecond that was paid for to one account.

    Each attempt of each GPU is cut into time before its first completed step and after
    its last, cells of steps, and gaps between them. A cell whose step the run went back
    to is recompute. Gaps in which it went back while its job went on are restart, like
    what is before the cells and after them. Any other cell is split by the best
    evidence that its own rank has of this very step. Waiting for another stage of the
    pipeline is its bubble up to what a replay of the run's operations explains, all of
    it where there are none. Time in which a tracer of operations recorded none is idle
    only as far as launches explain it, else unattributed.

    Args:
        frames: Attempts, allocations, overlap, step timings, kernels, operations,
            collectives, checkpoints, runs and GPUs.
        portion_rows: Rows of step logs to hold at once. [1]

    Returns:
        One row per run, attempt, UTC day, account and basis, in the order of the key.
        Over a run they add up to its allocations, to the nanosecond. [ns]
    """
    gathered = gather(frames, portion_rows)
    ledger = Ledger(
        seats=number_seats(frames[Allocations], gathered.known).collect().lazy(),
        fronts=frontiers(
            frames[Attempts], gathered.shown, completed_steps(gathered.shown)
        )
        .collect()
        .lazy(),
        returns=find_returns(gathered.shown).collect().lazy(),
        checkpoints=place_known(frames[Checkpoints], frames[Attempts]).collect().lazy(),
    )
    booked = pl.concat(book_all(gathered, ledger)).lazy()
    total = pl.col("gpu_ns").sum().cast(_TOTAL)
    dated = booked.with_columns(day=day_of(pl.col("day") * DAY_NS))
    rows = dated.group_by(LostTime.key).agg(total).sort(LostTime.key)
    return LostTime.validate(rows.collect(), cast=True)


def _compute(frames: Frames, _: Thresholds) -> Results:
    return {LostTime: account_time(frames)}


ANALYSIS: Final = Analysis(
    name="lost_time",
    version=11,
    describes="Where every GPU-second that was paid for went",
    inputs=(
        Attempts,
        Allocations,
        Overlap,
        StepTimings,
        StepRollups,
        Kernels,
        Operations,
        Collectives,
        Checkpoints,
        Gpus,
        Runs,
        ClockOffsets,
    ),
    needs=(Allocations,),
    outputs=(LostTime,),
    compute=_compute,
)
