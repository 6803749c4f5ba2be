"""Microseconds as text to whole nanoseconds."""

from decimal import ROUND_HALF_EVEN, Decimal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources._kineto.numbers import micros_to_ns

INT64 = (-(1 << 63), (1 << 63) - 1)


def convert(*texts: str) -> list[int | None]:
    return micros_to_ns(pl.Series(texts, dtype=pl.String)).to_list()


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("0", 0),
        ("12", 12_000),
        ("1.5", 1_500),
        ("0.001", 1),
        ("-0.5", -500),
        ("-1.25", -1_250),
        ("1712195911000000.123", 1_712_195_911_000_000_123),
        ("9223372036854775.807", INT64[1]),
        ("-9223372036854775.808", INT64[0]),
        ("1.5e3", 1_500_000),
        ("1E-3", 1),
        ("0e99", 0),
        ('"123.4"', 123_400),
        ('"1e3"', 1_000_000),
        ("1.2345", 1_234),
        ("1.2355", 1_236),
        ("-1.2346", -1_235),
        ("1712195911000000.1234999", 1_712_195_911_000_000_123),
    ],
)
def test_to_the_nanosecond(text: str, ns: int) -> None:
    assert convert(text) == [ns]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "NaN",
        "true",
        '"x"',
        '""',
        "[1]",
        "{}",
        "9223372036854775.808",
        "1e400",
        "1e999999999",
        '"1.-5"',
        "1.-5",
        "1" * 65,
        '"1 2"',
    ],
)
def test_what_is_no_time_is_null(text: str) -> None:
    assert convert(text) == [None]


def test_odd_and_plain_numbers_keep_their_places() -> None:
    assert convert("1", "1e0", "x", "2.5", "", '"3"') == [
        1_000,
        1_000,
        None,
        2_500,
        None,
        3_000,
    ]


def test_no_numbers() -> None:
    assert micros_to_ns(pl.Series([], dtype=pl.String)).to_list() == []


@settings(deadline=None)
@given(st.decimals(-(10**17), 10**17, allow_nan=False, places=5))
def test_as_exact_as_decimals(value: Decimal) -> None:
    expected = int((value * 1000).to_integral_value(ROUND_HALF_EVEN))
    in_range = expected if INT64[0] <= expected <= INT64[1] else None
    assert convert(f"{value:f}", f"{value:E}", f'"{value:f}"') == [in_range] * 3


@settings(deadline=None)
@given(st.lists(st.integers(0, 10**18)))
def test_every_nanosecond_of_what_kineto_prints(values: list[int]) -> None:
    printed = [f"{ns // 1000}.{ns % 1000:03}" for ns in values]
    assert convert(*printed) == values


@settings(deadline=None)
@given(st.text(max_size=30))
def test_any_text_is_a_number_or_null(text: str) -> None:
    assert len(convert(text)) == 1
