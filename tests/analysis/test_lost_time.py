"""The ledger: drawn timelines, and every nanosecond once for any input."""

from pathlib import Path
from typing import Final

import duckdb
import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

from analysis import ANALYSES, Analysis, Frames
from analysis.allocations import Allocations
from analysis.lost_time import LostTime
from ingest.tables import (
    TABLES,
    Checkpoints,
    Collectives,
    HostMap,
    Jobs,
    Kernels,
    RunCards,
    StepTimings,
    Table,
)
from ingest.times import DAY_NS, day_of

Row = dict[str, object]

GOLDEN: Final = Path(__file__).parents[1] / "golden" / "lost_time"

#: What the timelines leave out because it never differs.
FIXED: Final[dict[str, Row]] = {
    "jobs": {"cluster": "c", "state": "FAILED", "restart_count": 0},
    "run_cards": {"cluster": "c", "zone": "UTC", "billing": "allocated"},
    "step_timings": {"clock": "host", "scope": "rank", "step_count": 1},
    "kernels": {"device": 0, "linked": True},
    "collectives": {
        "device": 0,
        "match_method": "sequence",
        "time_basis": "gpu",
        "state": "completed",
    },
}


def rows(table: type[Table], given: pl.DataFrame) -> pl.LazyFrame:
    """Rows of a table, their other columns filled in."""
    fixed = {"file_id": "f", "run_id": "r", **FIXED.get(table.sql_name(), {})}
    more = {name: pl.lit(value) for name, value in fixed.items()}
    number = pl.int_range(pl.len())
    more |= {"event": number} if "event" in table.columns() else {}
    kept = {name: value for name, value in more.items() if name not in given.columns}
    blank = pl.DataFrame(schema=table.create_empty().schema)
    full = pl.concat([blank, given.with_columns(**kept)], how="diagonal_relaxed")
    return full.select(
        pl.col(name).cast(dtype) for name, dtype in blank.schema.items()
    ).lazy()


def booked(tables: dict[type[Table], pl.LazyFrame]) -> Frames:
    """The tables and what the ledger's analyses make of them."""
    names = ("attempts", "runs", "gpus", "allocations", "overlap", "lost_time")
    by_name: dict[str, Analysis] = {one.name: one for one in ANALYSES}
    for name in names:
        found = by_name[name].compute(Frames(tables), {})
        tables = tables | {table: frame.lazy() for table, frame in found.items()}
    return Frames(tables)


def read(case: str) -> dict[type[Table], pl.LazyFrame]:
    files = {table: GOLDEN / case / f"{table.sql_name()}.csv" for table in TABLES}
    return {
        table: rows(table, pl.read_csv(path, infer_schema_length=None))
        for table, path in files.items()
        if path.exists()
    }


@pytest.mark.parametrize("case", sorted(path.name for path in GOLDEN.iterdir()))
def test_drawn_timeline(case: str) -> None:
    lost_time = booked(read(case))[LostTime].collect()
    expected = pl.read_csv(GOLDEN / case / "expected.csv")
    with duckdb.connect() as connection:
        connection.register("lost_time", lost_time.to_arrow())
        found = connection.sql((GOLDEN / case / "query.sql").read_text()).fetchall()
    assert found == expected.rows()


def some(values: dict[str, st.SearchStrategy[object]]) -> st.SearchStrategy[list[Row]]:
    return st.lists(st.fixed_dictionaries(values), max_size=8)


