"""A spell differs from the rest of its run; what is slow for ever has none."""

from collections.abc import Iterable
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

from analysis.stragglers import StragglerRanks, StragglerSteps
from ingest.tables import StepTimings
from tests.analysis.fleets import STEP_NS, Times, found, step_log

RANKS, STEPS, SLOW = 16, 200, 3

#: Smallest slowdown that is named.
GATE = 1.02


def fleet(seed: int, step_sd: float = 0.005) -> Times:
    """Ranks with a persistent sd of 0.3 %."""
    draw = np.random.default_rng(seed)
    noise = 1 + draw.normal(0, step_sd, (STEPS, RANKS))
    work: Times = draw.normal(1, 0.003, RANKS) * noise
    return work


def constant(seed: int, slowdown: float) -> Times:
    """One rank slower in every step, over the mean of the others."""
    work = fleet(seed)
    work[:, SLOW] *= slowdown / work[:, SLOW].mean()
    return work


def spell(seed: int, slowdown: float, first: int, last: int) -> Times:
    """One rank slower from one step to another."""
    work = constant(seed, 1)
    work[first : last + 1, SLOW] *= slowdown
    return work


def slow(works: Iterable[Times]) -> pl.DataFrame:
    """What is slow in fleets, each a run of its own."""
    logs = [step_log(work, run_id=f"run {n:02}") for n, work in enumerate(works)]
    rows = found((StepTimings, pl.concat(logs)))[StragglerRanks]
    return rows.select("run_id", "rank", "slowdown_ratio", "first_step", "last_step")


def dates(rows: pl.DataFrame) -> set[tuple[int, ...]]:
    return set(rows.select("rank", "first_step", "last_step").unique().rows())


def test_no_window_of_a_constant_slowdown_near_the_gate_is_named() -> None:
    # GIVEN 40 runs with one rank 1.9 to 2.08 % slow in all their steps
    rows = slow(constant(5_000 + n, 1.019 + n % 10 * 0.0002) for n in range(40))
    # THEN those that are measured past the gate are slow for the whole run
    assert dates(rows) == {(SLOW, 0, STEPS - 1)}
    # the gate is held against blocks, of which the median of steps differs a little
    assert rows["slowdown_ratio"].min() >= GATE - 0.001  # type: ignore[operator]


@pytest.mark.parametrize("slowdown", [1.03, 1.12])
def test_a_constant_slowdown_is_dated_by_the_run(slowdown: float) -> None:
    rows = slow(constant(6_000 + n, slowdown) for n in range(20))
    assert rows["run_id"].n_unique() == rows.height == 20
    assert dates(rows) == {(SLOW, 0, STEPS - 1)}


def test_a_constant_slowdown_costs_what_it_costs_in_every_step() -> None:
    # 15 ranks work 100, one 103, in steps of noise that all share
    work = np.full((STEPS, RANKS), 100.0)
    work[:, SLOW] = 103
    work *= np.random.default_rng(1).normal(1, 0.005, (STEPS, 1))
    results = found((StepTimings, step_log(work / 100)))
    (lost,) = results[StragglerRanks]["lost_gpu_ns"]
    expected = work[:, 0].sum() / 100 * STEP_NS * RANKS * 3 // 100
    assert float(lost) == pytest.approx(expected, rel=1e-6)
    assert lost == results[StragglerSteps]["lost_gpu_ns"].cast(pl.Int128).sum()
    assert isinstance(lost, Decimal)


@pytest.mark.parametrize(
    ("slowdown", "first", "last"),
    [
        (1.04, 70, 129),
        (1.12, 70, 99),  # 30 steps: the shortest spell
        (1.04, 0, 99),  # half of the run
        (1.10, 80, 199),  # slow on the whole, too
    ],
)
def test_a_spell_is_dated(slowdown: float, first: int, last: int) -> None:
    rows = slow(spell(7_000 + n, slowdown, first, last) for n in range(10))
    assert rows.height == 10
    assert dates(rows) == {(SLOW, first, last)}


def test_a_change_within_the_gate_is_no_spell() -> None:
    # a rank 1.5 % slow, and 3 % in half of its steps: never 2 % from itself
    works = [spell(8_000 + n, 1.015, 0, 99) for n in range(10)]
    for work in works:
        work[:, SLOW] *= 1.015
    assert dates(slow(works)) <= {(SLOW, 0, STEPS - 1)}


@pytest.mark.parametrize("step_sd", [0.005, 0.05])
def test_steps_that_scatter_make_no_spell(step_sd: float) -> None:
    assert slow(fleet(9_000 + n, step_sd) for n in range(40)).is_empty()


def test_one_rank_that_scatters_makes_no_spell() -> None:
    works = [fleet(9_100 + n) for n in range(40)]
    for n, work in enumerate(works):
        work[:, SLOW] = np.random.default_rng(n).normal(1, 0.08, STEPS)
    assert slow(works).is_empty()
