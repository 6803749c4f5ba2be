"""Swings, limits and throttling on the page: what is said, and what is not."""

from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from analysis.energy import Energy
from analysis.energy_checks import EnergyChecks
from analysis.energy_runs import EnergyRuns
from analysis.power_limits import PowerLimits
from analysis.power_profiles import PowerProfiles
from analysis.power_shapes import PowerShapes
from analysis.power_swings import PowerSwings
from analysis.throttling import Throttling
from ingest.tables import RunCards
from reports import energy, power_swings
from reports._power_words import ramp, watts
from reports._section import Content, Scope
from reports.dollars import Price
from tests.reports.builder import HOSTS, RUN, Rows, framed, prices_of, provenance_of
from tests.reports.pod_events import power
from tests.reports.pod_power import burned

THIN = "\N{NARROW NO-BREAK SPACE}"


def built(scope: Scope, **changed: Any) -> Content:
    rows = burned(RUN, HOSTS[1])
    return power_swings.build(framed(rows | changed.get("rows", {})), scope)


@pytest.fixture(scope="module")
def content() -> Content:
    """The section about the pod."""
    return built(Scope(prices_of(RUN), provenance_of(RUN)))


@pytest.fixture(scope="module")
def burnt() -> Content:
    """The section about the pod's energy."""
    return energy_of(Scope(prices_of(RUN), provenance_of(RUN)))


def heading(content: Content) -> str:
    return content.heading.replace(THIN, " ")


def said(content: Content) -> str:
    return " ".join(content.paragraphs).replace(THIN, " ")


def test_the_heading_tells_swing_hidden_ramps_and_verdicts(content: Content) -> None:
    assert heading(content) == (
        "8 GPUs together drew 4.61 kW and swung by 2.40 kW (1st to 99th percentile);"
        " ramps over 1.00 s or less are not observable; 1 of 4 checks of limits fails,"
        " 1 of 4 is not observable, 2 of 4 pass."
    )


def test_what_cannot_be_seen_is_never_said_to_pass(content: Content) -> None:
    (limits, _) = content.listings
    verdicts = {str(row[0]).replace(THIN, " "): row[5] for row in limits.rows}
    assert verdicts["ramp up within 1.00 s"] == "not observable"
    assert limits.rows[0][5] == "fail"
    bars = next(c for c in content.charts if c.name == "power-ramps")
    texts = [row["text"] for row in pl.DataFrame(_rows(bars.spec)).to_dicts()]
    assert sum(text.endswith("not observable") for text in texts) == 2
    # on a phone, too
    assert texts == [row["brief"] for row in _rows(bars.spec)]


