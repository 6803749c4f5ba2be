"""Time stamps digit by digit, and labels as text formats write them."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources._prometheus.labels import NAME, BrokenSeriesError, labels_of
from ingest.sources._prometheus.stamps import stamp_ns
from tests.examples import examples


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("1773114089943", 1_773_114_089_943_000_000),
        ("1773114089.943", 1_773_114_089_943_000_000),
        ("1773114089.123456789", 1_773_114_089_123_456_789),
        ("1773114089.1234567899", 1_773_114_089_123_456_789),
        ("1773114089943.5", 1_773_114_089_943_500_000),
        ("1.773114089943e+09", 1_773_114_089_943_000_000),
        ("1.773114089943e+12", 1_773_114_089_943_000_000),
        ("1.7e+09", 1_700_000_000_000_000_000),
        ("1", 1_000_000_000),
        ("9223372036853", 9_223_372_036_853_000_000),
        ("9223372036854775807", None),
        ("1" * 400, None),
        ("1e99", None),
        ("0", None),
        ("-1773114089", None),
        ("1773114089,5", None),
        ("NaN", None),
        ("0x1p3", None),
        ("١٧٧٣١١٤٠٨٩", None),
    ],
)
def test_time_stamps_digit_by_digit(stamp: str, expected: int | None) -> None:
    assert stamp_ns(pl.Series([stamp])).to_list() == [expected]


@settings(deadline=None, max_examples=examples(50))
@given(st.integers(1, 9_223_372_035_999_999_999))
def test_time_stamps_to_the_nanosecond(time_ns: int) -> None:
    seconds, fraction = divmod(time_ns, 10**9)
    text = f"{seconds}.{fraction:09d}"
    assert stamp_ns(pl.Series([text])).to_list() == [time_ns]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("up", {NAME: "up"}),
        ("up{}", {NAME: "up"}),
        ('up {a="b" , c = "d",}', {NAME: "up", "a": "b", "c": "d"}),
        ('{__name__="up", a="b"}', {NAME: "up", "a": "b"}),
        ('{"a.b", "c d"="e"}', {NAME: "a.b", "c d": "e"}),
        (r'up{a="x\"y\\z\n"}', {NAME: "up", "a": 'x"y\\z\n'}),
        (r'up{a="C:\dir"}', {NAME: "up", "a": r"C:\dir"}),
        ('up{a="} # {,="}', {NAME: "up", "a": "} # {,="}),
    ],
)
def test_labels(text: str, labels: dict[str, str]) -> None:
    assert labels_of(text) == labels


@pytest.mark.parametrize(
    "text", ['u{a="b",a="c"}', 'u{a="b"c"}', "u{a=b}", 'u{a="b"', "u{a}", 'u{="b"}']
)
def test_what_is_no_label(text: str) -> None:
    with pytest.raises(BrokenSeriesError):
        labels_of(text)
