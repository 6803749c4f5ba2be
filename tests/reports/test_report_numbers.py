"""Numbers as the page writes them."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports._numbers import (
    THIN,
    apportion,
    compact,
    duration,
    grouped,
    percent,
    period,
    rounding_unit,
    significant,
    size,
    utc,
)

S = 10**9


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0"),
        (1.0, "1.00"),
        (999.6, "1_000"),
        (9999.4, "10_000"),
        (12_345.0, "12.3_k"),
        (2_469_000.0, "2.47_M"),
        (999_999.0, "1.00_M"),
        (-461_000.0, "-461_k"),
        (0.00123, "0.00123"),
        (Decimal("7.6e19"), "76_000_000_000_G"),
    ],
)
def test_compact_keeps_three_digits(value: float | Decimal, written: str) -> None:
    assert compact(value) == written.replace("_", THIN)


@pytest.mark.parametrize(
    ("ratio", "written"),
    [
        (0.813, "81.3_%"),
        (0.0621, "6.2_%"),
        (1.0, "100_%"),
        (0.0, "0_%"),
        (0.9999, ">_99.9_%"),
        (0.00001, "<_0.01_%"),
        (Decimal(1) / 3, "33.3_%"),
    ],
)
def test_percent_never_rounds_to_all_or_nothing(
    ratio: float | Decimal, written: str
) -> None:
    assert percent(ratio) == written.replace("_", THIN)


@pytest.mark.parametrize(
    ("ns", "written"),
    [
        (0, "0_ns"),
        (1_500, "1.50_µs"),
        (90 * S, "90.0_s"),
        (120 * S, "2.00_min"),
        (7200 * S, "2.00_h"),
        (11 * 86_400 * S, "11.0_d"),
    ],
)
def test_durations_are_in_the_unit_a_person_would_say(ns: int, written: str) -> None:
    assert duration(ns) == written.replace("_", THIN)


def test_times_are_utc() -> None:
    # 1,795,000,000 s after the epoch is 2026-11-18 11:06:40 UTC
    assert utc(1_795_000_000 * S) == "2026-11-18 11:06 UTC"


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (5, "2026-11-18 11:06:40 to 11:06:45 UTC"),
        (3600, "2026-11-18 11:06 to 12:06 UTC"),
        (86_400, "2026-11-18 11:06 to 2026-11-19 11:06 UTC"),
    ],
)
def test_a_period_says_its_day_once(seconds: int, written: str) -> None:
    start = 1_795_000_000 * S
    assert period(start, start + seconds * S) == written


def test_groups_and_sizes() -> None:
    assert grouped(1234567) == f"1{THIN}234{THIN}567"
    assert significant(0.0496) == "0.0496"
    assert size(123_456) == f"123{THIN}kB"
    assert size(12) == f"12.0{THIN}B"


amounts = st.lists(
    st.decimals(0, 10**9, places=6, allow_nan=False), min_size=1, max_size=12
)


@settings(deadline=None)
@given(amounts, st.integers(-4, 4))
def test_rounded_rows_add_up_to_the_rounded_total(
    found: list[Decimal], exponent: int
) -> None:
    unit = Decimal(1).scaleb(exponent)
    rows = apportion(found, unit)
    assert sum(rows) == round(sum(found) / unit) * unit
    assert all(abs(row - exact) < unit for row, exact in zip(rows, found, strict=True))


def test_thirds_add_up() -> None:
    # three times 1/3: one of them is rounded up, so that they are 100 together
    third = Decimal(100) / 3
    assert apportion([third] * 3, Decimal(1)) == [34, 33, 33]


def test_a_total_keeps_four_digits() -> None:
    assert rounding_unit(Decimal(1_234_567)) == 1000
    assert rounding_unit(Decimal("0.0123")) == Decimal("0.00001")
