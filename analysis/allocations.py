"""One row per GPU paid for, while it had one role."""

from collections.abc import Iterator
from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._ledger_portions import PORTION_SEATS, near, portions_of
from analysis._ledger_slots import count_slots
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.runs import Runs
from ingest._schema import schema_of
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


_TYPES: Final = schema_of(Allocations)

#: Columns that tell one attempt from another.
_ATTEMPT: Final = ("run_id", "attempt")

#: More than there are attempts in a portion, or slots of one.
_MANY: Final = 2**31

#: What of a GPU is asked.
_KNOWN: Final = (*Gpus.key, "cluster", "is_seen", "from_ns", "to_ns")


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
    found = allocations_by_portion(runs, attempts, gpus)
    rows = pl.concat([Allocations.create_empty(), *found])
    return Allocations.validate(rows.sort(Allocations.key), cast=True)


def allocations_by_portion(
    runs: pl.LazyFrame,
    attempts: pl.LazyFrame,
    gpus: pl.LazyFrame,
    portion_seats: int = PORTION_SEATS,
) -> Iterator[pl.DataFrame]:
    """List the same GPUs, those of some attempts at a time.

    Args:
        runs: What `find_allocations` takes, as are the others.
        attempts: Attempts of these runs.
        gpus: GPUs known by a rank, as a spare or by a trace.
        portion_seats: GPUs of attempts to hold at once; an attempt is not parted. [1]

    Returns:
        Rows of Allocations in the order of the key. Those between two attempts come
        with those of the one before.
    """
    counted = _followed(count_slots(attempts, _seats(gpus, attempts), runs))
    known = counted.collect().lazy()
    held = pl.max_horizontal("held", "reserved")
    sizes = known.select(*_ATTEMPT, seats=held + pl.min_horizontal(held, "reserved"))
    for some in portions_of(known, sizes, portion_seats):
        place = pl.int_range(pl.len(), dtype=pl.Int64)
        numbered = some.with_columns(place=place, run=place.min().over("run_id"))
        named = _numbered(near(gpus, some), numbered)
        rows = [*_between(numbered), *_unnamed(numbered), named]
        paid = pl.concat(rows, how="diagonal_relaxed")
        lasting = paid.filter(pl.col("from_ns") < pl.col("to_ns")).collect()
        yield _ordered(lasting).select(Allocations.column_names()).cast(_TYPES)


def _ordered(rows: pl.DataFrame) -> pl.DataFrame:
    """Sort rows by the key; all but named spares by numbers, which is far faster.

    Within an attempt those without any name come first, and ranks last.
    """
    rank, place = pl.col("rank"), pl.col("place")
    named = pl.col("host").is_not_null() | pl.col("gpu_uuid").is_not_null()
    is_between = pl.col("attempt").is_null()
    numbered = rows.with_columns(
        group=pl.when(is_between).then(2 * pl.col("run")).otherwise(2 * place + 1),
        inner=pl.when(is_between)
        .then(pl.col("slot") * _MANY + place)
        .otherwise(pl.coalesce(rank + 2 * _MANY, "slot")),
    )
    spares = numbered.filter(rank.is_null() & named)
    if spares.height:
        others = numbered.filter(rank.is_not_null() | ~named)
        inner = pl.int_range(pl.len(), dtype=pl.Int64) + _MANY
        told = spares.sort(Allocations.key).with_columns(inner=inner)
        numbered = pl.concat([others, told])
    return numbered.sort("group", "inner")


