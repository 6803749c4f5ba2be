"""Chances of being last, against sums over every outcome; who waited for whom."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from analysis._late_sums import bundled
from analysis._late_tests import MOST_EXACT, tail_of_sum, with_tails
from analysis.late_ranks import WaitingEdges, find_waiting
from tests.analysis.collectives import NO_ATTEMPTS, collectives, seen


@given(
    st.lists(st.tuples(st.integers(2, 9), st.integers(1, 4)), min_size=1, max_size=3)
)
def test_the_tail_is_the_sum_over_every_outcome(sizes: list[tuple[int, int]]) -> None:
    chances = [1 / size for size, count in sizes for _ in range(count)]
    mass = np.zeros(len(chances) + 1)
    for outcome in product((0, 1), repeat=len(chances)):
        terms = [
            chance if is_last else 1 - chance
            for is_last, chance in zip(outcome, chances, strict=True)
        ]
        mass[sum(outcome)] += np.prod(terms)
    expected = mass[::-1].cumsum()[::-1]
    found = tail_of_sum(
        np.array([size for size, _ in sizes]), np.array([count for _, count in sizes])
    )
    assert found == pytest.approx(expected, rel=1e-9)


def test_small_chances_keep_their_digits() -> None:
    # last in all of 40 of 8 and 40 of 64: 2^-120 x 2^-240
    found = tail_of_sum(np.array([8, 64]), np.array([40, 40]))
    assert found[-1] == pytest.approx(2.0**-360, rel=1e-9)


def ranks_of(total: int, last: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A rank that met one other half of the time, and three others the other half."""
    rank = {"run_id": "run", "attempt": 0, "rank": 0}
    half = total // 2
    ranks = rank | {
        "collectives_count": total,
        "last_count": last,
        "expected_count": half / 2 + half / 4,
    }
    sizes = [rank | {"ranks_seen": n, "collectives_count": half} for n in (2, 4)]
    return pl.DataFrame([ranks]), pl.DataFrame(sizes)


def test_too_many_for_exactness_are_bounded_from_above() -> None:
    total = MOST_EXACT + 2
    (many,) = with_tails(*ranks_of(total, 1_700))["p_value"]
    assert many == pytest.approx(binom.sf(1_699, total, 3 / 8), rel=1e-9)
    # the exact tail of one fewer of each is smaller than its bound
    total -= 2
    (exact,) = with_tails(*ranks_of(total, 1_700))["p_value"]
    assert exact < binom.sf(1_699, total, 3 / 8)


def test_who_waited_for_whom_in_a_drawn_case() -> None:
    # time    0    5    10
    # rank 0  ##########       waits 6 for rank 1
    # rank 1        ####
    # rank 2    ########       waits 4
    rows = collectives(
        seen(0, 0, 10, group_size=3, host="a"),
        seen(1, 6, 10, group_size=3, host="a"),
        seen(2, 2, 10, group_size=3, host="a"),
    )
    found = find_waiting(rows, NO_ATTEMPTS)
    assert WaitingEdges.is_valid(found)
    columns = ("waiting_rank", "waiting_to_rank", "late_rank", "wait_ns")
    assert found.select(columns).rows() == [(0, 0, 1, 6), (2, 2, 1, 4)]


def test_many_ranks_are_put_together_and_nothing_is_lost() -> None:
    # 100 ranks wait for the last, 1 ns each: bundles of two, as 50 are within 64
    edges = pl.DataFrame(
        {
            "run_id": "run",
            "attempt": 0,
            "waiting_rank": pl.Series(range(99), dtype=pl.Int32),
            "late_rank": pl.Series([99] * 99, dtype=pl.Int32),
            "collectives_count": 1,
            "wait_ns": 1,
        }
    )
    found = bundled(edges).sort("waiting_rank")
    assert found["waiting_rank"].to_list() == list(range(0, 100, 2))
    assert found["waiting_to_rank"].to_list() == list(range(1, 101, 2))
    assert found["wait_ns"].sum() == 99
    assert bundled(edges, 128).height == 99
