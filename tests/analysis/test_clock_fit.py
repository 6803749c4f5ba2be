"""The fit of clocks: exact without noise, and little moved by what is wild."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis._clock_fit import LEAST_DRIFT_COUNT, Ends, Fit, fit_clocks

SPAN_NS = 60e9


def seen(
    members: Sequence[Sequence[int]],
    offsets: Sequence[float],
    drifts: Sequence[float],
    noise_ns: Sequence[float] | None = None,
) -> Ends:
    """Ends of moments at even times over a minute; clocks are offset and drift."""
    count = len(members)
    true = np.linspace(-SPAN_NS / 2, SPAN_NS / 2, count)
    instance = np.repeat(np.arange(count), [len(clocks) for clocks in members])
    clock = np.array([one for clocks in members for one in clocks], dtype=np.int64)
    names = {tuple(clocks): number for number, clocks in enumerate(members)}
    group = np.array([names[tuple(clocks)] for clocks in members for _ in clocks])
    shown = true[instance] + np.asarray(offsets)[clock]
    shown /= 1 - np.asarray(drifts)[clock]
    if noise_ns is not None:
        shown += np.asarray(noise_ns)
    return Ends(instance, clock, group, shown, len(offsets))


def furthest(fit: Fit, offsets: Sequence[float], drifts: Sequence[float]) -> float:
    """The most that an estimate is off at the edges and in the middle. [ns]"""
    off = fit.offset_ns - np.asarray(offsets)
    steep = fit.drift - np.asarray(drifts)
    return max(
        float(np.abs(off + steep * at).max()) for at in (-SPAN_NS / 2, 0, SPAN_NS / 2)
    )


OFFSETS = st.floats(-1e6, 1e6)
DRIFTS = st.floats(-50e-6, 50e-6)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), clocks=st.integers(2, 6), is_chain=st.booleans())
def test_without_noise_the_fit_is_exact(
    data: st.DataObject, clocks: int, is_chain: bool
) -> None:
    offsets = [0.0, *(data.draw(OFFSETS) for _ in range(clocks - 1))]
    drifts = [0.0, *(data.draw(DRIFTS) for _ in range(clocks - 1))]
    pairs = [[one, one + 1] for one in range(clocks - 1)]
    members = (pairs if is_chain else [list(range(clocks))]) * (2 * LEAST_DRIFT_COUNT)
    fit = fit_clocks(seen(members, offsets, drifts))
    assert furthest(fit, offsets, drifts) < 1e-3
    assert fit.has_drift.tolist() == [False, *[True] * (clocks - 1)]
    assert fit.graph.component.tolist() == [0] * clocks


@pytest.mark.parametrize("seed", range(5))
def test_wild_ends_move_little(seed: int) -> None:
    # one end in twenty is up to 5 ms late: a rank that the profiler held up
    generator = np.random.default_rng(seed)
    offsets = [0.0, *generator.uniform(-1e6, 1e6, 7)]
    drifts = [0.0, *generator.uniform(-50e-6, 50e-6, 7)]
    rows = 300 * 8
    noise = np.abs(generator.normal(0, 4_000, rows))
    noise += (generator.random(rows) < 0.05) * generator.uniform(0, 5e6, rows)
    fit = fit_clocks(seen([list(range(8))] * 300, offsets, drifts, list(noise)))
    assert furthest(fit, offsets, drifts) < 2_000
    assert fit.residual_ns.max() < 5_000
    assert fit.residual_max_ns.max() > 1e6


def test_islands_have_a_reference_each_and_the_largest_comes_first() -> None:
    members = [[0, 1], [2, 3], [2, 4]] * 5
    fit = fit_clocks(seen(members, [0, 5e5, 0, 1e5, 2e5, 0], [0.0] * 6))
    assert fit.graph.component.tolist() == [1, 1, 0, 0, 0, 2]
    assert fit.graph.reference.tolist() == [0, 0, 2, 2, 2, 5]
    assert fit.offset_ns == pytest.approx([0, 5e5, 0, 1e5, 2e5, 0], abs=1e-3)
    assert fit.count.tolist() == [5, 5, 10, 5, 5, 0]


def test_few_moments_tell_an_offset_and_no_drift() -> None:
    fit = fit_clocks(seen([[0, 1]] * (LEAST_DRIFT_COUNT - 1), [0, 3e5], [0, 0]))
    assert fit.offset_ns[1] == pytest.approx(3e5)
    assert not fit.has_drift.any()
    # nobody knows the drift: the offset may be off by 20 ppm of half a minute
    assert fit.error_ns[1] == pytest.approx(20e-6 * SPAN_NS / 2, rel=1e-3)


def test_moments_too_close_tell_no_drift() -> None:
    # a hundred ends within 10 ms, 3 us apart: 3 us / (sqrt(100) 3 ms) are 100 ppm
    generator = np.random.default_rng(1)
    ends = seen([[0, 1]] * 100, [0, 3e5], [0, 0])
    close = ends.end_ns * (10e6 / SPAN_NS) + generator.normal(0, 3_000, 200)
    fit = fit_clocks(Ends(ends.instance, ends.clock, ends.group, close, 2))
    assert not fit.has_drift.any()


def test_no_moments_nothing_known() -> None:
    none = np.array([], dtype=np.int64)
    fit = fit_clocks(Ends(none, none, none, none.astype(np.float64), 2))
    assert fit.graph.component.tolist() == [0, 1]
    assert fit.count.tolist() == [0, 0]
