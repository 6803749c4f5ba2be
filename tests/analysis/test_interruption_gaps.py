"""Times between stops of drawn runs, and the models of them against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.gap_models import survival, weibull
from analysis.gap_tests import exponential_p, trend_p
from analysis.interruption_gaps import ANALYSIS, InterruptionGapFits, InterruptionGaps
from ingest.times import DAY_NS
from tests.analysis.failing import Row, Tables, ask, attempt, tables

GAPS = st.lists(st.integers(1, 50), min_size=1, max_size=40)


def run(ends: list[float], last: float, pause: float = 1) -> Tables:
    """A run that fails after each of some days of running, and is still running.

    Args:
        ends: Days of running before each failure.
        last: Days of running since the last one.
        pause: Days between two attempts.
    """
    held: list[Row] = []
    start = 0.0
    for number, days in enumerate(ends):
        held.append(attempt("r", number, start, start + days, "a"))
        start += days + pause
    running = {"state": "RUNNING", "is_running": True}
    held.append(attempt("r", len(ends), start, start + last, "a", **running))
    return tables(held, [])


# days of running before each stop, then 3 so far; a day of standing still after each
ENDS = [4.0, 2.0, 8.0, 4.0, 6.0]


def test_gaps_are_days_of_running_and_the_last_is_not_over() -> None:
    rows = ask(ANALYSIS, run(ENDS, 3))[InterruptionGaps].filter(scope="run")
    told = [
        (row["gap_ns"] / DAY_NS, row["at_risk_count"], row["ended_count"])
        for row in rows.sort("gap_ns").iter_rows(named=True)
    ]
    assert told == [(2, 6, 1), (4, 4, 2), (6, 2, 1), (8, 1, 1)]
    shares = rows.sort("gap_ns")["survival_ratio"].to_list()
    # 5/6, then half of it, half again, and nothing
    assert shares == pytest.approx([5 / 6, 5 / 12, 5 / 24, 0])
    # 27 days of running, five stops
    exponential = rows.sort("gap_ns")["exponential_ratio"].to_list()
    assert exponential == pytest.approx(
        [np.exp(-days * 5 / 27) for days in (2, 4, 6, 8)]
    )


def test_the_fit_tells_what_is_in_it() -> None:
    (row,) = (
        ask(ANALYSIS, run(ENDS, 3))[InterruptionGapFits].filter(scope="run").to_dicts()
    )
    assert (row["gap_count"], row["zero_gap_count"]) == (5, 0)
    assert row["censored_ns"] == 3 * DAY_NS
    assert row["mean_ns"] == round(27 * DAY_NS / 5)
    assert row["weibull_shape_low"] < row["weibull_shape"] < row["weibull_shape_high"]
    # trend by hand: stops after 4, 6, 14, 18 and 24 of 27 days, mean 13.2, not 13.5
    z = (13.2 / 27 - 0.5) * np.sqrt(12 * 5)
    assert row["trend_p_value"] == pytest.approx(2 * stats.norm.sf(abs(z)))
    assert row["verdict"] == "exponential_holds"


def test_below_five_there_is_a_curve_and_no_fit() -> None:
    told = ask(ANALYSIS, run(ENDS[:4], 3))
    (row,) = told[InterruptionGapFits].filter(scope="run").to_dicts()
    assert (row["verdict"], row["weibull_shape"]) == ("not_testable", None)
    assert told[InterruptionGaps].height > 0


def test_a_run_that_never_stopped_has_no_gap() -> None:
    told = ask(ANALYSIS, run([], 9))
    assert all(rows.is_empty() for rows in told.values())


def test_stops_in_clusters_are_not_exponential() -> None:
    # five bursts: ten stops an hour apart, then twenty days of peace
    hour = 1 / 24
    ends = [20.0, *[hour] * 9] * 5
    (row,) = (
        ask(ANALYSIS, run(ends, 20))[InterruptionGapFits].filter(scope="run").to_dicts()
    )
    assert row["verdict"] == "clustered"
    assert row["weibull_shape_high"] < 1
    assert row["exponential_p_value"] == pytest.approx(2 / 2001)


@given(GAPS, st.lists(st.integers(1, 50), max_size=3))
def test_the_curve_is_that_of_scipy(ended: list[int], open_: list[int]) -> None:
    gaps, censored = np.array(ended, float), np.array(open_, float)
    found = survival(gaps, censored)
    told = stats.ecdf(stats.CensoredData(gaps, right=censored)).sf
    wanted = np.interp(found.times, told.quantiles, told.probabilities)
    assert found.share == pytest.approx(wanted)
    inside = found.share > 0
    assert np.all(found.low[inside] <= found.share[inside])
    assert np.all(found.share[inside] <= found.high[inside])


def test_the_shape_is_that_of_scipy_and_finds_the_truth() -> None:
    gaps = np.random.default_rng(1).weibull(0.65, 400) * 3
    found = weibull(gaps, np.array([]))
    assert found is not None
    shape, _, scale = stats.weibull_min.fit(gaps, floc=0)
    assert (found.shape, found.scale) == pytest.approx((shape, scale), rel=1e-4)
    assert found.low < 0.65 < found.high
    # cut at 4: what lasted longer is known to have lasted so long
    cut = weibull(gaps[gaps <= 4], np.full(int((gaps > 4).sum()), 4.0))
    assert cut is not None
    assert cut.low < 0.65 < cut.high


def test_gaps_that_are_alike_have_no_shape() -> None:
    assert weibull(np.array([3.0, 3.0, 3.0]), np.array([])) is None
    assert weibull(np.array([0.0, 0.0]), np.array([1.0])) is None


def test_regular_gaps_are_too_regular_for_chance() -> None:
    assert exponential_p(np.full(30, 2.0)) == pytest.approx(2 / 2001)
    assert trend_p(np.arange(1.0, 31.0), 31) == pytest.approx(1)
    assert trend_p(np.linspace(25, 30, 30), 31) < 1e-6


@pytest.mark.slow
def test_tests_of_a_constant_rate_are_calibrated() -> None:
    # 1,000 runs of a constant rate watched for a time: 5 % are called otherwise
    random = np.random.default_rng(11)
    refused = trending = held = 0
    for seed in range(1_000):
        instants = np.sort(random.uniform(0, 100, max(5, random.poisson(20))))
        gaps = np.diff(np.concatenate([[0.0], instants]))
        rest = np.array([100 - instants[-1]])
        refused += exponential_p(np.concatenate([gaps, rest]), seed) < 0.05
        trending += trend_p(instants, 100) < 0.05
        shape = weibull(gaps, rest)
        assert shape is not None
        held += shape.low <= 1 <= shape.high
    assert 30 <= refused <= 70
    assert 30 <= trending <= 70
    assert 920 <= held <= 975
