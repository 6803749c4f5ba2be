"""What holds for the energy of any samples. Times are hundredths of a second."""

from itertools import pairwise
from statistics import median
from typing import Any, Final

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis._energy_bridges import Bridges
from analysis._energy_measure import integrate
from ingest.tables import PowerSamples
from ingest.times import SECOND_NS

pytestmark = pytest.mark.thorough

Row = dict[str, Any]
Pairs = list[tuple[int, float]]

TICK_NS: Final = SECOND_NS // 100


def measure(pairs: Pairs, *pieces: tuple[int, int]) -> Row:
    """Energy of one device, sampled in watts, in one window of one or more pieces."""
    samples = [
        {
            "device": 0,
            "level": "gpu_board",
            "time_ns": at * TICK_NS,
            "power_average_w": watts,
        }
        for at, watts in pairs
    ]
    windows = [
        {
            "device": 0,
            "window": "w",
            "from_ns": start * TICK_NS,
            "to_ns": end * TICK_NS,
            "is_shared": False,
            "is_assumed": False,
        }
        for start, end in pieces
    ]
    schema = pl.Schema({"device": pl.Int64()}) | PowerSamples.create_empty().schema
    frame = pl.DataFrame(samples, schema=schema)
    found = integrate(
        frame, pl.DataFrame(windows), Bridges(3 * SECOND_NS, 5.0, 300 * SECOND_NS)
    )
    return found.row(0, named=True)


SAMPLES = st.lists(
    st.tuples(st.integers(0, 2_000), st.floats(0, 1_000)),
    min_size=2,
    max_size=40,
    unique_by=lambda pair: pair[0],
)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 290), min_size=2, unique=True), st.floats(1, 3_000))
def test_constant_power_is_power_times_time(ticks: list[int], watts: float) -> None:
    first, last = min(ticks), max(ticks)
    found = measure([(at, watts) for at in ticks], (first, last))
    assert found["energy_j"] == pytest.approx(watts * (last - first) / 100)
    assert found["mean_w"] == pytest.approx(watts)


@settings(deadline=None, max_examples=25)
@given(SAMPLES, st.lists(st.integers(-100, 2_100), min_size=3, max_size=3, unique=True))
def test_splitting_a_window_adds_up(pairs: Pairs, edges: list[int]) -> None:
    start, middle, end = sorted(edges)
    halves = [(start, middle), (middle, end)]
    apart = sum(measure(pairs, half)["energy_j"] or 0 for half in halves)
    together = measure(pairs, *halves)["energy_j"] or 0
    whole = measure(pairs, (start, end))["energy_j"] or 0
    assert (apart, together) == pytest.approx((whole, whole), abs=1e-6)


@settings(deadline=None, max_examples=25)
@given(SAMPLES)
def test_the_whole_is_the_sum_of_trapezoids(pairs: Pairs) -> None:
    ordered = sorted(pairs)
    intervals = sorted(b[0] - a[0] for a, b in pairwise(ordered))
    allowed = max(300, 5 * median(intervals))
    expected = sum(
        (a[1] + b[1]) / 2 * (b[0] - a[0]) / 100
        for a, b in pairwise(ordered)
        if b[0] - a[0] <= allowed
    )
    found = measure(pairs, (ordered[0][0], ordered[-1][0]))
    assert (found["energy_j"] or 0) == pytest.approx(expected)


@settings(deadline=None, max_examples=25)
@given(SAMPLES, st.randoms(use_true_random=False), st.integers(1, 3))
def test_order_and_copies_do_not_matter(pairs: Pairs, rng: Any, copies: int) -> None:
    repeated = pairs * copies
    rng.shuffle(repeated)
    once, again = measure(pairs, (0, 2_000)), measure(repeated, (0, 2_000))
    is_repeated = [row.pop("is_repeated") for row in (once, again)]
    doubts = [(row.pop("quality") or "").split(",") for row in (once, again)]
    assert again == once
    said = "duplicate_series_collapsed"
    assert [doubt for doubt in doubts[1] if doubt != said] in (doubts[0], [])
    assert (said in doubts[1]) == bool(is_repeated[1])
    assert bool(is_repeated[1]) == (copies > 1 and is_repeated[1] is not None)
