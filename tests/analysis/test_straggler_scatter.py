"""Scatter and correlation of blocks do not come from levels that change."""

import numpy as np
import polars as pl
import pytest
from scipy.signal import lfilter

from analysis._straggler_day_blocks import Blocks
from analysis._straggler_day_stats import statistics_of
from analysis._straggler_limits import Limits
from analysis._straggler_scatter import scatter_and_lag
from analysis._straggler_tests import judge
from analysis.straggler_days import StragglerDaysSpells
from analysis.stragglers import StragglerRanks, find_stragglers
from ingest.tables import StepTimings
from tests.analysis.condensed import condensed
from tests.analysis.fleets import Times, found, healthy, step_log
from tests.analysis.jobs_like_real import CALM, Scatter, frames_of, own_work

_SPELL = ["scope_id", "first_step", "last_step"]


def blocks(things: int, count: int, lag: float, seed: int) -> Times:
    """Logarithms of blocks with an sd of 1 % and a lag of their own."""
    fresh = np.random.default_rng(seed).normal(0, 0.01, (things, count))
    fresh[:, 1:] *= np.sqrt(1 - lag**2)
    series: Times = lfilter([1], [1, -lag], fresh, axis=1)
    return series


def told(series: Times) -> tuple[float, float]:
    """The typical scatter and lag of things."""
    things, count = series.shape
    rows = pl.DataFrame(
        {"thing": np.repeat(np.arange(things), count), "log": series.ravel()}
    )
    of_things = rows.group_by("thing").agg(**scatter_and_lag(pl.col("log")))
    scatter, lag = of_things.select(pl.col("scatter", "lag").median()).row(0)
    return scatter, lag


@pytest.mark.parametrize("lag", [0.0, 0.3, 0.5])
def test_of_autoregressive_blocks_as_they_were_drawn(lag: float) -> None:
    scatter, found_lag = told(blocks(400, 400, lag, 1))
    assert scatter == pytest.approx(0.01, rel=0.02)
    assert found_lag == pytest.approx(lag, abs=0.02)


@pytest.mark.parametrize("lag", [0.0, 0.5])
def test_levels_that_change_hardly_count(lag: float) -> None:
    # GIVEN things of which each is 20 % slow for half of its time, drifting besides
    series = blocks(400, 400, lag, 2)
    series[:, 100:300] += np.log(1.2)
    series += 0.01 * np.sin(np.arange(400) / 400 * 2 * np.pi)
    # THEN a twenty-fifth of pairs is too far apart; about means all blocks would be
    scatter, found_lag = told(series)
    assert scatter == pytest.approx(0.01, rel=0.1)
    assert found_lag == pytest.approx(lag, abs=0.1)


def test_of_few_blocks_both_are_about_the_mean() -> None:
    # deviations 3 -1 -1 -1 over and over: squares 12, products -3 -3 + 1 + 1 of four
    series = np.array([[3.0, -1, -1, -1] * 2])
    scatter, lag = told(series)
    assert scatter == pytest.approx(np.sqrt(24 / 7))
    assert lag == pytest.approx((-3 + 1 + 1 - 3 - 3 + 1 + 1) / 24)


def test_of_blocks_that_hardly_ever_differ_both_are_about_the_mean() -> None:
    series = np.zeros((1, 100))
    series[0, 50] = 1
    scatter, lag = told(series)
    assert scatter == pytest.approx(np.sqrt(0.99 / 99))
    assert lag == pytest.approx((-2 * 0.01 * 0.99 + 97 * 0.01**2) / 0.99)


@pytest.mark.parametrize("count", [3, 23, 24, 40, 64, 300])
def test_days_tell_the_same_of_things_with_gaps(count: int) -> None:
    draw = np.random.default_rng(count)
    values = np.exp(blocks(40, count, 0.3, count)).astype(np.float32)
    values[:5, count // 3 : count // 2] *= 1.1
    values[5:15][draw.random((10, count)) < 0.3] = np.nan
    values[15] = 1
    things = pl.DataFrame(
        {
            "thing": pl.Series(range(40), dtype=pl.UInt32),
            "run_id": "run",
            "scope": "gpu",
            "scope_id": [f"rank {rank}" for rank in range(40)],
        }
    )
    day = statistics_of(Blocks(pl.DataFrame(), values), things)
    thing, place = np.nonzero(~np.isnan(values))
    ratio = values[thing, place].astype(np.float64)
    rows = pl.DataFrame(
        {"thing": pl.Series(thing, dtype=pl.UInt32), "place": place, "ratio": ratio}
    )
    kept = ["thing", "blocks", "mean", "median", "sd"]
    judged = judge(rows, things, Limits()).select(*kept, "scatter", "lag")
    several = day.filter(pl.col("blocks") >= 3).select(judged.columns)
    assert judged.height >= 30
    assert several.to_numpy() == pytest.approx(judged.to_numpy(), rel=1e-9, abs=1e-12)


def once_slow(work: Times, slowdown: float, seed: int) -> list[tuple[str, int, int]]:
    """Make half of the ranks slow once each, for a third to half of all steps."""
    steps, ranks = work.shape
    draw = np.random.default_rng([seed, 9])
    spells = []
    for rank in draw.choice(ranks, ranks // 2, replace=False):
        length = int(draw.integers(steps // 3, steps // 2))
        first = int(draw.integers(0, steps - length))
        work[first : first + length, rank] *= slowdown
        spells.append((f"rank {rank}", first, first + length - 1))
    return sorted(spells)


def assert_near(rows: pl.DataFrame, spells: list[tuple[str, int, int]]) -> None:
    named = sorted(rows.select(_SPELL).rows())
    assert [name for name, *_ in named] == [name for name, *_ in spells]
    for one, other in zip(named, spells, strict=True):
        assert one[1:] == pytest.approx(other[1:], abs=10)


@pytest.mark.parametrize(("steps", "slowdown"), [(300, 1.08), (1_000, 1.05)])
def test_half_of_a_small_fleet_that_is_slow_once_is_found(
    steps: int, slowdown: float
) -> None:
    work = healthy(16, steps, 1)
    spells = once_slow(work, slowdown, 1)
    log = step_log(work)
    assert_near(found((StepTimings, log))[StragglerRanks], spells)
    assert_near(condensed(log)[StragglerDaysSpells], spells)


def drifting(work: Times, size: float, seed: int) -> Times:
    """Ranks that drift by so much up and down, each in its own time of day."""
    phase = np.random.default_rng([seed, 8]).uniform(0, 2 * np.pi, work.shape[1])
    turn = np.arange(len(work))[:, None] / len(work) * 2 * np.pi
    drifted: Times = work * np.exp(size * np.sin(turn + phase))
    return drifted


@pytest.mark.thorough
@pytest.mark.parametrize("lag", [0.5, 0.7, 0.9, 0.97])
@pytest.mark.parametrize("drift", [0.0, 0.01])
def test_noise_that_remembers_and_drifts_flags_nobody(lag: float, drift: float) -> None:
    # 20 fleets of 16 ranks in 1,000 steps: of 320 ranks 1 % would be three
    for seed in range(20):
        work = own_work(16, 1_000, 95_000 + seed, Scatter(cv=0.03, lag=lag))
        rows = find_stragglers(frames_of(drifting(work, drift, seed)))[StragglerRanks]
        assert rows.is_empty(), seed


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(5))
def test_a_calm_fleet_that_drifts_flags_nobody(seed: int) -> None:
    work = drifting(own_work(128, 1_000, 96_000 + seed, CALM), 0.01, seed)
    assert find_stragglers(frames_of(work))[StragglerRanks].is_empty()
