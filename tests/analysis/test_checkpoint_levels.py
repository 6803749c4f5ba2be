"""Nested levels of checkpoints: by hand, and against a simulation of two levels."""

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.checkpoint_models import (
    Costs,
    Tier,
    exact_ettr,
    multi_level,
    nested_waste,
    young,
)
from ingest.errors import SettingError


def tiers_of() -> st.SearchStrategy[list[Tier]]:
    one = st.builds(
        Tier,
        mtbf_s=st.floats(600, 1e6),
        stall_s=st.floats(0.1, 600),
        restart_s=st.floats(0, 600),
        least_s=st.floats(0, 600),
    )
    return st.lists(one, min_size=1, max_size=3)


def test_one_level_is_next_to_the_exact_optimum() -> None:
    told, costs = multi_level([Tier(10_000, 50, 300)]), Costs(10_000, 50, 300)
    (interval,) = told.intervals_s
    # sqrt(w^2 + 2 w (M - R)) - w, and Young's 1000 s to first order
    assert interval == pytest.approx(sqrt(50**2 + 100 * 9700) - 50)
    assert interval == pytest.approx(young(costs), rel=0.07)
    exact = 1 - exact_ettr(interval, costs)
    assert told.waste_ratio == pytest.approx(exact, rel=0.01)


def test_two_levels_by_hand() -> None:
    # alone: sqrt(2 x 2 x 2500) = 100 s and sqrt(2 x 18 x 40000) = 1200 s: 12 times;
    # writing 2 x 11/12 + 18/12 = 3.3333 s of a base, undone 1/5000 + 12/80000
    told = multi_level([Tier(2500, 2), Tier(40_000, 18)])
    writing, undone = 2 * 11 / 12 + 18 / 12, 1 / 5000 + 12 / 80_000
    base = sqrt(writing**2 + writing / undone) - writing
    assert told.multiples == (1, 12)
    assert list(told.intervals_s) == pytest.approx([base, 12 * base])
    useful = (1 - undone * base) / (1 + writing / base)
    assert told.waste_ratio == pytest.approx(1 - useful)


def test_a_level_above_that_is_cheaper_takes_the_place_of_the_one_below() -> None:
    told = multi_level([Tier(10_000, 30), Tier(10_000, 3)])
    assert told.multiples == (1, 1)
    # each save is one of 3 s, and a failure of either level, each 5000 s, needs it
    assert told.intervals_s[0] == pytest.approx(sqrt(3**2 + 2 * 3 * 5000) - 3)


def test_a_save_is_not_begun_before_the_last_is_safe() -> None:
    told = multi_level([Tier(10_000, 0.5, 0, 300.0)])
    assert told.intervals_s == (300.0,)


@given(tiers_of())
def test_levels_are_nested_and_no_worse_than_the_highest_alone(
    tiers: list[Tier],
) -> None:
    told = multi_level(tiers)
    assert all(
        high % low == 0
        for low, high in zip(told.multiples, told.multiples[1:], strict=False)
    )
    base, *_ = told.intervals_s
    assert told.waste_ratio == pytest.approx(nested_waste(tiers, base, told.multiples))
    assert told.waste_ratio <= nested_waste(tiers, base * 1.3, told.multiples) + 1e-12


@pytest.mark.parametrize("tiers", [[], [Tier(100, 0)], [Tier(inf, 5)]])
def test_levels_without_a_cost_or_a_failure_are_refused(tiers: list[Tier]) -> None:
    with pytest.raises(SettingError, match="level needs"):
        multi_level(tiers)


def test_two_levels_simulated() -> None:
    # near failures each 4000 s, far ones each 40000 s; far saves each fourth
    near, far = Tier(4000, 1, 10), Tier(40_000, 6, 60)
    told = multi_level([near, far])
    ratio = _two_levels(near, far, told.intervals_s[0], told.multiples[1])
    # first order: failures during rework and restarts are left out
    assert 1 - ratio == pytest.approx(told.waste_ratio, rel=0.06)


def _two_levels(near: Tier, far: Tier, base: float, every: int) -> float:
    """Walk 20,000 failures of two kinds over saves of two kinds."""
    draw = np.random.default_rng(3)
    both = 1 / (1 / near.mtbf_s + 1 / far.mtbf_s)
    gaps = draw.exponential(both, 20_000)
    is_far = draw.random(20_000) < both / far.mtbf_s
    done, restart = 0, 0.0
    cycle = every * base + (every - 1) * near.stall_s + far.stall_s
    for gap, kind in zip(gaps, is_far, strict=True):
        left = gap - restart
        if left > 0:
            done = _advance(done, left, base, every, (near.stall_s, far.stall_s), cycle)
        done = done // every * every if kind else done
        restart = far.restart_s if kind else near.restart_s
    return float(done * base / gaps.sum())


def _advance(  # noqa: PLR0917 - the state of a walk
    done: int,
    left: float,
    base: float,
    every: int,
    stalls: tuple[float, float],
    cycle: float,
) -> int:
    """Return the saves that are done after working for a while."""
    done += int(left // cycle) * every
    left %= cycle
    while left >= (need := base + stalls[(done + 1) % every == 0]):
        left -= need
        done += 1
    return done
