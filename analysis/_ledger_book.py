"""Every nanosecond that was paid for, booked to one account."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._ledger_accounts import FILLED, split_steps
from analysis._ledger_cells import attach_traces, cut_cells, gaps
from analysis._ledger_days import sum_by_day
from analysis._ledger_gathered import Gathered
from analysis._ledger_ladder import weigh
from analysis._ledger_layers import layered
from analysis._ledger_log import PORTION_ROWS
from analysis._ledger_returns import split_gaps
from analysis._ledger_seats import SEAT, at_seats, own_seats, share_seats
from analysis._ledger_stalls import stalls_in_gaps
from analysis._ledger_zones import zones

_ATTEMPT: Final = ["run_id", "attempt"]

#: Accounts of steps, of the gaps between them, and of the time in which an attempt got
#: nowhere or a GPU was no rank.
_STEPS: Final = (*FILLED, "unattributed", "recompute")
_GAPS: Final = ("checkpoint_stall", "unattributed")
_EDGES: Final = ("restart", "unallocated")


@dataclass(frozen=True, slots=True)
class Ledger:
    """What was paid for, and what is known of it beside its steps.

    Attributes:
        seats: What `number_seats` returns.
        fronts: What `frontiers` returns.
        returns: What `find_returns` returns.
        checkpoints: Rows of Checkpoints, each with its attempt.
    """

    seats: pl.LazyFrame
    fronts: pl.LazyFrame
    returns: pl.LazyFrame
    checkpoints: pl.LazyFrame


def book_all(gathered: Gathered, ledger: Ledger) -> Iterator[pl.DataFrame]:
    """Book the time of all seats, those with rows in one portion of the log at a time.

    A seat without evidence of its own takes the mean over the run, where there is one.

    Returns:
        Frames with the columns run_id, attempt, day (since the epoch), category, basis
        and gpu_ns: what they tell adds up.
    """
    has_rank = pl.col("rank").is_not_null()
    seats = ledger.seats
    traced = at_seats(gathered.traced, seats).collect().lazy()
    known, means = [traced.select(SEAT).collect()], []
    for portion in gathered:
        means.append(portion.filter(~has_rank).drop("rank"))
        steps = at_seats(portion.filter(has_rank), seats).collect().lazy()
        own = steps.select(SEAT).unique().collect()
        windows = traced.join(own.lazy(), on=SEAT, how="semi")
        known.append(own)
        yield _book(attach_traces(steps, windows), own_seats(seats, own.lazy()), ledger)
    logged = pl.concat(known[1:]).lazy()
    of_all = pl.concat(means)
    standing = of_all.filter(pl.col("row_ranks").is_not_null())
    placed = traced.join(logged, on=SEAT, how="anti")
    for mine, rows in _stood_in(placed, seats, standing):
        windows = placed.join(mine, on=SEAT, how="semi")
        logged = pl.concat([logged, mine])
        yield _book(attach_traces(rows, windows), own_seats(seats, mine), ledger)
    alone = traced.join(logged, on=SEAT, how="anti")
    shared = share_seats(seats, pl.concat(known).lazy(), of_all).collect().lazy()
    silent = pl.concat([own_seats(seats, alone), shared.filter(~pl.col("has_mean"))])
    rows = attach_traces(steps.head(0), alone)
    yield _book(rows, silent, ledger)
    for takers, told in layered(shared.filter("has_mean"), seats, of_all):
        yield _book(pl.concat([rows.head(0), told], how="diagonal"), takers, ledger)


def _stood_in(
    placed: pl.LazyFrame, seats: pl.LazyFrame, standing: pl.LazyFrame
) -> Iterator[tuple[pl.LazyFrame, pl.LazyFrame]]:
    """Give seats with traces alone the steps that stand for those of all ranks.

    Args:
        placed: Windows of traces, by seat.
        seats: What `number_seats` returns.
        standing: Means that stand for the rows of ranks.

    Returns:
        Seats, some at a time, and their steps.
    """
    steps = standing.group_by(_ATTEMPT).agg(rows=pl.len().cast(pl.Int64))
    mine = seats.join(placed.select(SEAT).unique(), on=SEAT, how="semi")
    counted = mine.select(*_ATTEMPT, SEAT).join(steps, on=_ATTEMPT).sort(SEAT)
    before = pl.col("rows").cum_sum() - pl.col("rows")
    cut = counted.with_columns(portion=before // PORTION_ROWS).collect()
    for some in cut.partition_by("portion", maintain_order=True):
        held = some.lazy().select(*_ATTEMPT, SEAT)
        rows = standing.join(held, on=_ATTEMPT).drop(_ATTEMPT).collect()
        yield held.select(SEAT), rows.lazy()


def _book(rows: pl.LazyFrame, seats: pl.LazyFrame, ledger: Ledger) -> pl.DataFrame:
    """Book the time of some seats: steps, the gaps between them, and the rest.

    Args:
        rows: All steps of these seats, from `attach_traces`.
        seats: Seats, as `share_seats` returns them.
        ledger: What was paid for.
    """
    told = rows.collect().lazy()
    zoned = zones(seats, told, ledger.fronts).collect().lazy()
    cells = cut_cells(weigh(told), zoned).collect().lazy()
    back, still = split_gaps(gaps(cells, zoned), ledger.returns)
    between = stalls_in_gaps(still, ledger.checkpoints, ledger.seats)
    sums = [
        _by_category(split_steps(cells), _STEPS, (SEAT, "basis")),
        _by_category(between, _GAPS, (SEAT,)),
        _by_category(_restarting(back), ("restart",), (SEAT,)),
        _by_category(_edges(zoned), _EDGES, (SEAT,)),
    ]
    entries = pl.concat(sums, how="diagonal").join(zoned, on=SEAT)
    has_evidence = pl.col("is_known") | pl.col("has_mean")
    silent = (
        pl.when(pl.col("category") == "checkpoint_stall")
        .then(pl.lit("step_parts"))
        .when((pl.col("category") == "unattributed") & has_evidence)
        .then(pl.lit("none"))
        .otherwise("job_basis")
    )
    return entries.select(
        *[*_ATTEMPT, "day", "category"],
        basis=pl.coalesce("basis", silent),
        gpu_ns=pl.col("gpu_ns") * pl.col("weight"),
    ).collect()


def _edges(zoned: pl.LazyFrame) -> pl.LazyFrame:
    """Return the time of each seat before its zone and after it."""
    is_spare = pl.col("role").is_in(["spare", "repair"])
    sides = [
        zoned.select(SEAT, is_spare=is_spare, start_ns=first, end_ns=last)
        for first, last in (("from_ns", "opened_ns"), ("closed_ns", "to_ns"))
    ]
    length = pl.col("end_ns") - pl.col("start_ns")
    return pl.concat(sides).with_columns(
        restart=pl.when("is_spare").then(0).otherwise(length),
        unallocated=pl.when("is_spare").then(length).otherwise(0),
    )


def _restarting(pieces: pl.LazyFrame) -> pl.LazyFrame:
    return pieces.with_columns(restart=pl.col("end_ns") - pl.col("start_ns"))


def _by_category(
    cells: pl.LazyFrame, accounts: Sequence[str], by: Sequence[str]
) -> pl.LazyFrame:
    long = sum_by_day(cells, accounts, by).unpivot(
        accounts, index=[*by, "day"], variable_name="category", value_name="gpu_ns"
    )
    return long.filter(pl.col("gpu_ns") > 0)
