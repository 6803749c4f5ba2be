"""A spell differs from the rest of its run; what is slow for ever has none."""

from collections.abc import Iterable
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

from analysis.stragglers import StragglerRanks, StragglerSteps
from ingest.tables import StepTimings
from tests.analysis.fleets import STEP_NS, Times, found, step_log

pytestmark = pytest.mark.thorough

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


def test_spells_of_one_gpu_are_all_named_and_what_they_cost() -> None:
    # rank 3: 10 % in steps 33 to 72, 30 % in 120 to 163
    work = fleet(11)
    work[33:73, SLOW] *= 1.1
    work[120:164, SLOW] *= 1.3
    results = found((StepTimings, step_log(work)))
    rows = results[StragglerRanks].sort("first_step")
    assert rows.select("rank", "first_step", "last_step").rows() == [
        (SLOW, 33, 72),
        (SLOW, 120, 163),
    ]
    assert rows["slowdown_ratio"].to_list() == pytest.approx([1.1, 1.3], abs=0.01)
    # spells do not meet, so that their costs add up to that of all repaired
    total = results[StragglerSteps]["lost_gpu_ns"].cast(pl.Int128).sum()
    assert rows["lost_gpu_ns"].cast(pl.Int128).sum() == total


@pytest.mark.parametrize("first", [0, 3, 17, 141, 155, 160])
def test_a_spell_near_an_end_of_the_run_is_dated(first: int) -> None:
    rows = slow(spell(7_700 + n, 1.08, first, first + 39) for n in range(5))
    assert dates(rows) == {(SLOW, first, first + 39)}


@pytest.mark.parametrize(("first", "last"), [(15, 199), (0, 187), (8, 190)])
def test_what_is_slow_but_for_an_end_is_dated(first: int, last: int) -> None:
    rows = slow(spell(7_800 + n, 1.08, first, last) for n in range(5))
    assert dates(rows) == {(SLOW, first, last)}


def test_a_spell_across_a_restart_is_one() -> None:
    # the run stops after step 119 and goes on from 100; rank 3 is slow from 80 to 139
    work = spell(12, 1.1, 80, 139)
    log = step_log(work)
    before = log.filter(pl.col("step") < 120)
    again = log.filter(pl.col("step") >= 100).with_columns(
        pl.lit(1, pl.Int32).alias("attempt"), pl.col("start_ns") + 1_000 * STEP_NS
    )
    rows = found((StepTimings, pl.concat([before, again])))[StragglerRanks]
    assert rows.select("attempt", "first_step", "last_step").rows() == [(0, 80, 139)]


def test_all_ranks_that_are_slow_together_are_no_stragglers() -> None:
    works = [fleet(9_200 + n) for n in range(10)]
    for work in works:
        work[60:120] *= 1.3
    assert slow(works).is_empty()


def test_the_order_of_rows_does_not_matter() -> None:
    work = fleet(13)
    work[33:73, SLOW] *= 1.1
    work[120:164, 5] *= 1.3
    log = step_log(work)
    once = found((StepTimings, log))
    again = found((StepTimings, log.sample(fraction=1, shuffle=True, seed=7)))
    for table, rows in once.items():
        assert rows.equals(again[table]), table
