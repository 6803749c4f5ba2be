"""Every nanosecond that was paid for is booked once, whatever the input."""

from dataclasses import replace
from typing import Final

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

from analysis.allocations import Allocations
from analysis.lost_time import LostTime
from ingest.synthetic.pipeline import Pipeline, operations, simulate
from ingest.tables import (
    Checkpoints,
    Collectives,
    HostMap,
    Jobs,
    Kernels,
    Operations,
    RunCards,
    StepTimings,
    Table,
)
from ingest.times import DAY_NS, day_of
from tests.analysis.ledgers import Row, booked, rows

pytestmark = pytest.mark.thorough


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


def pipelined(stages: int, dated: bool, begun: int, kept: list[bool]) -> list[Row]:
    """The operations of a small pipeline, some of them lost."""
    short = Pipeline(stages, 2 * stages, replicas=2, steps=2, begun_ns=begun, sd=0.3)
    pipeline = replace(short, forward_ns=9, backward_ns=14, between_ns=0)
    made = operations(simulate(pipeline), is_dated=dated).to_dicts()
    return [row for place, row in enumerate(made) if kept[place % len(kept)]]


pipelines = st.builds(
    pipelined,
    st.integers(1, 2),
    st.booleans(),
    instant,
    st.just([True]) | st.lists(st.booleans(), min_size=2, max_size=9),
)
seat = {"dp_rank": maybe(st.integers(0, 1)), "pp_rank": maybe(st.integers(0, 1))}
kinds = st.sampled_from(
    [
        *("forward-compute", "backward-compute", "forward-send", "forward-recv"),
        *("params-all-gather", "optimizer", "gc", "something else"),
    ]
)
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
        Operations: some(
            place
            | seat
            | {"trace_id": st.sampled_from(["t", "v"]), "kind": kinds}
            | {"start_ns": maybe(instant), "offset_ns": maybe(st.integers(0, 60))}
            | {"duration_ns": length, "rank": rank}
            | {"microbatch": maybe(st.integers(0, 1)), "chunk": maybe(rank)}
        )
        | pipelines,
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
        table: rows(table, *some_rows)
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
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(hostile)
def test_every_nanosecond_is_booked_once_at_length(
    given_rows: dict[type[Table], list[Row]],
) -> None:
    check_every_nanosecond_is_booked_once(given_rows)
