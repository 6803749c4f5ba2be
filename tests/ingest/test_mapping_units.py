"""Units: exact, whatever the number, against fractions of Python's own."""

from decimal import Decimal
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest._mapping_numbers import as_int64, integer, real
from ingest._mapping_times import instant, is_naive
from ingest._mapping_units import DURATIONS, EPOCHS, UNITS, Scale
from ingest.times import parse_zone
from tests.examples import examples

MOST = 2**63 - 1

DIGITS = st.text("0123456789", min_size=1, max_size=25)
NUMBERS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+"]),
    DIGITS,
    st.one_of(st.just(""), st.just("."), DIGITS.map(".{}".format)),
    st.one_of(st.just(""), st.integers(-40, 40).map("e{}".format)),
)
FACTORS = [scale.factor for name in ("ns", "B", "mJ") for scale in UNITS[name].values()]


def rounded(value: Fraction) -> int:
    """Round to the nearest, halves away from zero."""
    size = int(abs(value) + Fraction(1, 2))
    return -size if value < 0 else size


def in_columns(expression: pl.Expr, texts: list[str]) -> list[object]:
    frame = pl.DataFrame({"t": texts}, schema={"t": pl.String})
    return frame.select(expression).to_series().to_list()


@settings(max_examples=examples(100))
@given(st.lists(NUMBERS, min_size=1, max_size=5), st.sampled_from(FACTORS))
def test_an_integer_is_the_exact_product_rounded_once(
    texts: list[str], factor: Fraction
) -> None:
    found = in_columns(as_int64(integer(pl.col("t"), factor)), texts)
    for text, value in zip(texts, found, strict=True):
        exact = Fraction(Decimal(text)) * factor
        whole = rounded(exact)
        if factor == 1 and exact.denominator != 1:
            assert value is None
        else:
            assert value == (whole if -MOST <= whole <= MOST else None)


@settings(max_examples=examples(100))
@given(
    st.lists(NUMBERS, min_size=1, max_size=5),
    st.sampled_from([(unit, name) for unit in UNITS for name in UNITS[unit]]),
)
def test_a_real_is_the_float_nearest_to_the_exact_value(
    texts: list[str], unit: tuple[str, str]
) -> None:
    scale = UNITS[unit[0]][unit[1]]
    found = in_columns(real(pl.col("t"), scale), texts)
    for text, value in zip(texts, found, strict=True):
        exact = (Fraction(Decimal(text)) + scale.offset) * scale.factor
        assert value == float(exact)


@pytest.mark.parametrize(
    "text",
    ["", " ", "1,024", "1 024", "1_000", "12 ms", "12ms", "0x10", "nan", "inf", "1e",
     "e5", ".", "-", "--1", "1.2.3", "٣", "１", "1e1000", "9" * 90, "NaN", "1/2"],
)  # fmt: skip
def test_what_is_no_number_is_null(text: str) -> None:
    assert in_columns(integer(pl.col("t"), Fraction(1000)), [text]) == [None]
    assert in_columns(real(pl.col("t"), Scale(Fraction(1, 3))), [text]) == [None]
    assert in_columns(real(pl.col("t")), [text]) == [None]


@pytest.mark.parametrize(
    ("column", "unit", "text", "value"),
    [
        ("ns", "ms", "0.0000005", 1),
        ("ns", "d", "348.9798", 30_151_854_720_000_000),
        ("ns", "h", "-0.5", -1_800_000_000_000),
        ("ns", "ns", "9223372036854775807", MOST),
        ("ns", "us", "9223372036854775.808", None),
        ("B", "KiB", "1.5", 1_536),
        ("B", "GB", "1e-9", 1),
        ("B", "kbit", "8", 1_000),
        ("mJ", "Wh", "1", 3_600_000),
        ("mJ", "kWh", "0.001", 3_600_000),
        ("mJ", "uJ", "499", 0),
    ],
)
def test_values_that_can_be_checked_by_hand(
    column: str, unit: str, text: str, value: int | None
) -> None:
    factor = UNITS[column][unit].factor
    assert in_columns(as_int64(integer(pl.col("t"), factor)), [text]) == [value]


@pytest.mark.parametrize(
    ("column", "unit", "text", "value"),
    [
        ("1", "percent", "42.7", 0.427),
        ("W", "mW", "69123.4", 69.1234),
        ("degC", "F", "212", 100.0),
        ("degC", "K", "273.15", 0.0),
        ("MHz", "GHz", "1.98", 1980.0),
        ("GB/s", "Gbit/s", "400", 50.0),
        ("GB/s", "GiB/s", "1", 1.073741824),
    ],
)
def test_reals_that_can_be_checked_by_hand(
    column: str, unit: str, text: str, value: float
) -> None:
    assert in_columns(real(pl.col("t"), UNITS[column][unit]), [text]) == [value]


def test_seconds_since_the_epoch_keep_what_a_float_would_lose() -> None:
    text = "1773114089.943000001"
    assert int(float(text) * 1e9) != 1_773_114_089_943_000_001
    found = in_columns(as_int64(integer(pl.col("t"), EPOCHS["epoch_s"])), [text])
    assert found == [1_773_114_089_943_000_001]


def test_every_length_of_time_is_a_whole_number_of_nanoseconds() -> None:
    assert all(factor.denominator == 1 for factor in DURATIONS.values())


@pytest.mark.parametrize(
    ("stamp", "value"),
    [
        ("1970-01-01", -3_600),
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01 00:00:01,5+00:00", 1.5),
        ("1970-01-01T05:30+0530", 0),
        ("1969-12-31T19:00-05", 0),
        ("1970-01-01T24:00", None),
        ("1970-13-01", None),
        ("9999-01-01", None),
        ("1970-01-01x", None),
    ],
)
def test_iso_stamps(stamp: str, value: float | None) -> None:
    found = instant(stamp, parse_zone("+01:00"))
    assert found == (None if value is None else value * 10**9)


def test_a_stamp_without_an_offset_is_naive() -> None:
    assert is_naive("2024-01-01 10:00")
    assert not is_naive("2024-01-01 10:00Z")
