"""Whether intervals of rates hold the truth as often as they say, over many histories.

Each history draws its stops with the odds of Llama 3's table over 54 days of attempts.
Its rates are known, and the analysis sees only what was drawn: each history is a run,
so that one call of the analysis answers for all of them.
"""

from functools import cache
from math import sqrt
from statistics import mean, variance
from typing import Any, Final

import polars as pl
import pytest

from analysis._analysis import Frames
from analysis.attempts import Attempts
from analysis.interrupt_rates import ANALYSIS, InterruptRates
from analysis.interruptions import Interruptions
from analysis.poisson import mean_interval
from analysis.runs import Runs
from ingest.synthetic.history import TABLE_5, UNEXPECTED, History, draw_attempts
from ingest.tables import Table
from ingest.times import DAY_NS

DAYS: Final = 54
GPUS: Final = 16_384

#: Mean count of each cause in a history, and of all together.
MEANS: Final = {cause.name: cause.count for cause in TABLE_5} | {"all": UNEXPECTED}


def frame(rows: pl.DataFrame, table: type[Table], **more: Any) -> pl.LazyFrame:
    told = rows.with_columns(**{name: _literal(value) for name, value in more.items()})
    schema = table.create_empty().schema
    missing = [name for name in schema if name not in told.columns]
    whole = told.with_columns(pl.lit(None).alias(name) for name in missing)
    return whole.select(pl.col(name).cast(kind) for name, kind in schema.items()).lazy()


def _literal(value: Any) -> pl.Expr:
    return value if isinstance(value, pl.Expr) else pl.lit(value)


def rated(seeds: int) -> pl.DataFrame:
    """Rates of histories: run_id, component, count and the bounds of the mean time."""
    drawn = draw_attempts(range(seeds), days=DAYS)
    stopped = drawn.drop_nulls("cause")
    tables: dict[type[Table], pl.LazyFrame] = {
        Attempts: frame(
            drawn, Attempts, cluster="pod", gpu_count=GPUS, is_running=False, hosts=""
        ),
        Runs: frame(drawn.select("run_id").unique(), Runs, gpus_per_node=8),
        Interruptions: frame(
            stopped,
            Interruptions,
            component=pl.col("cause"),
            category="hardware",
            decided_ns=pl.col("end_ns"),
        ),
    }
    rates = ANALYSIS.compute(Frames(tables), ANALYSIS.thresholds)[InterruptRates]
    is_run = (pl.col("scope") == "run") & (pl.col("level") == "interruption")
    counted = pl.col("category").is_in(["hardware", "all"])
    is_sum = (pl.col("category") == "hardware") & (pl.col("component") == "all")
    return rates.filter(is_run & counted & ~is_sum)


def covering(rates: pl.DataFrame, seeds: int) -> dict[str, float]:
    """Share of histories whose interval holds the rate that its cause was drawn with.

    A cause that never came has no row: for it the interval of no event speaks.
    """
    truth = pl.col("component").replace_strict(MEANS, return_dtype=pl.Float64)
    mtbf = DAYS * DAY_NS / truth
    low, high = pl.col("mtbf_low_ns"), pl.col("mtbf_high_ns")
    held = (low.cast(pl.Float64) <= mtbf) & (high.cast(pl.Float64) >= mtbf)
    found = rates.group_by("component").agg(held=held.sum(), seen=pl.len())
    none = mean_interval(0).high
    shares = {}
    for component, covered, seen in found.iter_rows():
        unseen = (seeds - seen) * (MEANS[component] <= none)
        shares[component] = (covered + unseen) / seeds
    return shares


@cache
def exact(expected: float) -> float:
    """The share that an exact interval covers: a sum over all counts."""
    from scipy.stats import poisson

    most = round(expected + 12 * sqrt(expected) + 20)
    counts = range(most)
    bounds = [mean_interval(count) for count in counts]
    return sum(
        float(poisson.pmf(count, expected))
        for count, bound in zip(counts, bounds, strict=True)
        if bound.low <= expected <= bound.high
    )


def check(seeds: int) -> dict[str, float]:
    """Hold the shares against the exact ones, four standard errors apart at most."""
    shares = covering(rated(seeds), seeds)
    for component, share in shares.items():
        expected = exact(MEANS[component])
        error = sqrt(expected * (1 - expected) / seeds)
        assert abs(share - expected) <= 4 * error, component
    return shares


def test_intervals_hold_the_truth_in_forty_histories() -> None:
    shares = check(40)
    assert shares["all"] >= 0.85


@pytest.mark.slow
def test_intervals_hold_the_truth_in_five_hundred_histories() -> None:
    shares = check(500)
    assert set(shares) == set(MEANS)
    for component, share in shares.items():
        assert share >= 0.93, component
        if MEANS[component] >= 35:
            assert share <= 0.97, component


def test_counts_are_those_of_a_poisson_process() -> None:
    drawn = draw_attempts(range(60), days=DAYS).filter(~pl.col("planned"))
    counts = drawn.drop_nulls("cause").group_by("run_id").len()["len"].to_list()
    # The mean of 60 draws of 419 has a standard error of sqrt(419 / 60) = 2.64.
    assert mean(counts) == pytest.approx(UNEXPECTED, abs=4 * 2.64)
    # Variance over mean is 1, with a standard error of sqrt(2 / 59) = 0.184.
    assert variance(counts) / mean(counts) == pytest.approx(1.0, abs=4 * 0.184)
    assert History(seed=0).gpus == GPUS