def _rows(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return max(spec["datasets"].values(), key=len)


def test_sensor_steps_and_band_are_told_in_words(content: Content) -> None:
    text = said(content)
    assert (
        "Readings are of the moment and change every 1.00 s: nothing above 0.500 Hz is"
        " observable." in text
    )
    assert "In a step of 10.0 s power swings by 2.40 kW" in text
    assert (
        "The share at 0.1 to 20 Hz is not observable (of what is seen: 54.0 %): the"
        " sensor shows nothing above 0.5 Hz." in text
    )


def test_throttling_is_told_with_what_it_cost(content: Content, scope: Scope) -> None:
    # five GPU-hours at 2.5 USD
    text = said(content)
    assert (
        "1 of 8 GPUs was throttled for 5.0 % of the time or more: power cap. As"
        " stragglers they held up others for 12.5 USD." in text
    )
    healthy = [
        row for row in burned(RUN, HOSTS[1])[Throttling] if not row["is_straggler"]
    ]
    none = said(built(scope, rows={Throttling: healthy}))
    assert "None of 7 GPUs was throttled" in none
    victims = said(
        built(scope, rows={Throttling: [healthy[0] | {"is_victim": True}, healthy[1]]})
    )
    assert "1 GPU drew little while busy" in victims


def test_counters_alone_still_tell_of_throttling(scope: Scope) -> None:
    rows: Rows = {Throttling: burned(RUN, HOSTS[1])[Throttling]}
    content = power_swings.build(framed(rows), scope)
    assert content.heading.startswith("How power swings is not known. 1 of 8 GPUs")
    assert [chart.name for chart in content.charts] == ["power-throttled"]


def test_power_that_is_never_known_is_not_drawn(scope: Scope) -> None:
    rows = burned(RUN, HOSTS[1])
    blank = {"mean_w": None, "typical_range_w": None, "load_factor_ratio": None}
    shapes = [row | blank for row in rows[PowerShapes]]
    bins = [
        row | {"low_w": None, "mean_w": None, "high_w": None}
        for row in rows[PowerProfiles]
    ]
    none = {"ramp_up_w_per_s": None, "ramp_down_w_per_s": None, "observable": False}
    swings = [row | none for row in rows[PowerSwings]]
    changed = {PowerShapes: shapes, PowerProfiles: bins, PowerSwings: swings}
    content = built(scope, rows=changed)
    assert content.heading.startswith("Power of the 8 GPUs together is never known; ")
    assert [chart.name for chart in content.charts] == ["power-throttled"]


def test_without_a_limit_the_heading_says_so(scope: Scope) -> None:
    free = [
        row | {"allowed": None, "verdict": "no_limit", "limit_basis": "none"}
        for row in burned(RUN, HOSTS[1])[PowerLimits]
    ]
    content = built(scope, rows={PowerLimits: free})
    assert heading(content).endswith("; no limit is set.")
    assert content.listings[0].rows[0][3] == "none set"


def energy_of(scope: Scope, **card: Any) -> Content:
    rows = burned(RUN, HOSTS[1]) | power(RUN, HOSTS[1])
    cards = [{"run_id": RUN} | card] if card else []
    return energy.build(framed(rows | {RunCards: cards}), scope)


def test_energy_of_steps_and_its_carbon_are_told(burnt: Content, scope: Scope) -> None:
    # 188.8 MJ = 52.44 kWh; x 1.54 = 80.8 kWh; x 475 g = 38.4 kg
    text = said(burnt)
    assert "A kept step took 1.25 MJ, a token 1.25 J." in text
    assert "about 80.8 kWh and about 38.4 kg of CO\N{SUBSCRIPT TWO}e" in text
    assert "PUE 1.54 (Uptime Institute's weighted average of 2025)" in text
    assert "475 g/kWh (world mean of 2018, IEA 2019: no region on the run card)" in text
    told = said(energy_of(scope, pue=1.2, region="NOR"))
    assert "PUE 1.2 (run card)" in told
    assert "Norway of 20" in told
    assert "about" not in told.split("CO\N{SUBSCRIPT TWO}e")[0].split("facility")[1]


def test_electricity_is_in_the_rent_or_has_a_price_and_never_both(
    burnt: Content,
) -> None:
    listing = burnt.listings[0]
    assert {row[7] for row in listing.rows} == {"in the rent"}
    owned = Price(Decimal("1.2"), "run card", "owned", Decimal("0.10"), Decimal("1.5"))
    mine = Scope({"": owned, RUN: owned}, provenance_of(RUN))
    rows = energy_of(mine, pue=1.5).listings[0].rows
    # 52.44 kWh x 1.5 x 0.10
    assert str(rows[0][7]).replace(THIN, " ") == "7.87 USD"


def test_a_bar_of_less_than_all_the_time_says_so(scope: Scope) -> None:
    rows = burned(RUN, HOSTS[1]) | power(RUN, HOSTS[1])
    first, *rest = (row | {"coverage_ratio": 1.0} for row in rows[Energy])
    rows[Energy] = [first | {"coverage_ratio": 0.903}, *rest]
    (chart,) = (
        chart
        for chart in energy.build(framed(rows), scope).charts
        if chart.name == "energy-gpus"
    )
    for column, end in (("text", " in 90.3 % of the time"), ("brief", " (90.3 %)")):
        texts = [row[column].replace(THIN, " ") for row in _rows(chart.spec)]
        assert [text.endswith(end) for text in texts].count(True) == 1


def test_the_supply_of_nodes_has_a_row_and_is_not_added(burnt: Content) -> None:
    levels = [row[1] for row in burnt.listings[0].rows]
    assert "node ac (holds its GPUs)" in levels
    assert heading(burnt).startswith("8 GPUs drew 52.4 kWh")


def test_windows_of_programs_stand_beside_ours(burnt: Content) -> None:
    checks = burnt.listings[-1]
    assert [row[6] for row in checks.rows] == ["agrees", "not comparable"]
    assert str(checks.rows[0][5]).replace(THIN, " ") == "0.50 %"
    assert checks.rows[1][7] == "clock without date"


def test_windows_alone_fill_the_section(scope: Scope) -> None:
    rows: Rows = {EnergyChecks: burned(RUN, HOSTS[1])[EnergyChecks]}
    content = energy.build(framed(rows), scope)
    assert content.heading == (
        "Programs measured the energy of 2 windows of 1 GPU; no power was sampled to"
        " hold it against."
    )
    assert len(content.listings) == 1


def test_steps_that_are_half_measured_have_no_energy(scope: Scope) -> None:
    rows = burned(RUN, HOSTS[1]) | power(RUN, HOSTS[1])
    low = {"j_per_step": None, "j_per_token": None}
    rows[EnergyRuns] = [row | low for row in rows[EnergyRuns]]
    text = said(energy.build(framed(rows), scope))
    assert "Energy of a step is not told: less than 95 %" in text


def test_power_and_ramps_are_said_in_fitting_units() -> None:
    assert watts(8_170.0).replace(THIN, " ") == "8.17 kW"
    assert watts(12.5e6).replace(THIN, " ") == "12.5 MW"
    assert ramp(744.0).replace(THIN, " ") == "744 W/s"
