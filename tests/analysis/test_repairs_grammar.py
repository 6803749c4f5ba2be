"""Repairs as people write them, and the one way in which they are told again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis._repairs import FORMS, Repair, of_ranks
from analysis._repairs_grammar import parse
from ingest.errors import UsageError
from tests.examples import examples


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("rank=7", "rank=7"),
        ("rank=3..5", "rank=3..5"),
        ("rank=5,3,4", "rank=3..5"),
        ("rank=1, 9", "rank=1,9"),
        ("rank=0..3,2..8", "rank=0..8"),
        (" host = node-01 ", "host=node-01"),
        ("host=a=b", "host=a=b"),
        ("stage=15", "stage=15"),
        ("stage=last", "stage=last"),
        ("workers=slowest", "workers=slowest"),
        ("link=a-b", "link=a-b"),
        ("kind=forward-compute", "kind=forward-compute"),
        ("communication", "communication"),
        ("communication=free", "communication"),
        ("communication=hidden", "communication=hidden"),
        ("communication=ep", "communication=ep"),
        ("checkpoint=100", "checkpoint=every 100 steps"),
        ("checkpoint=every 1 step", "checkpoint=every 1 steps"),
        ("checkpoint=every-50-steps", "checkpoint=every 50 steps"),
        ("gc", "gc"),
        ("sequence-lengths", "sequence-lengths"),
        ("everything", "everything"),
    ],
)
def test_a_repair_is_told_in_one_way(written: str, told: str) -> None:
    repair = parse(written)
    assert repair.text == told
    assert parse(told) == repair


def test_an_unknown_repair_lists_every_form() -> None:
    with pytest.raises(UsageError) as error:
        parse("speed")
    assert all(form in str(error.value) for form in FORMS.values())


VALUED = st.tuples(st.sampled_from(list(FORMS)), st.text()).map("=".join)


@settings(max_examples=examples(300))
@given(st.one_of(st.text(), VALUED))
def test_any_text_is_a_repair_or_wrong_usage(text: str) -> None:
    try:
        repair = parse(text)
    except UsageError:
        return
    assert isinstance(repair, Repair)
    assert parse(repair.text) == repair


@settings(max_examples=examples(300))
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)), min_size=1))
def test_ranges_of_ranks_hold_each_rank_once(drawn: list[tuple[int, int]]) -> None:
    ranges = tuple((first, first + more) for first, more in drawn)
    repair = of_ranks(ranges)
    told = [rank for first, last in repair.ranks for rank in range(first, last + 1)]
    assert told == sorted({r for a, b in ranges for r in range(a, b + 1)})
    assert parse(repair.text) == repair
