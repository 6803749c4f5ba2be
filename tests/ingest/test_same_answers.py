"""What may be wrong with a text file has the same answer in every source.

The sample of every text format is read as it is and damaged in a way that loses nothing
(a byte order mark, other line ends, NUL bytes at the end): the rows are the same.
"""

import io
import re
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from ingest import files
from ingest.errors import UnreadableFileError
from ingest.sources import SOURCES, Batch, Source
from ingest.sources._places import PLACE, PLACE_NUMBERS
from ingest.tables import Table
from tests.ingest.readings import reading

pytestmark = pytest.mark.thorough

SAMPLES = sorted(
    path
    for path in (Path(__file__).parents[2] / "sample_traces" / "formats").rglob("*")
    if path.is_file()
)


def is_text(path: Path) -> bool:
    data = path.read_bytes()
    return b"\0" not in data and data.decode("utf-8", errors="ignore").encode() == data


TEXTS = [path for path in SAMPLES if is_text(path)]
IDS = [f"{path.parent.name}/{path.name}" for path in TEXTS]

HARMLESS = {
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "carriage returns": lambda data: data.replace(b"\n", b"\r\n"),
    "NUL bytes at the end": lambda data: data + b"\0" * 5_000,
    "blank lines at the end": lambda data: data + b"\n \t\n\n",
}


#: What a PyTorch trace ends with and its times count from: where the file is cut in it,
#: they are told as if there were none.
BASE = re.compile(rb'"baseTimeNanoseconds":\s*[0-9]+(?=\s*\}\Z)')


@cache
def source_of(path: Path) -> Source:
    found = files.recognize(files.head_of(path), SOURCES)
    assert found is not None
    return found


def read(path: Path, data: bytes) -> list[Batch]:
    source = source_of(path)
    return list(
        source.read(io.BytesIO(data), reading(name=path.name, modified_ns=10**18))
    )


@cache
def whole_of(path: Path) -> tuple[dict[type[Table], list[str]], int]:
    """Return the rows of a file as it is, and how many records were mended."""
    batches = read(path, path.read_bytes())
    return content(batches), repairs(batches)


def repairs(batches: list[Batch]) -> int:
    return sum(batch.repairs for batch in batches)


def content(batches: list[Batch]) -> dict[type[Table], list[str]]:
    """Return all rows by table, without their places, in an order of their own."""
    tables: dict[type[Table], list[pl.DataFrame]] = {}
    for batch in batches:
        for table, frame in batch.rows.items():
            kept = frame.drop(PLACE, *PLACE_NUMBERS, "message", strict=False)
            tables.setdefault(table, []).append(kept.select(sorted(kept.columns)))
    return {
        table: sorted(map(repr, pl.concat(frames, how="diagonal_relaxed").rows()))
        for table, frames in tables.items()
    }


@pytest.mark.parametrize("damage", HARMLESS, ids=lambda d: d.replace(" ", "-"))
@pytest.mark.parametrize("path", TEXTS, ids=IDS)
def test_what_is_harmless_changes_no_row(path: Path, damage: str) -> None:
    data = path.read_bytes()
    rows, mended = whole_of(path)
    damaged = read(path, HARMLESS[damage](data))
    assert content(damaged) == rows
    assert [r.rule for b in damaged for r in b.refused] == []
    nuls = damage.startswith("NUL")
    assert repairs(damaged) == mended + nuls


@pytest.mark.parametrize("path", TEXTS, ids=IDS)
def test_a_file_that_is_still_being_written_gives_what_is_whole(path: Path) -> None:
    # GIVEN a file of which the last bytes are missing
    data = path.read_bytes().rstrip()
    whole = content(read(path, BASE.sub(rb'"":0', data)))
    try:
        cut = read(path, data[:-3])
    except UnreadableFileError:
        # a document of which nothing is whole before its end
        return

    # THEN no row is there that the whole file has not, but for the last record
    for table, rows in content(cut).items():
        assert len(set(rows) - set(whole[table])) <= 1, table.sql_name()


@pytest.mark.parametrize("part", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("path", TEXTS, ids=IDS)
def test_bytes_that_are_no_text_are_replaced_and_counted(
    path: Path, part: float
) -> None:
    # GIVEN a byte that is not UTF-8 anywhere in the file
    data = path.read_bytes()
    place = int(len(data) * part)
    damaged = data[:place] + b"\xff" + data[place:]
    try:
        batches = read(path, damaged)
    except UnreadableFileError:
        return

    # THEN the record it is in is repaired, or refused alone
    assert repairs(batches) + sum(len(b.refused) for b in batches) >= 1
