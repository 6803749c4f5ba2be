"""A file whose rows depend on the zone says so, and so do its rows."""

import io
from datetime import UTC, timedelta, timezone, tzinfo
from pathlib import Path

import polars as pl
import pytest

from ingest import files
from ingest.sources import SOURCES, Batch
from ingest.tables import Table
from tests.ingest.readings import reading

pytestmark = pytest.mark.thorough

FOLDER = Path(__file__).resolve().parents[2] / "sample_traces" / "formats"
SAMPLES = sorted(path for path in FOLDER.rglob("*") if path.is_file())
IDS = [f"{path.parent.name}/{path.name}" for path in SAMPLES]

#: Quality of times, and the column of each row that tells of it.
QUALITY = "time_quality"

ELSEWHERE = timezone(timedelta(hours=5, minutes=45))


def read(path: Path, zone: tzinfo) -> list[Batch]:
    source = files.recognize(files.head_of(path), SOURCES)
    assert source is not None
    told = reading(name=path.name, zone=zone, modified_ns=1_790_000_000 * 10**9)
    with path.open("rb") as stream:
        return list(source.read(io.BytesIO(stream.read()), told))


def frames(batches: list[Batch]) -> list[tuple[type[Table], pl.DataFrame]]:
    return [(table, one) for batch in batches for table, one in batch.rows.items()]


@pytest.mark.parametrize("path", SAMPLES, ids=IDS)
def test_a_zone_that_moves_rows_is_told(path: Path) -> None:
    # GIVEN a sample that is read twice, as if its naive stamps were of two zones
    here, there = read(path, UTC), read(path, ELSEWHERE)
    pairs = list(zip(frames(here), frames(there), strict=True))
    moved = [
        (table, one.filter(pl.Series(differing(one, other))))
        for (table, one), (_, other) in pairs
    ]

    # THEN the file needed the zone if, and only if, a row of it moved
    used = any(batch.zone_used for batch in here)
    assert used == any(rows.height for _, rows in moved)

    # AND the rows that moved say that nobody declared it
    for table, rows in moved:
        if QUALITY in table.columns() and QUALITY in rows.columns:
            told = set(rows[QUALITY].drop_nulls())
            assert told <= {"zone_assumed", "year_inferred", "boot_relative"}, table


def differing(one: pl.DataFrame, other: pl.DataFrame) -> list[bool]:
    assert one.height == other.height
    return [a != b for a, b in zip(one.rows(), other.rows(), strict=True)]
