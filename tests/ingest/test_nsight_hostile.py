"""Exports of Nsight Systems that are damaged, hostile, or hold secrets."""

import io
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import UnreadableFileError
from ingest.lake import snapshot
from ingest.sources import Batch, nsight
from ingest.tables import (
    TABLES,
    Kernels,
    RejectedRows,
    Table,
)
from tests.examples import examples
from tests.ingest.nsight_export import (
    SCHEMA,
    Export,
    sample,
)
from tests.ingest.readings import held, reading, records, refused, repairs, rows
from tests.ingest.tiny import candidate, ingest

pytestmark = pytest.mark.thorough


def read(data: bytes, name: str = "report.sqlite") -> list[Batch]:
    return held(nsight.read(io.BytesIO(data), reading(name=name)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "report.sqlite"


def lacking(*tables: str) -> dict[str, str]:
    return {name: made for name, made in SCHEMA.items() if name not in tables}


def kernels(batches: Sequence[Batch]) -> list[dict[str, Any]]:
    return sorted(rows(batches, Kernels), key=lambda row: row["event"])


#   what nobody must see is nowhere in the rows, the refusals or the messages
SECRET = "hunter2-AKIA0000SECRET"


def test_secrets_do_not_reach_the_lake(tmp_path: Path) -> None:
    # GIVEN an export with secrets wherever the profiler keeps what it saw
    export = sample()
    export.add("TARGET_INFO_SYSTEM_ENV", name="AWS_SECRET_ACCESS_KEY", value=SECRET)
    export.add("META_DATA_CAPTURE", name="PROCESS_ENVIRONMENT", value=SECRET)
    for name in ("EXPORT_USER", "EXPORT_HOST", "EXPORT_PARAM_INPUT_PATH_ABS"):
        export.add("META_DATA_EXPORT", name=name, value=SECRET)
    export.string(f"/home/{SECRET}/train.py")
    export.range(0, 10, f"step {SECRET}")
    path = tmp_path / "profile.rank0.sqlite"
    export.write(path)

    # WHEN it is ingested
    ingest(tmp_path / "lake", [candidate(path, source=nsight.SOURCE)])

    # THEN no table and no file of the lake has one of them
    lake = snapshot(tmp_path / "lake")
    asked: list[type[Table]] = [*TABLES, RejectedRows]
    tables = [lake.scan(table).collect() for table in asked]
    assert sum(len(rows) for rows in tables) >= 6
    assert SECRET not in "".join(rows.write_json() for rows in tables)
    files = [one for one in (tmp_path / "lake").rglob("*") if one.is_file()]
    assert files
    assert not any(SECRET.encode() in one.read_bytes() for one in files)


@pytest.mark.parametrize(
    ("start", "end", "rule"),
    [
        ("soon", 30, "not_whole_numbers"),
        (b"\x00\xff", 30, "not_whole_numbers"),
        (20.5, 30, "not_whole_numbers"),
        (30, 20, "negative_duration"),
        ((1 << 63) - 1, 0, "negative_duration"),
        (-(1 << 63), (1 << 63) - 1, "negative_duration"),
        (20, (1 << 63) - 1, "longer_than_trace"),
        (1 << 62, (1 << 62) + 1, "time_outside_trace"),
    ],
)
def test_values_that_are_no_time(path: Path, start: Any, end: Any, rule: str) -> None:
    export = Export()
    export.kernel(10, 20)
    export.kernel(15, 25)
    export.kernel(start, end)
    batches = read(export.write(path))
    assert refused(batches) == [("event 2", rule)]
    assert len(kernels(batches)) == 2


def test_a_refused_row_shows_its_values(path: Path) -> None:
    export = Export()
    export.kernel("soon", 30, deviceId=5)
    (refusal,) = [r for b in read(export.write(path)) for r in b.refused]
    assert refusal.raw.startswith("('soon', 30, 5, 7, ")
    assert refusal.table is Kernels


def test_a_missing_device_is_refused(path: Path) -> None:
    loose = SCHEMA["CUPTI_ACTIVITY_KIND_KERNEL"].replace(" NOT NULL", "")
    export = Export()
    export.kernel(10, 20, deviceId=None)
    export.kernel(10, 20, deviceId=-1)
    batches = read(export.write(path, SCHEMA | {"CUPTI_ACTIVITY_KIND_KERNEL": loose}))
    assert [rule for _, rule in refused(batches)] == ["no_device"] * 2


def test_bytes_that_are_no_text_are_replaced_and_counted(path: Path) -> None:
    export = Export()
    export.kernel(10, 20, "gemm")
    data = export.write(path).replace(b"gemm", b"g\xff\xfem")
    batches = read(data)
    assert [k["name"] for k in kernels(batches)] == ["g\ufffd\ufffdm"]
    assert repairs(batches) == 1


ENDLESS = (
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
    " SELECT x AS start, x AS end, 0 AS deviceId FROM n"
)


@pytest.mark.parametrize(
    "hostile",
    [
        f"CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS {ENDLESS}",
        f"CREATE VIEW StringIds_V2 AS {ENDLESS}",
        "CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN DELETE FROM StringIds; END",
        "CREATE INDEX i ON StringIds (abs(id))",
    ],
)
def test_nothing_of_a_schema_runs(path: Path, hostile: str) -> None:
    is_view = "VIEW CUPTI" in hostile
    schema = lacking("CUPTI_ACTIVITY_KIND_KERNEL") if is_view else SCHEMA
    batches = read(sample().write(path, schema, hostile))
    assert refused(batches) == []
    assert len(kernels(batches)) == (3 if is_view else 6)


def test_a_column_that_is_computed_is_not_read(path: Path) -> None:
    schema = SCHEMA["CUPTI_ACTIVITY_KIND_KERNEL"] + ", spare INTEGER"
    computed = "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN x AS (1 / 0)"
    tables = SCHEMA | {"CUPTI_ACTIVITY_KIND_KERNEL": schema}
    assert len(kernels(read(sample().write(path, tables, computed)))) == 6


def test_a_file_that_waits_for_its_log_is_read_as_it_is(
    path: Path, tmp_path: Path
) -> None:
    sample().write(path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
    before = sorted(tmp_path.iterdir())
    with path.open("rb") as file:
        batches = held(nsight.read(file, reading()))
    assert len(kernels(batches)) == 6
    assert sorted(tmp_path.iterdir()) == before


def test_no_database_and_a_broken_schema(path: Path) -> None:
    data = sample().write(path)
    for bad in (b"SQLite format 3\0", data[:700], data[:100] + bytes(924)):
        with pytest.raises(UnreadableFileError, match="nsys export"):
            read(bad)
    assert records(read(b"")) == 0


def test_a_damaged_table_costs_only_itself(path: Path) -> None:
    export = sample()
    for at in range(2_000):
        export.kernel(100_000 + at, 100_001 + at)
    whole = export.write(path)
    batches = read(whole)
    assert refused(batches) == []
    (page,) = _root_of(path, "CUPTI_ACTIVITY_KIND_MEMSET")
    start = (page - 1) * 1_024
    batches = read(whole[:start] + b"\x5a" * 1_024 + whole[start + 1_024 :])
    assert refused(batches) == [("table CUPTI_ACTIVITY_KIND_MEMSET", "damaged")]
    assert len(kernels(batches)) == 2_005


def _root_of(path: Path, table: str) -> tuple[int]:
    with closing(sqlite3.connect(path)) as database:
        found = database.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()
    assert isinstance(found[0], int)
    return (found[0],)


def test_an_endless_table_is_cut_at_what_fits_into_the_file(path: Path) -> None:
    export = Export()
    for at in range(500):
        export.kernel(at, at + 1)
    data = bytearray(export.write(path))
    (root,) = _root_of(path, "CUPTI_ACTIVITY_KIND_KERNEL")
    size = 1_024
    inner = bytes(data[(root - 1) * size : root * size])
    assert inner[0] == 5  # an inner page of a table
    leaves = [int.from_bytes(inner[at : at + 4]) for at in _cells(inner)]
    #   root -> second -> third -> fourth -> last, from each of its cells
    chain = [root, *leaves[:3], leaves[3]]
    for page, child in pairwise(chain):
        turned = bytearray(inner)
        for at in (*_cells(inner), 8):
            turned[at : at + 4] = child.to_bytes(4)
        data[(page - 1) * size : page * size] = turned
    batches = read(bytes(data))
    table = "table CUPTI_ACTIVITY_KIND_KERNEL"
    assert refused(batches) == [(table, "damaged")]
    assert len(kernels(batches)) <= len(data) // 4


def _cells(page: bytes) -> list[int]:
    count = int.from_bytes(page[3:5])
    return [int.from_bytes(page[12 + 2 * n : 14 + 2 * n]) for n in range(count)]


def test_long_texts_are_cut_and_longer_ones_end_their_table(path: Path) -> None:
    export = Export()
    export.kernel(10, 20, "long" * 5_000)
    (found,) = kernels(read(export.write(path)))
    assert found["name"] == "long" * 2_000
    export.string("x" * (2 << 20))
    batches = read(export.write(path))
    assert refused(batches) == [("table StringIds", "damaged")]
    assert len(kernels(batches)) == 1


SAMPLE = Path(__file__).parents[2] / "sample_traces/formats/nsight"


@given(
    at=st.integers(0, 16_383),
    length=st.integers(1, 40),
    fill=st.binary(min_size=1, max_size=4),
    cut=st.integers(0, 16_384),
)
@settings(max_examples=examples(50))
def test_a_damaged_file_never_raises_anything_else(
    at: int, length: int, fill: bytes, cut: int
) -> None:
    (file,) = SAMPLE.iterdir()
    data = bytearray(file.read_bytes())
    data[at : at + length] = (fill * length)[:length]
    for damaged in (bytes(data), bytes(data[: max(cut, 100)])):
        try:
            batches = read(damaged, file.name)
        except UnreadableFileError:
            continue
        found = sum(frame.height for b in batches for frame in b.rows.values())
        assert found <= 2 * records(batches) + 2
        assert all(len(r.raw) <= 2_000 for b in batches for r in b.refused)
