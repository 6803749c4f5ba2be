"""Union, intersection, difference and gaps against a sweep over every nanosecond."""

from collections.abc import Iterable, Mapping

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given, settings

from analysis.intervals import difference, gaps, intersection, lengths, union
from tests.examples import examples

Interval = tuple[int, int]
Groups = Mapping[str | None, list[Interval]]

FIRST, LAST = -(1 << 63), (1 << 63) - 1
BY = ["group"]

#: Short times around zero: touching, nesting, equal and empty intervals are common.
INTERVALS = st.lists(
    st.tuples(st.integers(-12, 12), st.integers(0, 9)).map(
        lambda pair: (pair[0], sum(pair))
    ),
    max_size=10,
)
GROUPS = st.dictionaries(st.sampled_from([None, "a", "b"]), INTERVALS, max_size=3)


def frame(groups: Groups) -> pl.LazyFrame:
    rows = [(group, *pair) for group, pairs in groups.items() for pair in pairs]
    schema = {"group": pl.String, "start_ns": pl.Int64, "end_ns": pl.Int64}
    return pl.LazyFrame(rows, schema=schema, orient="row")


def told(answer: pl.LazyFrame) -> dict[str | None, list[Interval]]:
    found: dict[str | None, list[Interval]] = {}
    for group, *pair in answer.collect().select(*BY, "start_ns", "end_ns").iter_rows():
        found.setdefault(group, []).append((pair[0], pair[1]))
    return found


def covered(pairs: Iterable[Interval]) -> set[int]:
    return {time for start, end in pairs for time in range(start, end)}


def drawn(times: set[int]) -> list[Interval]:
    """The fewest intervals that cover these times, in order."""
    starts = sorted(time for time in times if time - 1 not in times)
    ends = sorted(time + 1 for time in times if time + 1 not in times)
    return list(zip(starts, ends, strict=True))


def swept(groups: Groups) -> dict[str | None, set[int]]:
    return {group: covered(pairs) for group, pairs in groups.items()}


def kept(sets: Mapping[str | None, set[int]]) -> dict[str | None, list[Interval]]:
    return {group: drawn(times) for group, times in sets.items() if times}


def test_a_drawn_timeline() -> None:
    # time      0    5    10   15   20
    # first     ####..########           from 0 to 4 and from 6 to 14
    # second      #####....#######.##    from 2 to 7, 11 to 18 and 19 to 21
    # both        ##..#....###
    # first     ##.....####.......       without the second
    first = frame({"a": [(0, 4), (6, 9), (9, 14), (12, 13), (3, 3)]})
    second = frame({"a": [(2, 7), (11, 18), (19, 21)]})
    assert told(union(first, BY)) == {"a": [(0, 4), (6, 14)]}
    assert told(gaps(first, BY)) == {"a": [(4, 6)]}
    assert told(intersection(first, second, BY)) == {"a": [(2, 4), (6, 7), (11, 14)]}
    assert told(difference(first, second, BY)) == {"a": [(0, 2), (7, 11)]}
    assert told(difference(second, first, BY)) == {"a": [(4, 6), (14, 18), (19, 21)]}
    assert told(gaps(second, BY)) == {"a": [(7, 11), (18, 19)]}


def test_sets_of_the_first_meet_the_second_of_their_group_apart() -> None:
    # time      0    5
    # x         ####
    # y            ####
    # second      ##        from 2 to 4
    both = frame({"g": [(0, 4)]}).with_columns(set=pl.lit("x"))
    other = frame({"g": [(3, 7)]}).with_columns(set=pl.lit("y"))
    first, second = pl.concat([both, other]), frame({"g": [(2, 4)]})
    shared = intersection(first, second, BY, ["set"]).collect().rows()
    assert shared == [("g", "x", 2, 4), ("g", "y", 3, 4)]
    alone = difference(first, second, BY, ["set"]).collect().rows()
    assert alone == [("g", "x", 0, 2), ("g", "y", 4, 7)]


