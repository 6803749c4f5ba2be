"""Runs like real ones, varied: where spells lie, who is slow, what is missing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl
import pytest

from analysis import Frames
from analysis.gpus import Gpus
from analysis.stragglers import StragglerRanks, find_stragglers
from ingest.tables import StepTimings
from tests.analysis.fleets import Times, seats
from tests.analysis.jobs_like_real import CALM, ROUGH, Scatter, frames_of, own_work

RUNS, RANKS, STEPS, SPELL, NEAR = 50, 64, 2_000, 60, 5

HEAVY = replace(CALM, outlier_share=5e-3)

#: What is slow in a run: first and last step, by name.
Found = list[tuple[str, int, int]]

#: Puts faults into a run, and tells them.
Fault = Callable[[Times, np.random.Generator], Found]


def slow(work: Times, rank: int, slowdown: float, first: int, length: int) -> Found:
    work[first : first + length, rank] *= slowdown
    return [(f"rank {rank}", first, first + length - 1)]


def spell_at(first: int, length: int = SPELL, slowdown: float = 1.1) -> Fault:
    def fault(work: Times, draw: np.random.Generator) -> Found:
        at = first if first >= 0 else STEPS - length + first + 1
        return slow(work, int(draw.integers(RANKS)), slowdown, at, length)

    return fault


def spell_anywhere(length: int = SPELL, slowdown: float = 1.1) -> Fault:
    def fault(work: Times, draw: np.random.Generator) -> Found:
        first = int(draw.integers(0, STEPS - length + 1))
        return slow(work, int(draw.integers(RANKS)), slowdown, first, length)

    return fault


def two_spells_of_one(work: Times, draw: np.random.Generator) -> Found:
    rank, first = int(draw.integers(RANKS)), draw.integers([0, 1_040], [900, 1_940])
    return [
        *slow(work, rank, 1.1, int(first[0]), SPELL),
        *slow(work, rank, 1.3, int(first[1]), SPELL),
    ]


def two_gpus(work: Times, draw: np.random.Generator) -> Found:
    one, other = (int(rank) for rank in draw.choice(RANKS, 2, replace=False))
    return [*slow(work, one, 1.03, 0, STEPS), *slow(work, other, 1.05, 0, STEPS)]


def all_together(work: Times, draw: np.random.Generator) -> Found:
    first = int(draw.integers(0, STEPS - SPELL))
    work[first : first + SPELL] *= 1.3
    return []


def named(rows: pl.DataFrame) -> Found:
    return [
        (str(name), int(first), int(last))
        for name, first, last in rows.sort("first_step", "scope_id")
        .select("scope_id", "first_step", "last_step")
        .rows()
    ]


def is_near(found: Found, truth: Found) -> bool:
    pairs = zip(found, sorted(truth, key=lambda row: (row[1], row[0])), strict=False)
    near = (
        one[0] == other[0]
        and abs(one[1] - other[1]) <= NEAR
        and abs(one[2] - other[2]) <= NEAR
        for one, other in pairs
    )
    return len(found) == len(truth) and all(near)


CASES: Final = [
    pytest.param(spell_at(0), CALM, id="from step 0"),
    pytest.param(spell_at(17), CALM, id="from step 17"),
    pytest.param(spell_at(-1), CALM, id="to the last step"),
    pytest.param(spell_at(-12), CALM, id="to 11 before the last"),
    pytest.param(spell_at(15, STEPS - 15, 1.05), CALM, id="all but 15 steps"),
    pytest.param(spell_anywhere(40), CALM, id="40 steps"),
    pytest.param(spell_anywhere(slowdown=1.05), CALM, id="5 %"),
    pytest.param(spell_anywhere(), ROUGH, id="CV 3 %"),
    pytest.param(spell_anywhere(), HEAVY, id="heavy outliers"),
    pytest.param(two_spells_of_one, CALM, id="two spells of one"),
    pytest.param(two_gpus, CALM, id="two GPUs"),
    pytest.param(all_together, CALM, id="all together"),
    pytest.param(lambda *_: [], HEAVY, id="healthy, heavy outliers"),
    pytest.param(lambda *_: [], replace(ROUGH, lag=0.5), id="healthy, lag 0.5"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "scatter"), CASES)
def test_variations(fault: Fault, scatter: Scatter) -> None:
    right = 0
    for seed in range(RUNS):
        work = own_work(RANKS, STEPS, 50_000 + seed, scatter)
        truth = fault(work, np.random.default_rng([seed, 2]))
        found = named(find_stragglers(frames_of(work))[StragglerRanks])
        right += is_near(found, truth)
    assert right >= 0.95 * RUNS, f"{right} of {RUNS}"


@pytest.mark.slow
def test_a_host_of_eight_is_named_in_its_spell() -> None:
    right = 0
    for seed in range(RUNS):
        draw = np.random.default_rng([seed, 3])
        work = own_work(RANKS, STEPS, 60_000 + seed)
        host, first = int(draw.integers(8)), int(draw.integers(0, STEPS - SPELL))
        work[first : first + SPELL, 8 * host : 8 * host + 8] *= 1.1
        where = seats(
            RANKS, lambda rank: {"host": f"node-{rank // 8}", "gpu_uuid": f"GPU-{rank}"}
        )
        told = {StepTimings: frames_of(work)[StepTimings], Gpus: where.lazy()}
        found = named(find_stragglers(Frames(told))[StragglerRanks])
        right += is_near(found, [(f"node-{host}", first, first + SPELL - 1)])
    assert right >= 0.95 * RUNS, f"{right} of {RUNS}"


@pytest.mark.slow
def test_ranks_that_miss_steps_are_compared_in_those_they_have() -> None:
    right = 0
    for seed in range(RUNS):
        draw = np.random.default_rng([seed, 4])
        work = own_work(RANKS, STEPS, 70_000 + seed)
        present = draw.random(work.shape) > 0.1
        present[:, 5] = False
        present[300:900, 7] = False
        truth = slow(work, 20, 1.1, int(draw.integers(0, STEPS - SPELL)), SPELL)
        found = named(find_stragglers(frames_of(work, present))[StragglerRanks])
        right += is_near(found, truth)
    assert right >= 0.95 * RUNS, f"{right} of {RUNS}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranks", "scatter", "slowdown", "least"),
    [(64, CALM, 1.03, 0.98), (64, ROUGH, 1.05, 0.98), (16, CALM, 1.04, 0.96)],
)
def test_fewer_ranks(
    ranks: int, scatter: Scatter, slowdown: float, least: float
) -> None:
    right = 0
    for seed in range(RUNS):
        work = own_work(ranks, 200, 80_000 + seed, scatter)
        rank = int(np.random.default_rng([seed, 5]).integers(ranks))
        truth = slow(work, rank, slowdown, 0, 200)
        right += is_near(named(find_stragglers(frames_of(work))[StragglerRanks]), truth)
    assert right >= least * RUNS, f"{right} of {RUNS}"