def _seats(gpus: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Keep the GPUs that count: without a job only those seen at work."""
    basis = attempts.select(*_ATTEMPT, "basis")
    is_spare = Gpus.rank.col.is_null() & Gpus.trace_id.col.is_null()
    rows = gpus.select(_KNOWN).join(basis, on=list(_ATTEMPT))
    counting = rows.filter(Gpus.is_seen.col | (pl.col("basis") == "jobs"))
    return counting.with_columns(is_spare=is_spare)


def _numbered(gpus: pl.LazyFrame, counted: pl.LazyFrame) -> pl.LazyFrame:
    """Number the GPUs that have a row: ranks at work, other ranks, spares."""
    windows = counted.select(
        *["place", "run", *_ATTEMPT, "basis", "named", "unnamed", "held"],
        *["start_ns", "end_ns"],
    )
    before = pl.when("is_spare").then(pl.col("named") + pl.col("unnamed")).otherwise(0)
    by_trace = Gpus.trace_id.col.is_not_null() & (pl.col("basis") != "jobs")
    own = by_trace | (pl.col("basis") == "traces")
    return (
        _placed(gpus, windows)
        .select(
            *[
                "place",
                "run",
                *_ATTEMPT,
                "cluster",
                "rank",
                "host",
                "gpu_uuid",
                "trace_id",
                "device",
            ],
            pl.when(own).then("from_ns").otherwise("start_ns").alias("from_ns"),
            pl.when(own).then("to_ns").otherwise("end_ns").alias("to_ns"),
            "held",
            slot=pl.col("position") + before,
            role=pl.when("is_spare").then(pl.lit("spare")).otherwise(pl.lit("rank")),
        )
        .filter(pl.col("slot") < pl.col("held"))
    )


def _placed(gpus: pl.LazyFrame, windows: pl.LazyFrame) -> pl.LazyFrame:
    """Join the GPUs that count to their attempt, and number them in their order.

    Whole ranks are sorted by numbers alone, which is some times faster than by names.
    """
    rows = gpus.select(_KNOWN).join(windows, on=list(_ATTEMPT))
    spare = Gpus.rank.col.is_null() & Gpus.trace_id.col.is_null()
    counting = rows.filter(Gpus.is_seen.col | (pl.col("basis") == "jobs"))
    marked = counting.with_columns(is_spare=spare, is_unseen=~Gpus.is_seen.col)
    nameless = marked.filter(Gpus.rank.col.is_null()).sort(Gpus.key)
    ordered = pl.concat([nameless, marked.filter(Gpus.rank.col.is_not_null())]).sort(
        "place", "is_unseen", "rank", maintain_order=True
    )
    position = pl.int_range(pl.len(), dtype=pl.Int64).over("place", "is_spare")
    return ordered.with_columns(position=position)


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
        *["place", "run", *_ATTEMPT, "cluster"],
        from_ns="start_ns",
        to_ns="end_ns",
        slot=numbers,
    )
    return (
        rows.explode("slot")
        .filter(pl.col("slot").is_not_null())
        .with_columns(role=pl.lit(role))
    )


def _followed(counted: pl.LazyFrame) -> pl.LazyFrame:
    """Add when the next attempt of the run starts, and what it holds."""
    following = [
        pl.col(name)
        .shift(-1)
        .over("run_id", order_by=["start_ns", "attempt"])
        .alias(f"next_{name}")
        for name in ("start_ns", "held")
    ]
    return counted.with_columns(following)


def _between(counted: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Pay for the reservation between attempts: held for the restart, and spare."""
    gaps = counted.with_columns(
        start_ns="end_ns",
        end_ns="next_start_ns",
        waiting=pl.min_horizontal("next_held", "reserved"),
        attempt=pl.lit(None, pl.Int32),
    )
    lasting = gaps.filter(pl.col("start_ns") < pl.col("end_ns"))
    waiting, none = pl.col("waiting"), pl.lit(0, pl.Int64)
    return (
        _slots(lasting, none, waiting, "restart"),
        _slots(lasting, waiting, pl.col("reserved"), "spare"),
    )


def _compute(frames: Frames, _: Thresholds) -> Results:
    found = find_allocations(frames[Runs], frames[Attempts], frames[Gpus])
    return {Allocations: found}


def _portions(frames: Frames, _: Thresholds) -> Iterator[Results]:
    known = frames[Runs], frames[Attempts], frames[Gpus]
    for rows in allocations_by_portion(*known):
        yield {Allocations: rows}


ANALYSIS: Final = Analysis(
    name="allocations",
    version=2,
    describes="Every GPU that a run paid for, when, and what for",
    inputs=(Runs, Attempts, Gpus),
    needs=(Attempts,),
    outputs=(Allocations,),
    compute=_compute,
    portions=_portions,
)
