"""Prices times GPU time, exactly."""

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from reports.dollars import (
    Price,
    dollars,
    energy_dollars,
    in_words,
    price_of,
    price_sql,
    rounding_unit_usd,
)

HOUR = 3_600_000_000_000
RENT = Price(Decimal("2.0"), "run card", "rental")


def test_a_gpu_hour_costs_its_price() -> None:
    assert dollars(HOUR, RENT) == 2
    # 16,384 GPUs at 2 USD: 786,432 USD a day
    assert dollars(16_384 * 24 * HOUR, RENT) == 786_432


@settings(deadline=None)
@given(st.lists(st.integers(0, 10**20), max_size=8))
def test_dollars_add_up(times: list[int]) -> None:
    parts = sum((dollars(gpu_ns, RENT) for gpu_ns in times), Decimal())
    assert abs(parts - dollars(sum(times), RENT)) < Decimal("1e-9")


def test_a_run_without_a_price_of_its_own_has_the_fallback() -> None:
    fallback = Price(Decimal(3), "default")
    prices = {"": fallback, "a": RENT}
    assert price_of(prices, "a") is RENT
    assert price_of(prices, "b") is fallback


def test_rent_already_contains_electricity() -> None:
    assert energy_dollars(3.6e6, RENT) is None


def test_electricity_of_owned_gpus_is_priced_with_the_facility() -> None:
    # 10 kWh at 0.1 USD with 20 % on top for the facility: 1.20 USD
    owned = Price(
        Decimal(1), "run card", "owned", usd_per_kwh=Decimal("0.1"), pue=Decimal("1.2")
    )
    assert energy_dollars(36e6, owned) == Decimal("1.2")


def test_prices_in_sql() -> None:
    assert price_sql({"": RENT}) == "2.0"
    sql = price_sql({"": RENT, "it's": Price(Decimal("1.5"), "run card")})
    assert sql == "CASE run_id WHEN 'it''s' THEN 1.5 ELSE 2.0 END"


def test_rows_are_rounded_to_dollars_or_cents() -> None:
    assert rounding_unit_usd(Decimal(461)) == 1
    assert rounding_unit_usd(Decimal("46.1")) == Decimal("0.01")
    assert rounding_unit_usd(Decimal("4.61")) == Decimal("0.001")
    assert rounding_unit_usd(Decimal(2_470_000)) == 1000
    assert rounding_unit_usd(Decimal("0.0461")) == Decimal("0.00001")


def test_less_than_a_cent_has_two_digits() -> None:
    assert in_words(Decimal("0.00594")).replace("\u202f", " ") == "0.0059 USD"
    assert in_words(Decimal("0.0000001")).replace("\u202f", " ") == "< 0.000001 USD"
    assert in_words(Decimal("0.01")).replace("\u202f", " ") == "0.0100 USD"
    assert in_words(Decimal(0)).replace("\u202f", " ") == "0 USD"


def test_amounts_in_words() -> None:
    assert in_words(Decimal(2_469_134)).replace("\u202f", " ") == "2.47 M USD"
