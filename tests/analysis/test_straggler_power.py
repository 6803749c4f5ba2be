"""What the search finds, and what it does not, over many runs like real ones.

Each proof draws 200 runs, puts faults into them and asks the search as a user would.
How many were right is told with an exact interval: `pytest -m slow -s` prints it.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from analysis.stragglers import StragglerRanks, find_stragglers
from tests.analysis.jobs_like_real import CALM, ROUGH, Scatter, frames_of, own_work

RUNS, RANKS, STEPS, LONG = 200, 1_024, 200, 2_000

#: Steps of a spell, and how far its first and its last may be off.
SPELL, NEAR = 60, 5


@dataclass(frozen=True, slots=True)
class Fault:
    """A rank that is slower, from one step to another."""

    rank: int
    slowdown: float
    first: int
    last: int

    def is_told_by(self, rows: pl.DataFrame) -> bool:
        """Whether one row names it, with both ends near."""
        own = rows.filter(pl.col("rank") == self.rank)
        if own.height != 1:
            return False
        first, last = own.select("first_step", "last_step").row(0)
        off = max(abs(first - self.first), abs(last - self.last))
        return bool(off <= NEAR)


Faults = Callable[[np.random.Generator], list[Fault]]


def nothing(_: np.random.Generator) -> list[Fault]:
    return []


def for_the_run(slowdown: float) -> Faults:
    def faults(draw: np.random.Generator) -> list[Fault]:
        return [Fault(int(draw.integers(RANKS)), slowdown, 0, STEPS - 1)]

    return faults


def two_spells(draw: np.random.Generator) -> list[Fault]:
    """One rank slower by 30 %, another by 10 %, at any steps of the run."""
    ranks = draw.choice(RANKS, 2, replace=False)
    first = draw.integers(0, LONG - SPELL + 1, 2)
    return [
        Fault(int(rank), slowdown, int(step), int(step) + SPELL - 1)
        for rank, slowdown, step in zip(ranks, (1.3, 1.1), first, strict=True)
    ]


def is_right(seed: int, steps: int, scatter: Scatter, faults: Faults) -> bool:
    """Whether a run's faults are named and dated, and nothing else."""
    work = own_work(RANKS, steps, seed, scatter)
    put_in = faults(np.random.default_rng([seed, 1]))
    for fault in put_in:
        work[fault.first : fault.last + 1, fault.rank] *= fault.slowdown
    rows = find_stragglers(frames_of(work))[StragglerRanks]
    return rows.height == len(put_in) and all(f.is_told_by(rows) for f in put_in)


def interval(right: int) -> str:
    """The exact interval of a share at 95 % (Clopper and Pearson, 1934)."""
    from scipy.stats import binomtest

    low, high = binomtest(right, RUNS).proportion_ci(method="exact")
    return f"{right} of {RUNS} right, {100 * low:.1f} to {100 * high:.1f} %"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "scatter", "faults", "least"),
    [
        pytest.param(STEPS, CALM, nothing, 0.99, id="healthy"),
        pytest.param(STEPS, ROUGH, nothing, 0.99, id="healthy, CV 3 %"),
        pytest.param(LONG, CALM, nothing, 0.99, id="healthy, 2,000 steps"),
        pytest.param(STEPS, CALM, for_the_run(1.03), 0.99, id="3 % slow"),
        pytest.param(STEPS, ROUGH, for_the_run(1.05), 0.99, id="5 % slow, CV 3 %"),
        pytest.param(LONG, CALM, two_spells, 0.95, id="spells of 1.3x and 1.1x"),
    ],
)
def test_power(
    request: pytest.FixtureRequest,
    steps: int,
    scatter: Scatter,
    faults: Faults,
    least: float,
) -> None:
    right = sum(is_right(seed, steps, scatter, faults) for seed in range(RUNS))
    sys.stdout.write(f"\n{request.node.callspec.id}: {interval(right)}\n")
    assert right >= least * RUNS, interval(right)


@pytest.mark.parametrize(
    ("scatter", "faults", "steps"),
    [
        (CALM, nothing, STEPS),
        (CALM, for_the_run(1.03), STEPS),
        (ROUGH, for_the_run(1.05), STEPS),
    ],
)
def test_one_run_of_each(scatter: Scatter, faults: Faults, steps: int) -> None:
    assert is_right(4_711, steps, scatter, faults)
