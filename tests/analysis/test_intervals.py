"""Lengths, windows and states against sets of whole nanoseconds."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import hypothesis.strategies as st
import polars as pl
from hypothesis import given, settings

from analysis._sweep import time_alone, time_by_state
from analysis._windows import place_in_windows, split_by_windows
from analysis.intervals import lengths
from tests.examples import examples

Interval = tuple[int, int]
KINDS = ("compute", "communication", "memory")

#: Short times around zero: touching, nesting, equal and empty intervals are common.
TIMES = st.integers(-12, 12)
INTERVALS = st.lists(
    st.tuples(TIMES, st.integers(0, 9)).map(lambda pair: (pair[0], sum(pair))),
    max_size=12,
)
GROUPS = st.dictionaries(st.sampled_from([None, "a", "b"]), INTERVALS, max_size=3)
Groups = dict[str | None, list[Interval]]


def frame(groups: Groups) -> pl.LazyFrame:
    rows = [(group, *pair) for group, pairs in groups.items() for pair in pairs]
    schema = {"group": pl.String, "start_ns": pl.Int64, "end_ns": pl.Int64}
    return pl.LazyFrame(rows, schema=schema, orient="row")


def covered(pairs: Iterable[Interval]) -> set[int]:
    return {time for start, end in pairs for time in range(start, end)}


def cut(points: Sequence[int]) -> list[Interval]:
    """Windows between neighbours: most touch, every third start leaves a gap."""
    return [pair for pair in pairwise(sorted(points)) if pair[0] % 3]


@given(GROUPS)
def test_union_counts_every_nanosecond_once(groups: Groups) -> None:
    answer = dict(lengths(frame(groups), ["group"]).collect().iter_rows())
    assert answer == {g: len(covered(pairs)) for g, pairs in groups.items() if pairs}


def test_union_at_the_size_of_epoch_times_is_exact() -> None:
    # ns since the epoch need 61 bits; a float would round to 256 ns.
    now = 1_700_000_000_000_000_001
    intervals = frame({"a": [(now, now + 3), (now + 2, now + 4)]})
    assert lengths(intervals, ["group"]).collect().rows() == [("a", 4)]


@given(INTERVALS, st.lists(TIMES, unique=True, max_size=10))
def test_split_keeps_the_time_inside_windows(
    pairs: list[Interval], points: list[int]
) -> None:
    windows = cut(points)
    pieces = split_by_windows(frame({None: pairs}), frame({None: windows}), ["group"])
    got = pieces.select(
        "window_start_ns", "window_end_ns", "start_ns", "end_ns"
    ).collect()
    expected = [
        (low, high, max(start, low), min(end, high))
        for start, end in pairs
        for low, high in windows
        if max(start, low) < min(end, high) or low <= start == end < high
    ]
    assert sorted(got.iter_rows()) == sorted(expected)


@given(st.lists(TIMES, max_size=10), st.lists(TIMES, unique=True, max_size=10))
def test_a_row_is_placed_in_the_window_it_starts_in(
    times: list[int], points: list[int]
) -> None:
    windows = cut(points)
    rows = frame({"a": [(time, time) for time in times]})
    placed = place_in_windows(rows, frame({"a": windows}), ["group"]).collect()
    expected = [
        (time, next((low for low, high in windows if low <= time < high), None))
        for time in times
    ]
    got = placed.select("start_ns", "window_start_ns").iter_rows()
    assert sorted(got, key=str) == sorted(expected, key=str)


@settings(max_examples=examples(200))
@given(
    st.lists(st.tuples(INTERVALS, st.sampled_from(KINDS)), max_size=4),
    st.lists(TIMES, unique=True, max_size=8),
)
def test_states_of_every_window_are_those_of_sets(
    work: list[tuple[list[Interval], str]], points: list[int]
) -> None:
    windows = cut(points)
    parts = [
        frame({None: pairs}).with_columns(kind=pl.lit(kind)) for pairs, kind in work
    ]
    empty = frame({}).with_columns(kind=pl.lit("compute"))
    table = time_by_state(
        pl.concat([empty, *parts]), frame({None: windows}), ["group"], KINDS
    )
    rows = table.select("start_ns", *KINDS, "length_ns").collect().iter_rows()
    on = {
        kind: covered(pair for pairs, k in work if k == kind for pair in pairs)
        for kind in KINDS
    }
    expected: dict[tuple[object, ...], int] = {}
    for low, high in windows:
        for time in range(low, high):
            state = (low, *(time in on[kind] for kind in KINDS))
            expected[state] = expected.get(state, 0) + 1
    assert {tuple(row[:-1]): row[-1] for row in rows} == expected


def test_groups_do_not_mix_and_groups_without_windows_are_left_out() -> None:
    # a: ##--    b: -##-    c: #### (no window)
    work = frame({"a": [(0, 2)], "b": [(1, 3)], "c": [(0, 4)]})
    windows = frame({"a": [(0, 4)], "b": [(0, 4)]})
    table = time_by_state(
        work.with_columns(kind=pl.lit("compute")), windows, ["group"], ["compute"]
    )
    rows = table.select("group", "compute", "length_ns").collect().sort("group")
    assert sorted(rows.iter_rows()) == [
        ("a", False, 2),
        ("a", True, 2),
        ("b", False, 2),
        ("b", True, 2),
    ]


@given(st.lists(st.tuples(INTERVALS, st.sampled_from([None, "x", "y"])), max_size=4))
def test_time_alone_is_that_of_the_only_set_that_holds_it(
    work: list[tuple[list[Interval], str | None]],
) -> None:
    on = {
        who: covered(pair for pairs, w in work if w == who for pair in pairs)
        for _, who in work
    }
    rows = [(who, time, time + 1) for who, times in on.items() for time in times]
    schema = {"who": pl.String, "start_ns": pl.Int64, "end_ns": pl.Int64}
    told = pl.LazyFrame(rows, schema=schema, orient="row").with_columns(
        group=pl.lit("g"), named=pl.col("who").fill_null("nobody")
    )
    answer = time_alone(told, ["group"], ["named"]).collect()
    got = dict(answer.select("named", "length_ns").iter_rows())
    everyone = [time for times in on.values() for time in times]
    expected = {
        who or "nobody": len([t for t in times if everyone.count(t) == 1])
        for who, times in on.items()
    }
    shared = len({time for time in everyone if everyone.count(time) > 1})
    expected_rows = {who: length for who, length in expected.items() if length}
    assert got == expected_rows | ({None: shared} if shared else {})
