"""Every nanosecond that was paid for, booked to one account."""

import polars as pl

from analysis._ledger_accounts import FILLED, split_steps
from analysis._ledger_cells import cut_cells, gaps
from analysis._ledger_days import sum_by_day
from analysis._ledger_stalls import stalls_in_gaps

#: Accounts of the time in which an attempt got nowhere, and of GPUs that are no rank.
_EDGES = ("restart", "unallocated")
_GAPS = ("checkpoint_stall", "unattributed")
_STEPS = (*FILLED, "idle", "recompute")
_ENTRY = ("run_id", "attempt", "day", "category", "basis")


def book(
    rows: pl.LazyFrame,
    zoned: pl.LazyFrame,
    checkpoints: pl.LazyFrame,
    seats: pl.LazyFrame,
) -> pl.LazyFrame:
    """Book the time of every seat: its steps, the gaps between them, and the rest.

    Args:
        rows: Steps at seats with what the best evidence says, from `weigh`.
        zoned: Seats, from `zones`, with job_basis: what the attempts were taken from.
        checkpoints: Rows of Checkpoints, each with its attempt.
        seats: What `number_seats` returns.

    Returns:
        Columns run_id, attempt, day (since the epoch), category, basis and gpu_ns.
    """
    cells = cut_cells(rows, zoned).collect().lazy()
    open_time = stalls_in_gaps(gaps(cells, zoned), checkpoints, seats)
    has_evidence = pl.col("is_known") | pl.col("has_mean")
    silent = pl.when(has_evidence).then(pl.lit("none")).otherwise("job_basis")
    sums = [
        _by_category(sum_by_day(split_steps(cells), _STEPS), _STEPS),
        _by_category(sum_by_day(open_time.with_columns(basis=silent), _GAPS), _GAPS),
        _by_category(sum_by_day(_edges(zoned), _EDGES), _EDGES),
    ]
    is_stall = pl.col("category") == "checkpoint_stall"
    is_silent = pl.col("basis").is_in(["none", "jobs"])
    logged = pl.when(is_stall & is_silent).then(pl.lit("step_parts"))
    booked = pl.concat(sums).with_columns(basis=pl.coalesce(logged, "basis"))
    return booked.group_by(_ENTRY).agg(pl.col("gpu_ns").sum())


def _edges(zoned: pl.LazyFrame) -> pl.LazyFrame:
    """Return the time of each seat before its zone and after it."""
    before = zoned.with_columns(start_ns="from_ns", end_ns="opened_ns")
    after = zoned.with_columns(start_ns="closed_ns", end_ns="to_ns")
    length = pl.col("end_ns") - pl.col("start_ns")
    is_spare = pl.col("role").is_in(["spare", "repair"])
    return pl.concat([before, after]).with_columns(
        basis="job_basis",
        restart=pl.when(is_spare).then(0).otherwise(length),
        unallocated=pl.when(is_spare).then(length).otherwise(0),
    )


def _by_category(sums: pl.LazyFrame, accounts: tuple[str, ...]) -> pl.LazyFrame:
    long = sums.unpivot(
        accounts,
        index=["run_id", "attempt", "day", "basis"],
        variable_name="category",
        value_name="gpu_ns",
    )
    return long.filter(pl.col("gpu_ns") > 0)
