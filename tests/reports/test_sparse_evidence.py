"""Single samples, samples years apart, and collectives without a wait."""

from typing import Any

import pytest

from analysis.collective_waits import CollectiveWaits
from analysis.energy import Energy
from analysis.late_ranks import LateRanks
from ingest.tables import PowerSamples
from reports import collective_waits, energy, unknown
from reports._section import Chart, Scope
from tests.reports.builder import START, S, framed
from tests.reports.pod import pod

YEAR = 365 * 86_400 * S


def plain(text: object) -> str:
    """A text with ordinary spaces."""
    return str(text).replace("\u202f", " ")


def windows(alone: int) -> list[dict[str, Any]]:
    """A GPU that was measured for 10 s, and some with one sample each."""
    seen = {"cluster": "c", "host": "n", "from_ns": START, "peak_w": 181.0}
    measured = seen | {
        "gpu_uuid": "GPU-0",
        "to_ns": START + 10 * S,
        "energy_j": 1300.0,
        "method": "trapezoid_average",
        "coverage_ratio": 1.0,
        "mean_w": 130.0,
        "samples_count": 965,
    }
    single = seen | {"to_ns": START, "method": "none", "coverage_ratio": 0.0}
    count = {"samples_count": 1, "quality": "single_sample"}
    return [
        measured,
        *(single | count | {"gpu_uuid": f"GPU-{i + 1}"} for i in range(alone)),
    ]


def samples(*times_ns: int) -> list[dict[str, Any]]:
    """A sample of one GPU at each time."""
    one = {"cluster": "c", "host": "n", "gpu_uuid": "GPU-0", "level": "gpu_board"}
    return [one | {"time_ns": time, "power_instant_w": 100.0} for time in times_ns]


def power_chart(times_ns: list[int], scope: Scope) -> tuple[list[Chart], str]:
    """The chart of power over time, where there is one, and the sentences."""
    rows = {Energy: windows(0), PowerSamples: samples(*times_ns)}
    content = energy.build(framed(rows), scope)
    charts = [one for one in content.charts if one.name == "energy-power"]
    return charts, plain(" ".join(content.paragraphs))


def test_gpus_with_one_sample_are_not_measured(scope: Scope) -> None:
    content = energy.build(framed({Energy: windows(8)}), scope)
    assert plain(content.heading) == (
        "1 of 9 GPUs drew 1.30 kJ, with a highest reading of 181 W; 11.1 % of a window"
        " was measured on average, and 8 GPUs have one sample."
    )
    alone = energy.build(framed({Energy: windows(1)[1:]}), scope)
    assert plain(alone.heading) == (
        "1 GPU sampled, and no energy could be measured: 1 GPU has one sample."
    )


def test_samples_years_apart_are_no_line(scope: Scope) -> None:
    charts, told = power_chart(
        [START + i * S for i in range(9)] + [START + YEAR], scope
    )
    assert not charts
    assert "samples of 1 GPU, over 365 d, are too few or too far apart" in told


def test_a_scrape_a_minute_is_a_line(scope: Scope) -> None:
    # an hour in 120 bins: every other one would be empty
    charts, told = power_chart([START + i * 60 * S for i in range(61)], scope)
    assert "not drawn" not in told
    bins = charts[0].numbers["from_ns"].diff().drop_nulls()
    assert bins.n_unique() == 1


def test_what_was_not_sampled_needs_no_excuse(scope: Scope) -> None:
    charts, told = power_chart([], scope)
    assert not charts
    assert "not drawn" not in told


@pytest.fixture
def unmatched() -> dict[Any, Any]:
    """The pod, in which no collective but the first has a wait."""
    rows: dict[Any, Any] = pod()
    none = {"wait_ns_max": None, "wait_ns_total": None, "late_ns": None}
    none |= {"clock_residual_ns": None, "last_rank": None}
    first, *others = rows[CollectiveWaits]
    return rows | {CollectiveWaits: [first, *(row | none for row in others)]}


def test_collectives_of_other_times_are_counted_and_no_evidence(
    unmatched: dict[Any, Any], scope: Scope
) -> None:
    content = collective_waits.build(framed(unmatched), scope)
    assert "ranks waited 200 ms in 1 collective." in plain(content.heading)
    assert "39 collectives with all ranks could not be matched" in plain(
        " ".join(content.paragraphs)
    )


def test_no_wait_at_all_is_said(unmatched: dict[Any, Any], scope: Scope) -> None:
    rows = unmatched | {LateRanks: []}
    rows[CollectiveWaits] = rows[CollectiveWaits][1:]
    content = collective_waits.build(framed(rows), scope)
    assert content.heading.startswith("39 collectives seen, and of none can a wait")
    assert not [one for one in content.charts if one.name == "waits-groups"]
    assert "clock residual" not in str(unknown.build(framed(rows), scope).listings)
