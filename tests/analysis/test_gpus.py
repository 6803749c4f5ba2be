"""GPUs: from the host map and from ranks seen, placed in the layout."""

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given, settings

from analysis._analysis import Frames
from analysis._ledger_layout import place_in_layout
from analysis.attempts import Attempts
from analysis.gpus import find_gpus
from analysis.runs import Runs
from ingest.tables import HostMap, Kernels, StepTimings
from tests.analysis.ledgers import Row, rows, step


def attempt(number: int, start: int, end: int, hosts: str | None) -> Row:
    return {
        "attempt": number,
        "start_ns": start,
        "end_ns": end,
        "hosts": hosts,
    }


RUN: Row = {"tp": 2, "cp": 1, "pp": 1, "dp": 1, "ep": 1}
MAP: list[Row] = [
    {"rank": 0, "host": "n0", "local_rank": 0, "gpu_uuid": "GPU-a"},
    {"rank": 1, "host": "n1", "local_rank": 0, "gpu_uuid": "GPU-b"},
    {"rank": None, "host": "n2", "local_rank": 0, "gpu_uuid": "GPU-c"},
]


def test_ranks_and_spares_of_the_map() -> None:
    frames = Frames(
        {
            Runs: rows(Runs, RUN),
            Attempts: rows(Attempts, attempt(0, 10, 90, None)),
            HostMap: rows(HostMap, *MAP),
            StepTimings: rows(StepTimings, step(0, 1, 20, 25)),
        }
    )
    found = find_gpus(frames)
    told = found.select("rank", "host", "gpu_uuid", "tp_rank", "is_seen").rows()
    assert told == [
        (None, "n2", "GPU-c", None, False),
        (0, "n0", "GPU-a", 0, True),
        (1, "n1", "GPU-b", 1, False),
    ]
    assert found.select("from_ns", "to_ns").unique().rows() == [(10, 90)]


def test_rank_that_is_on_no_map_has_no_host() -> None:
    frames = Frames(
        {
            Attempts: rows(Attempts, attempt(0, 10, 90, None)),
            StepTimings: rows(StepTimings, step(5, 1, 20, 25)),
        }
    )
    assert find_gpus(frames).select("rank", "host", "tp_rank").rows() == [
        (5, None, None)
    ]


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        ("n0, n1", [(0, "n0"), (1, "n1")]),
        ("n0,n9", [(0, "n0"), (1, None)]),
        ("n0.example,N1.", [(0, "n0.example"), (1, "N1.")]),
        ("a0,a1", [(None, "n2"), (0, "n0"), (1, "n1")]),
    ],
    ids=["spare not held", "rank 1 has moved", "other spellings", "other names"],
)
def test_map_is_believed_where_the_job_held_its_nodes(
    hosts: str, expected: list[tuple[int | None, str | None]]
) -> None:
    frames = Frames(
        {
            Attempts: rows(Attempts, attempt(0, 10, 90, hosts)),
            HostMap: rows(HostMap, *MAP),
        }
    )
    assert find_gpus(frames).select("rank", "host").rows() == expected


def test_trace_without_a_rank_has_the_bounds_of_its_trace() -> None:
    kernel = {"device": 3, "start_ns": 20, "duration_ns": 30}
    frames = Frames(
        {
            Attempts: rows(Attempts, attempt(0, 10, 90, None)),
            Kernels: rows(Kernels, kernel),
        }
    )
    columns = ("rank", "trace_id", "device", "from_ns", "to_ns", "is_seen")
    assert find_gpus(frames).select(columns).rows() == [(None, "t", 3, 20, 50, True)]


sizes = st.integers(1, 5)


@settings(max_examples=25, deadline=None)
@given(sizes, sizes, sizes, sizes, st.permutations(["tp", "cp", "pp", "dp"]))
def test_positions_count_up_like_the_digits_of_a_clock(
    tp: int, cp: int, pp: int, dp: int, order: list[str]
) -> None:
    size = {"tp": tp, "cp": cp, "pp": pp, "dp": dp}
    runs = rows(Runs, {**size, "ep": 1, "rank_order": ",".join(order)})
    every = pl.LazyFrame({"run_id": "r", "rank": range(tp * cp * pp * dp)})
    placed = place_in_layout(every, runs).sort("rank").collect()
    digits = [0, 0, 0, 0]
    for row in placed.iter_rows(named=True):
        assert [row[f"{axis}_rank"] for axis in order] == digits
        for place, axis in enumerate(order):
            digits[place] = (digits[place] + 1) % size[axis]
            if digits[place]:
                break


def test_experts_are_spread_over_data_ranks() -> None:
    # tp 2, dp 4, ep 2: ranks 0,1 are replica 0; 2,3 replica 1; ... and replicas 0 and
    # 2 hold the first experts, 1 and 3 the second.
    runs = rows(Runs, {"tp": 2, "cp": 1, "pp": 1, "dp": 4, "ep": 2})
    every = pl.LazyFrame({"run_id": "r", "rank": range(8)})
    placed = place_in_layout(every, runs).sort("rank").collect()
    assert placed["ep_rank"].to_list() == [0, 0, 1, 1, 0, 0, 1, 1]
