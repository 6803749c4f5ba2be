"""One row per GPU paid for, while it had one role."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._ledger_slots import count_slots
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.runs import Runs
from ingest.tables import Table
from ingest.tables import _columns as c


class Allocations(Table):
    """One row per GPU paid for, while it had one role."""

    key: ClassVar = ("run_id", "attempt", "rank", "host", "gpu_uuid", "slot", "from_ns")

    run_id = c.identifier("Run that paid.")
    attempt = c.index(
        "Attempt that held the GPU; null between attempts.", nullable=True
    )
    cluster = c.identifier("Cluster of the GPU.", nullable=True)
    rank = c.index(
        "Global rank; null for other roles, and where no source tells it.",
        nullable=True,
    )
    slot = c.index("Position among the GPUs of the attempt: ranks first.")
    trace_id = c.identifier(
        "Trace that the GPU is known by, where no rank is.", nullable=True
    )
    device = c.index("Device inside that trace, where no rank is known.", nullable=True)
    host = c.identifier("Node of the GPU.", nullable=True)
    gpu_uuid = c.identifier("UUID of the GPU.", nullable=True)
    from_ns = c.time_ns("Start of the time paid for.")
    to_ns = c.time_ns("End of the time paid for.")
    role = c.choice(
        "What the GPU was held for.", ("rank", "spare", "repair", "restart")
    )


#: Columns that tell one attempt from another.
_ATTEMPT: Final = ("run_id", "attempt")


def find_allocations(
    runs: dy.LazyFrame[Runs],
    attempts: dy.LazyFrame[Attempts],
    gpus: dy.LazyFrame[Gpus],
) -> dy.DataFrame[Allocations]:
    """List every GPU that a run paid for, and when.

    A job pays for its GPUs from its start to its end; without one, the GPUs seen are
    paid for while the attempt was seen, one that only traces know while they last. A
    reserved run also pays for its reservation: between its attempts, where as many GPUs
    as the next one holds wait for the restart, and beyond what an attempt holds, where
    they are spare. Time in the queue is never paid for, and attempts of a run share no
    time.

    Args:
        runs: Runs, with their billing.
        attempts: Attempts of these runs.
        gpus: GPUs known by a rank, as a spare or by a trace.

    Returns:
        One row per GPU and role, in the order of the key; none without length.
    """
    seats = _seats(gpus, attempts)
    counted = count_slots(attempts, seats, runs)
    rows = [_numbered(seats, counted), *_unnamed(counted), *_between(counted)]
    paid = pl.concat(rows, how="diagonal").filter(pl.col("from_ns") < pl.col("to_ns"))
    return Allocations.validate(
        paid.select(Allocations.column_names()).sort(Allocations.key).collect(),
        cast=True,
    )


def _seats(gpus: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Keep the GPUs that count: without a job only those seen at work."""
    basis = attempts.select(*_ATTEMPT, "basis")
    rows = gpus.join(basis, on=list(_ATTEMPT)).with_columns(
        is_spare=Gpus.rank.col.is_null() & Gpus.trace_id.col.is_null()
    )
    return rows.filter(Gpus.is_seen.col | (pl.col("basis") == "jobs"))


def _numbered(seats: pl.LazyFrame, counted: pl.LazyFrame) -> pl.LazyFrame:
    """Number the GPUs that have a row: ranks at work, other ranks, spares."""
    windows = counted.select(
        *[*_ATTEMPT, "named", "unnamed", "held", "start_ns", "end_ns"]
    )
    position = pl.int_range(pl.len(), dtype=pl.Int64).over(*_ATTEMPT, "is_spare")
    ordered = seats.sort(Gpus.is_seen.col.not_(), *Gpus.key)
    rows = ordered.with_columns(position=position).join(windows, on=list(_ATTEMPT))
    before = pl.when("is_spare").then(pl.col("named") + pl.col("unnamed")).otherwise(0)
    by_trace = Gpus.trace_id.col.is_not_null() & (pl.col("basis") != "jobs")
    own = by_trace | (pl.col("basis") == "traces")
    return rows.select(
        *[*_ATTEMPT, "cluster", "rank", "host", "gpu_uuid", "trace_id", "device"],
        pl.when(own).then("from_ns").otherwise("start_ns").alias("from_ns"),
        pl.when(own).then("to_ns").otherwise("end_ns").alias("to_ns"),
        "held",
        slot=pl.col("position") + before,
        role=pl.when("is_spare").then(pl.lit("spare")).otherwise(pl.lit("rank")),
    ).filter(pl.col("slot") < pl.col("held"))


def _unnamed(counted: pl.LazyFrame) -> tuple[pl.LazyFrame, ...]:
    """Number the GPUs that no row tells of: ranks, spares, a reservation's rest."""
    held, named = pl.col("held"), pl.col("named")
    ranks = pl.min_horizontal(named + pl.col("unnamed"), held)
    spares = pl.min_horizontal(named + pl.col("unnamed") + pl.col("spares"), held)
    return (
        _slots(counted, named, ranks, "rank"),
        _slots(counted, spares, held, "spare"),
        _slots(counted, held, held + pl.col("extra"), "spare"),
    )


def _slots(
    counted: pl.LazyFrame, first: pl.Expr, end: pl.Expr, role: str
) -> pl.LazyFrame:
    numbers = pl.int_ranges(first, pl.max_horizontal(first, end))
    rows = counted.select(
        *[*_ATTEMPT, "cluster"], from_ns="start_ns", to_ns="end_ns", slot=numbers
    )
    return (
        rows.explode("slot")
        .filter(pl.col("slot").is_not_null())
        .with_columns(role=pl.lit(role))
    )


def _between(counted: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Pay for the reservation between attempts: held for the restart, and spare."""
    following = [
        pl.col(name).shift(-1).over("run_id", order_by=["start_ns", "attempt"])
        for name in ("start_ns", "held")
    ]
    gaps = counted.with_columns(
        following[0].alias("end_ns"),
        start_ns="end_ns",
        waiting=pl.min_horizontal(following[1], "reserved"),
        attempt=pl.lit(None, pl.Int32),
    )
    lasting = gaps.filter(pl.col("end_ns").is_not_null())
    waiting, none = pl.col("waiting"), pl.lit(0, pl.Int64)
    return (
        _slots(lasting, none, waiting, "restart"),
        _slots(lasting, waiting, pl.col("reserved"), "spare"),
    )


def _compute(frames: Frames, _: Thresholds) -> Results:
    found = find_allocations(frames[Runs], frames[Attempts], frames[Gpus])
    return {Allocations: found}


ANALYSIS: Final = Analysis(
    name="allocations",
    version=2,
    describes="Every GPU that a run paid for, when, and what for",
    inputs=(Runs, Attempts, Gpus),
    needs=(Attempts,),
    outputs=(Allocations,),
    compute=_compute,
)
