"""Parquet by a mapping: columns of every type have a text, or are named."""

import io
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ingest.errors import UnreadableFileError
from ingest.tables import Failures
from tests.ingest.mapped import mapped
from tests.ingest.readings import held, refused, rows

MAPPING = """
[[map]]
files = "*.parquet"
table = "failures"
[map.columns]
message = "v"
time_ns = { field = "t", format = "iso8601" }
[map.constants]
code = "x"
severity = "warning"
component = "gpu"
"""

#: 2024-01-01. [s]
NEW_YEAR = 1_704_067_200


def read(value: Any, time: Any = None) -> Any:
    times = pa.array([NEW_YEAR], pa.timestamp("s")) if time is None else time
    table = pa.Table.from_arrays([value, times], names=["v", "t"])
    file = io.BytesIO()
    pq.write_table(table, file)
    return held(mapped(MAPPING, file.getvalue(), "x.parquet", columns=("v", "t")))


@pytest.mark.parametrize(
    ("value", "text", "repairs"),
    [
        (pa.array([Decimal("1" * 60)], pa.decimal256(76, 0)), "1" * 60, 0),
        (pa.array([b"ab"]), "ab", 0),
        (pa.array([b"a\xff"]), "a\ufffd", 1),
        (pa.array([b"a\xff"], pa.binary(2)), "a\ufffd", 1),
        (pa.array([2**31 - 1], pa.date32()), str(2**31 - 1), 0),
        (pa.array([19_723], pa.date32()), "2024-01-01", 0),
        (pa.array([2**62], pa.timestamp("ms")), str(2**62), 0),
        (pa.array([1], pa.timestamp("ns")), "1970-01-01T00:00:00.000000001", 0),
        (pa.array([-(2**62)], pa.timestamp("us", "UTC")), str(-(2**62)), 0),
        (pa.array([2**62], pa.duration("ms")), f"{2**62}000000", 0),
        (pa.array([[Decimal("1.5")]]), '{"v":["1.5"]}', 0),
    ],
)
def test_every_value_is_text(value: Any, text: str, repairs: int) -> None:
    batches = read(value)
    (row,) = rows(batches, Failures)
    assert row["message"] == text
    assert sum(batch.repairs for batch in batches) == repairs


@pytest.mark.parametrize("zone", ["UTC", "+05:30", "Asia/Tokyo", "Foo/Bar"])
def test_stamps_of_any_zone_are_moments(zone: str) -> None:
    (row,) = rows(
        read(pa.array(["m"]), pa.array([NEW_YEAR], pa.timestamp("s", zone))), Failures
    )
    assert row["time_ns"] == NEW_YEAR * 10**9


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("ms")])
def test_a_day_that_no_calendar_has_is_refused(kind: Any) -> None:
    batches = read(
        pa.array(["m"]), pa.array([2**31 - 1 << 31 * (kind != pa.date32())], kind)
    )
    assert [place for place, _ in refused(batches)] == ["row 1"]


@pytest.mark.parametrize(
    "value",
    [
        pa.array([{"a": b"\xff"}]),
        pa.array([[b"\xff"]]),
        pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
        pa.array([[2**31 - 1]], pa.list_(pa.date32())),
    ],
)
def test_a_column_without_a_text_is_named(value: Any) -> None:
    with pytest.raises(UnreadableFileError, match="column 'v'"):
        read(value)
