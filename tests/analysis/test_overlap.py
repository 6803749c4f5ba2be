"""How a device spent its time, against drawn timelines and sets of nanoseconds."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import dataframely as dy
import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given, settings

from analysis.attempts import Attempts
from analysis.overlap import Overlap, measure_overlap
from ingest.tables import Kernels
from tests.examples import examples

KINDS = ("compute", "communication", "memory")

#: Category, start, duration and step (None: no launch in the trace).
Work = tuple[str, int, int, int | None]


def kernels(
    work: Iterable[Work], *, trace: str = "t", device: int = 0, attempt: int | None = 0
) -> dy.DataFrame[Kernels]:
    rows = [
        {
            "file_id": trace,
            "run_id": "run",
            "attempt": attempt,
            "trace_id": trace,
            "rank": 3,
            "device": device,
            "stream": 7,
            "event": event,
            "name": "kernel",
            "category": category,
            "start_ns": start,
            "duration_ns": duration,
            "step": step,
            "linked": step is not None,
        }
        for event, (category, start, duration, step) in enumerate(work)
    ]
    return Kernels.validate(pl.DataFrame(rows, schema=Kernels.create_empty().schema))


def attempts(*starts: int) -> dy.LazyFrame[Attempts]:
    rows = [
        {
            "run_id": "run",
            "attempt": attempt,
            "basis": "jobs",
            "start_ns": start,
            "end_ns": start,
            "is_running": False,
        }
        for attempt, start in enumerate(starts)
    ]
    frame = pl.DataFrame(rows, schema=Attempts.create_empty().schema)
    return Attempts.validate(frame).lazy()


def measure(work: Iterable[Work], chunk_rows: int = 1_000) -> list[dict[str, Any]]:
    return measure_overlap(
        kernels(work).lazy(), attempts(), chunk_rows=chunk_rows
    ).to_dicts()


def test_a_drawn_trace() -> None:
    # time            0    5    10   15   20   25   30
    # compute         ##########          ###
    # communication        ##########
    # memory                        ######
    # step            |0                  |1
    whole, zero, one = measure(
        [
            ("compute", 0, 10, 0),
            ("communication", 5, 10, 0),
            ("memory", 14, 6, None),
            ("compute", 20, 3, 1),
            ("compute", 29, 1, None),
        ]
    )
    assert (whole["step"], zero["step"], one["step"]) == (None, 0, 1)
    assert (whole["start_ns"], whole["span_ns"], whole["busy_ns"]) == (0, 30, 24)
    assert (whole["compute_ns"], whole["communication_ns"]) == (14, 10)
    assert (whole["memory_ns"], whole["overlapped_ns"]) == (6, 5)
    assert (whole["exposed_communication_ns"], whole["exposed_memory_ns"]) == (5, 5)
    assert (whole["idle_ns"], whole["overlap_ratio"]) == (6, 0.5)
    assert whole["linked_ratio"] == 3 / 5
    assert (whole["compute_count"], whole["memory_count"]) == (3, 1)
    assert (zero["span_ns"], zero["idle_ns"]) == (20, 0)
    assert (one["span_ns"], one["idle_ns"], one["compute_ns"]) == (10, 6, 4)


def test_without_communication_the_ratio_is_null() -> None:
    (whole,) = measure([("compute", 0, 10, None)])
    assert whole["overlap_ratio"] is None
    assert whole["communication_ns"] == 0


def test_work_counts_where_it_runs_not_in_the_step_that_launched_it() -> None:
    # time       0    5    10   15
    # step 4     ###########           launched by step 4, runs on into step 5
    # step 5               ####
    # windows    |4        |5   |
    whole, four, five = measure([("compute", 0, 11, 4), ("memory", 9, 4, 5)])
    assert (four["compute_ns"], four["memory_ns"]) == (9, 0)
    assert (five["compute_ns"], five["exposed_memory_ns"], five["idle_ns"]) == (2, 2, 0)
    assert (five["compute_count"], five["memory_count"]) == (0, 1)
    assert whole["busy_ns"] == 13


def test_work_before_the_first_step_belongs_to_the_whole_trace_alone() -> None:
    whole, seven = measure([("compute", 0, 4, None), ("compute", 10, 5, 7)])
    assert (whole["span_ns"], whole["idle_ns"], whole["compute_count"]) == (15, 6, 2)
    assert (seven["start_ns"], seven["span_ns"], seven["compute_count"]) == (10, 5, 1)


def test_a_trace_of_one_empty_interval_is_one_row_of_zeros() -> None:
    (whole,) = measure([("memory", 5, 0, None)])
    assert (whole["span_ns"], whole["busy_ns"], whole["memory_count"]) == (0, 0, 1)


def test_devices_and_traces_are_measured_apart_and_placed_in_their_attempt() -> None:
    # GIVEN attempts that start at 0 and 100, and traces that do not tell theirs
    work = pl.concat(
        [
            kernels([("compute", 0, 10, None)], trace="a", attempt=None),
            kernels([("memory", 5, 10, None)], trace="a", device=1, attempt=None),
            kernels([("compute", 100, 7, None)], trace="b", attempt=None),
        ]
    )
    # WHEN they are measured
    rows = measure_overlap(Kernels.validate(work).lazy(), attempts(0, 100))
    # THEN each device has its own span
    told = rows.select("attempt", "trace_id", "device", "span_ns", "rank").rows()
    assert told == [(0, "a", 0, 10, 3), (0, "a", 1, 10, 3), (1, "b", 0, 7, 3)]


def test_a_trace_of_which_only_part_tells_its_attempt_is_measured_as_one() -> None:
    work = pl.concat(
        [
            kernels([("compute", 120, 10, None)], attempt=1),
            kernels([("memory", 110, 5, None)], attempt=None),
        ]
    )
    rows = measure_overlap(Kernels.validate(work).lazy(), attempts(0, 100))
    told = rows.select("attempt", "start_ns", "span_ns", "idle_ns").rows()
    assert told == [(1, 110, 20, 5)]


def test_steps_that_start_at_one_instant_have_windows_without_length() -> None:
    rows = measure([("compute", 7, 0, 0), ("compute", 7, 0, 1)])
    assert [row["span_ns"] for row in rows] == [0, 0, 0]
    assert [row["step"] for row in rows] == [None, 0, 1]


def test_no_kernels_no_rows() -> None:
    assert measure_overlap(Kernels.create_empty().lazy(), attempts()).is_empty()


TIMES = st.integers(0, 40)
WORK = st.lists(
    st.tuples(
        st.sampled_from(KINDS), TIMES, st.integers(0, 12), st.sampled_from([None, 0, 1])
    ),
    min_size=1,
    max_size=14,
)


def expected_windows(work: list[Work]) -> dict[int | None, tuple[int, int]]:
    last = max(start + duration for _, start, duration, _ in work)
    firsts = {
        step: min(start for _, start, _, s in work if s == step)
        for step in (0, 1)
        if any(s == step for *_, s in work)
    }
    ordered = sorted(firsts.items(), key=lambda item: (item[1], item[0]))
    bounds = [*ordered, (-1, last)]
    windows: dict[int | None, tuple[int, int]] = {
        step: (begin, end) for (step, begin), (_, end) in pairwise(bounds)
    }
    windows[None] = (min(start for _, start, _, _ in work), last)
    return windows


@pytest.mark.thorough
@settings(max_examples=examples(60), deadline=None)
@given(WORK, st.sampled_from([2, 5, 1_000]))
def test_any_trace_adds_up_and_is_that_of_sets_in_any_chunks(
    work: list[Work], chunk_rows: int
) -> None:
    rows = measure(work, chunk_rows)
    on = {
        kind: {t for k, s, d, _ in work if k == kind for t in range(s, s + d)}
        for kind in KINDS
    }
    windows = expected_windows(work)
    assert {row["step"] for row in rows} == set(windows)
    for row in rows:
        window = set(range(*windows[row["step"]]))
        c, n, m = (on[kind] & window for kind in KINDS)
        assert row["span_ns"] == len(window)
        assert row["busy_ns"] == len(c | n | m)
        assert (row["compute_ns"], row["communication_ns"]) == (len(c), len(n))
        assert (row["memory_ns"], row["overlapped_ns"]) == (len(m), len(c & n))
        assert row["exposed_communication_ns"] == len(n - c)
        assert row["exposed_memory_ns"] == len(m - n - c)
        assert row["span_ns"] == (
            row["compute_ns"]
            + row["exposed_communication_ns"]
            + row["exposed_memory_ns"]
            + row["idle_ns"]
        )
    whole = next(row for row in rows if row["step"] is None)
    counts = [whole[f"{kind}_count"] for kind in KINDS]
    assert counts == [sum(w[0] == kind for w in work) for kind in KINDS]


@pytest.mark.parametrize("chunk_rows", [7, 100, 100_000])
def test_a_crowded_instant_and_an_outlier_do_not_change_the_sum(
    chunk_rows: int,
) -> None:
    # 500 touching kernels of 3 ns, then one 10^15 ns (11 days) later
    work: list[Work] = [("compute", 3 * i, 3, None) for i in range(500)]
    (whole,) = measure([*work, ("compute", 10**15, 5, None)], chunk_rows)
    assert whole["busy_ns"] == 1_505
    assert whole["idle_ns"] == 10**15 - 1_500
    assert whole["compute_count"] == 501


def test_every_row_is_what_the_table_declares() -> None:
    rows = measure_overlap(kernels([("compute", 0, 1, 0)]).lazy(), attempts())
    assert Overlap.is_valid(rows)
