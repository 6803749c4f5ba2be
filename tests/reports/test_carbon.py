"""Carbon and cost of energy: published values, and which of them holds."""

import csv
from decimal import Decimal
from pathlib import Path

import pytest

from reports.carbon import (
    USUAL_PUE,
    WORLD_G_PER_KWH,
    carbon_kg,
    facility_kwh,
    intensity_of,
    overhead_of,
)
from reports.dollars import Price, dollars, energy_dollars

#: One H100 at 700 W for a day. [J]
DAY_J = 700 * 86_400

OWNED = Price(Decimal("1.2"), "run card", "owned", Decimal("0.0853"), Decimal("1.3"))
RENTED = Price(Decimal("2.35"), "run card", "rental", Decimal("0.0853"))


def test_an_h100_at_700_w_costs_what_is_published() -> None:
    assert facility_kwh(DAY_J, OWNED.pue) == pytest.approx(Decimal("21.84"))
    cost = energy_dollars(DAY_J, OWNED)
    assert cost is not None
    assert float(cost) == pytest.approx(1.863, abs=5e-4)
    world = intensity_of(None, None)
    assert float(carbon_kg(DAY_J, OWNED.pue, world)) == pytest.approx(10.37, abs=5e-3)


def test_rent_already_contains_electricity() -> None:
    assert energy_dollars(DAY_J, RENTED) is None
    rent = dollars(24 * 3_600 * 10**9, RENTED)
    assert rent == Decimal("56.40")
    cost = energy_dollars(DAY_J, OWNED)
    assert cost is not None
    assert float(cost / rent) == pytest.approx(0.033, abs=5e-4)


def test_the_card_goes_before_its_region_and_that_before_the_world() -> None:
    assert intensity_of("FRA", 12.5).g_per_kwh == Decimal("12.5")
    assert intensity_of("FRA", None).g_per_kwh < 100
    assert "France" in intensity_of("fra", None).source
    assert intensity_of("us-central1", None).source.startswith("Google Cloud Platform")
    for unknown in (intensity_of(None, None), intensity_of("atlantis-1", None)):
        assert unknown.g_per_kwh == WORLD_G_PER_KWH == 475
        assert "world mean" in unknown.source


def test_a_pue_that_no_card_tells_is_named() -> None:
    assert overhead_of(1.1).is_told
    usual = overhead_of(None)
    assert (usual.pue, usual.is_told) == (USUAL_PUE, False)
    assert "Uptime" in usual.source


def test_the_table_is_that_of_codecarbon(shared: Path) -> None:
    path = shared / "data/power/mlco2+codecarbon/codecarbon/data/cloud/impact.csv"
    with path.open(encoding="utf-8-sig") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 40
    for row in rows:
        found = intensity_of(row["region"], None)
        assert found.g_per_kwh == Decimal(row["impact"])
