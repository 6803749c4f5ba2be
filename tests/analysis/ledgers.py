"""Small runs, and what the ledger's analyses make of them."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar, cast

import dataframely as dy
import polars as pl

from analysis import QUESTIONS, Frames
from ingest.tables import Table

Row = dict[str, Any]
Tables = Mapping[type[Table], pl.LazyFrame]

T = TypeVar("T", bound=Table)

#: What rows leave out because it never differs.
FIXED: Final[Mapping[str, Row]] = {
    "jobs": {
        "cluster": "c",
        "state": "FAILED",
        "restart_count": 0,
        "time_quality": "exact",
    },
    "run_cards": {"cluster": "c", "zone": "UTC", "billing": "allocated"},
    "step_timings": {"clock": "host", "scope": "rank", "step_count": 1},
    "kernels": {
        "trace_id": "t",
        "device": 0,
        "stream": 7,
        "category": "compute",
        "linked": True,
    },
    "collectives": {
        "device": 0,
        "match_method": "sequence",
        "time_basis": "gpu",
        "state": "completed",
    },
    "checkpoints": {"kind": "save"},
    "attempts": {"cluster": "c", "basis": "jobs", "is_running": False},
}

#: Analyses that the ledger takes, in order.
LEDGER: Final = ("attempts", "runs", "gpus", "allocations", "overlap", "lost_time")


def filled(table: type[T], given: pl.DataFrame) -> dy.LazyFrame[T]:
    """Rows of a table, their other columns filled in."""
    blank = table.create_empty()
    fixed = {"file_id": "f", "run_id": "r", **FIXED.get(table.sql_name(), {})}
    more = {name: pl.lit(value) for name, value in fixed.items()}
    more["event"] = pl.int_range(pl.len())
    kept = {name: value for name, value in more.items() if name not in given.columns}
    full = pl.concat([blank, given.with_columns(**kept)], how="diagonal_relaxed")
    cast_all = [pl.col(name).cast(dtype) for name, dtype in blank.schema.items()]
    return cast("dy.LazyFrame[T]", full.select(cast_all).lazy())


def rows(table: type[T], *given: Row) -> dy.LazyFrame[T]:
    """Rows of a table from what differs between them."""
    if not given:
        return table.create_empty().lazy()
    full = [{**FIXED.get(table.sql_name(), {}), **row} for row in given]
    return filled(table, pl.DataFrame(full, infer_schema_length=None))


def job(number: int, start: int | None, end: int | None, gpus: int | None) -> Row:
    """A job of some GPUs."""
    bounds = {"start_ns": start, "end_ns": end}
    return {"job_id": str(number), "gpu_count": gpus} | bounds


def step(rank: int | None, step: int, start: int, end: int, **more: Any) -> Row:
    """A step of a rank; without one, of the mean over the run."""
    scope = {"scope": "run_mean"} if rank is None else {}
    timing = {"rank": rank, "step": step, "start_ns": start, "duration_ns": end - start}
    return timing | scope | more


def booked(tables: Tables, last: str = LEDGER[-1]) -> Frames:
    """The tables and what the analyses up to the last make of them."""
    known = dict(tables)
    by_name = {one.name: one for one in QUESTIONS}
    for name in LEDGER[: LEDGER.index(last) + 1]:
        found = by_name[name].compute(Frames(known), {})
        known |= {table: frame.lazy() for table, frame in found.items()}
    return Frames(known)