@settings(max_examples=examples(200), deadline=None)
@given(GROUPS, GROUPS)
def test_each_operation_is_that_of_sets_of_nanoseconds(a: Groups, b: Groups) -> None:
    first, second = swept(a), swept(b)
    assert told(union(frame(a), BY)) == kept(first)
    assert told(intersection(frame(a), frame(b), BY)) == kept(
        {group: times & second.get(group, set()) for group, times in first.items()}
    )
    assert told(difference(frame(a), frame(b), BY)) == kept(
        {group: times - second.get(group, set()) for group, times in first.items()}
    )
    hulls = {g: set(range(min(t), max(t))) for g, t in first.items() if t}
    free = {group: hull - first[group] for group, hull in hulls.items()}
    assert told(gaps(frame(a), BY)) == kept(free)


@settings(max_examples=examples(200), deadline=None)
@given(GROUPS, GROUPS)
def test_the_laws_of_sets_hold(a: Groups, b: Groups) -> None:
    first, second = frame(a), frame(b)
    both = told(union(pl.concat([first, second]), BY))
    assert both == told(union(pl.concat([second, first]), BY))
    assert told(union(union(first, BY), BY)) == told(union(first, BY))
    common, only = intersection(first, second, BY), difference(first, second, BY)
    assert told(common) == told(intersection(second, first, BY))
    assert told(union(pl.concat([only, common]), BY)) == told(union(first, BY))
    assert told(intersection(only, second, BY)) == {}
    assert told(difference(first, first, BY)) == {}
    # what lies between the gaps is a gap of the gaps: the inner intervals
    inner = {group: pairs[1:-1] for group, pairs in told(union(first, BY)).items()}
    assert told(gaps(gaps(first, BY), BY)) == {g: p for g, p in inner.items() if p}


@settings(max_examples=examples(200), deadline=None)
@given(GROUPS, GROUPS)
def test_lengths_add_up(a: Groups, b: Groups) -> None:
    def length(intervals: pl.LazyFrame) -> dict[str | None, int]:
        return dict(lengths(intervals, BY).collect().iter_rows())

    first, second = frame(a), frame(b)
    of_first, of_second = length(first), length(second)
    common = length(intersection(first, second, BY))
    only, free = length(difference(first, second, BY)), length(gaps(first, BY))
    together = length(pl.concat([first, second]))
    for group, total in together.items():
        shared = common.get(group, 0)
        told_apart = of_first.get(group, 0) + of_second.get(group, 0)
        assert told_apart - shared == total
        assert only.get(group, 0) + shared == of_first.get(group, 0)
    for group, times in swept(a).items():
        hull = max(times) + 1 - min(times) if times else 0
        assert of_first.get(group, 0) + free.get(group, 0) == hull


#: Times near both ends of Int64, and near zero.
ENDS = st.one_of(
    st.integers(0, 6).map(lambda far: FIRST + far),
    st.integers(-3, 3),
    st.integers(0, 6).map(lambda far: LAST - far),
)
EXTREME = st.lists(st.tuples(ENDS, ENDS).map(lambda two: (min(two), max(two))))


def squeezed(pairs: Iterable[Interval]) -> list[Interval]:
    """Intervals on an axis of a few points that stands for the whole of Int64."""
    return [(squeeze(start), squeeze(end)) for start, end in pairs]


def squeeze(time: int) -> int:
    far = 1 << 40
    if time < -far:
        return time - FIRST - 100
    return 100 - (LAST - time) if time > far else time


@settings(max_examples=examples(200), deadline=None)
@given(EXTREME, EXTREME)
def test_nothing_overflows_at_the_ends_of_time(
    a: list[Interval], b: list[Interval]
) -> None:
    first, second = frame({None: a}), frame({None: b})
    apart, beside = covered(squeezed(a)), covered(squeezed(b))
    for got, expected in (
        (union(first, BY), apart),
        (intersection(first, second, BY), apart & beside),
        (difference(first, second, BY), apart - beside),
    ):
        found = squeezed(told(got).get(None, []))
        assert found == drawn(expected)


@pytest.mark.parametrize("operation", [intersection, difference])
def test_the_order_of_rows_does_not_matter(operation: object) -> None:
    assert callable(operation)
    first = frame({"a": [(0, 9), (5, 14)], None: [(1, 3)], "b": [(2, 2), (4, 8)]})
    second = frame({None: [(2, 9)], "a": [(6, 7), (3, 4)]})
    one = operation(first, second, BY).collect()
    other = operation(first.reverse(), second.reverse(), BY).collect()
    assert one.equals(other)
