"""Scatter and correlation of blocks do not come from levels that change."""

import numpy as np
import polars as pl
import pytest
from scipy.signal import lfilter

from analysis._straggler_day_blocks import Blocks
from analysis._straggler_day_stats import statistics_of
from analysis._straggler_limits import Limits
from analysis._straggler_scatter import of_pairs
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


def told(series: Times) -> tuple[float | None, float | None]:
    """The typical scatter and lag of things, by pairs of blocks."""
    things, count = series.shape
    rows = pl.DataFrame(
        {"thing": np.repeat(np.arange(things), count), "log": series.ravel()}
    )
    of_things = rows.group_by("thing").agg(**of_pairs(pl.col("log")))
    scatter, lag = of_things.select(pl.col("pair_sd", "pair_lag").median()).row(0)
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
    # THEN an end of the spell is in one of 25 pairs; about the mean it is in them all
    scatter, found_lag = told(series)
    assert scatter == pytest.approx(0.01, rel=0.1)
    assert found_lag == pytest.approx(lag, abs=0.1)


def test_pairs_of_a_drawn_series() -> None:
    # 0 1 2 0 1 2 ...: the next differs by 1, 1 and 2; three on is the same, four not
    series = np.tile([0.0, 1, 2], 27)[None, :80]
    scatter, lag = told(series)
    assert scatter == pytest.approx(1.4826 / np.sqrt(2))
    assert lag == 0


@pytest.mark.parametrize("count", [23, 40])
def test_pairs_that_cannot_tell(count: int) -> None:
    # too few; or three blocks on all is the same
    series = np.tile([0.0, 1, 2], 27)[None, :count]
    assert told(series) == (None, None)


def ranks(count: int) -> pl.DataFrame:
    """Ranks that are tested."""
    numbers = pl.Series("thing", range(count), dtype=pl.UInt32)
    names = [f"rank {rank}" for rank in range(count)]
    return pl.DataFrame([numbers]).with_columns(
        pl.Series("scope_id", names), run_id=pl.lit("run"), scope=pl.lit("gpu")
    )


@pytest.mark.parametrize("count", [3, 23, 24, 40, 64, 300])
def test_days_tell_the_same_of_things_with_gaps(count: int) -> None:
    draw = np.random.default_rng(count)
    values = np.exp(blocks(40, count, 0.3, count)).astype(np.float32)
    values[:5, count // 3 : count // 2] *= 1.1
    values[5:15][draw.random((10, count)) < 0.3] = np.nan
    values[15] = 1
    things = ranks(40)
    day = statistics_of(Blocks(pl.DataFrame(), values), things)
    thing, place = np.nonzero(~np.isnan(values))
    ratio = values[thing, place].astype(np.float64)
    rows = pl.DataFrame(
        {"thing": pl.Series(thing, dtype=pl.UInt32), "place": place, "ratio": ratio}
    )
    kept = ["thing", "blocks", "mean", "median", "sd", "lag", "pair_sd", "pair_lag"]
    judged = judge(rows, things, Limits()).select(kept)
    several = day.filter(pl.col("blocks") >= 3).select(judged.columns)
    assert judged.height >= 30
    assert several.to_numpy() == pytest.approx(
        judged.to_numpy(), rel=1e-9, abs=1e-12, nan_ok=True
    )
    assert judged["pair_sd"].is_null().all() == (count < 24)


@pytest.mark.parametrize("seed", range(5))
def test_errors_are_never_wider_than_those_about_the_mean(seed: int) -> None:
    ratio = np.exp(blocks(16, 40, 0.2 * seed, seed))
    thing, place = np.indices(ratio.shape)
    rows = pl.DataFrame(
        {
            "thing": pl.Series(thing.ravel(), dtype=pl.UInt32),
            "place": place.ravel(),
            "ratio": ratio.ravel(),
        }
    )
    judged = judge(rows, ranks(16), Limits())
    lag = np.clip(np.median(judged["lag"].to_numpy()), 0, 0.9)
    about_mean = np.median(judged["sd"].to_numpy()) * np.sqrt((1 + lag) / (1 - lag))
    assert 0 < judged["block_sd"][0] <= about_mean * (1 + 1e-12)


def once_slow(work: Times, slowdown: float, seed: int) -> list[tuple[str, int, int]]:
    """Make half of the ranks slow once each, for a third to half of all steps."""
    steps, fleet = work.shape
    draw = np.random.default_rng([seed, 9])
    spells = []
    for rank in draw.choice(fleet, fleet // 2, replace=False):
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