def maybe(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | values


#: Any instant within a few days, most of them near to another or to midnight.
instant = st.integers(0, 60) | st.builds(
    lambda day, off: day * DAY_NS + off, st.integers(0, 3), st.integers(-30, 30)
)
length = st.integers(0, 40) | st.integers(0, 3 * DAY_NS) | st.just(2**62)
rank = st.integers(0, 2)
number = st.integers(-1, 4)
span = {"start_ns": instant, "duration_ns": length}
place = {"attempt": maybe(st.integers(0, 2)), "rank": maybe(rank), "step": number}
trace = {"trace_id": st.sampled_from(["t", "u"]), "device": st.integers(0, 1)}
hostile = st.fixed_dictionaries(
    {
        Jobs: some(
            {
                "job_id": st.sampled_from(["1", "2", "3"]),
                "start_ns": maybe(instant),
                "end_ns": maybe(instant),
                "gpu_count": maybe(st.integers(-1, 5)),
            }
        ),
        StepTimings: some(
            span
            | place
            | dict.fromkeys(
                ("compute_ns", "wait_ns", "communication_ns"), maybe(length)
            )
            | dict.fromkeys(("data_ns", "checkpoint_ns"), maybe(length))
            | {"scope": st.sampled_from(["rank", "rank", "run_mean"])}
            | {"step_count": st.integers(0, 3)}
        ),
        Kernels: some(
            span
            | place
            | trace
            | {"category": st.sampled_from(["compute", "communication", "memory"])}
        ),
        Collectives: some(
            span
            | place
            | trace
            | {
                "group_id": st.just("g"),
                "group_size": st.integers(1, 2),
                "kind": st.sampled_from(["allreduce", "broadcast", "send", "recv"]),
                "is_p2p": st.booleans(),
                "peer_rank": maybe(rank),
                "sequence": maybe(number),
                "end_ns": maybe(instant),
            }
        ),
        Checkpoints: some(
            {"attempt": maybe(st.integers(0, 2)), "rank": maybe(rank)}
            | {"start_ns": instant, "stall_ns": maybe(length), "kind": st.just("save")}
        ),
        HostMap: some({"rank": maybe(rank), "host": st.sampled_from(["n0", "n1"])}),
        RunCards: st.lists(
            st.fixed_dictionaries(
                {
                    "billing": st.sampled_from(["allocated", "reserved"]),
                    "reserved_gpus": maybe(st.integers(0, 5)),
                }
                | dict.fromkeys(("tp", "cp", "pp", "dp"), maybe(st.integers(1, 2)))
            ),
            max_size=1,
        ),
    }
)

PER_DAY: Final = ["run_id", "attempt", "day"]


def paid_by_day(allocations: pl.LazyFrame) -> pl.DataFrame:
    """What allocations pay for on each day of each attempt."""
    first, last = pl.col("from_ns") // DAY_NS, (pl.col("to_ns") - 1) // DAY_NS
    dated = allocations.with_columns(day=pl.int_ranges(first, last + 1)).explode("day")
    opened = pl.max_horizontal("from_ns", pl.col("day") * DAY_NS)
    closed = pl.min_horizontal("to_ns", (pl.col("day") + 1) * DAY_NS)
    named = dated.with_columns(
        day=day_of(pl.col("day") * DAY_NS), gpu_ns=(closed - opened).cast(pl.Int128)
    )
    return named.group_by(PER_DAY).agg(pl.col("gpu_ns").sum()).sort(PER_DAY).collect()


def check_every_nanosecond_is_booked_once(
    given_rows: dict[type[Table], list[Row]],
) -> None:
    tables = {
        table: rows(table, pl.DataFrame(some_rows, infer_schema_length=None))
        for table, some_rows in given_rows.items()
        if some_rows
    }
    frames = booked(tables)
    lost = frames[LostTime].with_columns(LostTime.gpu_ns.col.cast(pl.Int128))
    assert lost.filter(pl.col("gpu_ns") <= 0).collect().is_empty()
    summed = lost.group_by(PER_DAY).agg(pl.col("gpu_ns").sum()).sort(PER_DAY)
    assert summed.collect().rows() == paid_by_day(frames[Allocations]).rows()


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(hostile)
def test_every_nanosecond_is_booked_once(
    given_rows: dict[type[Table], list[Row]],
) -> None:
    check_every_nanosecond_is_booked_once(given_rows)


@pytest.mark.slow
@settings(max_examples=1_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(hostile)
def test_every_nanosecond_is_booked_once_at_length(
    given_rows: dict[type[Table], list[Row]],
) -> None:
    check_every_nanosecond_is_booked_once(given_rows)
