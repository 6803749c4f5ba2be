"""The identity of parts: kept by a merge, changed by all else."""

from dataclasses import replace
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from ingest.identity import conserve, identity_of
from ingest.manifest import Part


def parts(number: int, start: int = 0) -> list[Part]:
    return [
        Part("t", None, f"t/{start + i}.parquet", 1, 1, "{}", "{}", (), "f")
        for i in range(number)
    ]


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 6))
def test_a_merge_keeps_it(old: int, new: int, others: int) -> None:
    before, beside = parts(old), parts(others, 20)
    after = conserve(before, parts(new, 10))
    assert identity_of([*after, *beside]) == identity_of([*before, *beside])
    assert identity_of(reversed(after)) == identity_of(after)


@given(st.integers(1, 6), st.integers(2, 6), st.data())
def test_a_merged_part_that_leaves_changes_it(
    old: int, new: int, data: st.DataObject
) -> None:
    before = parts(old)
    after = conserve(before, parts(new, 10))
    gone = data.draw(st.integers(0, new - 1))
    left = [part for i, part in enumerate(after) if i != gone]
    changed = [*left, *parts(1, 30)]
    seen = {identity_of(left), identity_of(changed), identity_of(before)}
    assert len(seen) == 3


def test_it_is_kept_through_merges_of_merges() -> None:
    names = count(100, 100)
    first = parts(5)
    merged = first
    for _ in range(4):
        merged = conserve(merged, parts(3, next(names)))
    assert identity_of(merged) == identity_of(first)


def test_no_parts_have_one_too() -> None:
    assert identity_of([]) == "0" * 32
    assert conserve([], []) == []


def test_where_a_part_lies_is_its_identity() -> None:
    (part,) = parts(1)
    assert identity_of([part]) != identity_of([replace(part, path="t/other.parquet")])
