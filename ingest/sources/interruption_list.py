"""A run's own list of interruptions: a CSV with a row for each, as operators keep it.

    start,end,planned,category,component,cause,host,gpu
    2026-03-01 22:46,2026-03-01 23:31,no,GPU,Faulty GPU,Xid 79 after reset,gpu009,
    2026-03-03 06:00,2026-03-03 07:10,yes,,,firmware of the switches,,

* Needed are a start, what the cause was (cause, component or category), and when it was
  over or whether it was planned (end, duration or planned). The columns may stand in
  any order and have other usual names (_interruption.columns lists them); a column that
  is not known is left out and counts as a repair. Cells are parted by commas,
  semicolons or tabs.
* Times are 2026-03-01 22:46 with or without seconds and an offset, or seconds since
  the epoch. A day alone is no time, nor is 01/03/2026, which may be two days.
* A duration has its unit in the name of its column (duration_min) or behind its number
  (45 min), or is 1:30:00; 1:30 may be hours or minutes, and is refused.
* What an operator says is a cause stands before what logs suggest; what was planned is
  a notice.
"""

import csv
import io
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._interruption.columns import COLUMNS, is_list, place
from ingest.sources._interruption.rows import rows_of
from ingest.sources._source import RAW_CHARACTERS, Batch, Head, Reading, Refusal, Source
from ingest.tables import Failures

#: Longest list: a hundred thousand interruptions of 160 characters. [B]
MOST_BYTES: Final = 16 * 1024 * 1024

#: What cells may be parted by, in the order in which they are tried.
_DELIMITERS: Final = (",", ";", "\t")


def _delimiter(header: str) -> str | None:
    """Return what parts the cells of a header of a list, None where it is none."""
    for delimiter in _DELIMITERS:
        try:
            names = next(csv.reader([header], delimiter=delimiter), [])
        except csv.Error:
            return None
        if is_list(names):
            return delimiter
    return None


def recognizes(head: Head) -> bool:
    """Return whether the first line is the header of a list of interruptions."""
    first = head.text.lstrip().partition("\n")[0].replace("\0", "").strip("\r")
    return len(first) <= RAW_CHARACTERS and _delimiter(first) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a list.

    Raises:
        UnreadableFileError: If it has no header of a list, or is far longer than one.
    """
    plain, repairs = _text(stream.read(MOST_BYTES + 1), reading)
    header = plain.partition("\n")[0].strip("\r")
    delimiter = _delimiter(header) if len(header) <= RAW_CHARACTERS else None
    if delimiter is None:
        raise UnreadableFileError(
            reading.path,
            "line 1",
            "a header with start, cause, and end, duration or planned",
            "write it as `start,end,planned,category,component,cause,host`",
        )
    names, cells, refused = _cells(plain, delimiter)
    places, unit, unknown = place(names)
    batch = rows_of(_frame(cells, places, delimiter), unit, reading)
    yield Batch(
        batch.rows,
        (*refused, *batch.refused),
        records=len(cells) + len(refused),
        repairs=repairs + unknown,
        zone_used=batch.zone_used,
    )


def _text(data: bytes, reading: Reading) -> tuple[str, int]:
    """Return a list as text, and how often it had to be mended."""
    if len(data) > MOST_BYTES:
        expected = f"a list of at most {MOST_BYTES} bytes"
        raise UnreadableFileError(reading.path, "file", expected, "keep a list per run")
    text = data.decode("utf-8-sig", errors="replace")
    is_bad = b"\xef\xbf\xbd" not in data and "\ufffd" in text
    return text.replace("\0", "").lstrip(), int("\0" in text) + int(is_bad)


def _frame(
    cells: list[tuple[str, list[str]]], places: dict[str, int], delimiter: str
) -> pl.DataFrame:
    """Return the cells that are known by what they are, with `place` and `raw`."""
    rows: list[dict[str, str | None]] = [
        {
            "place": where,
            "raw": delimiter.join(row)[:RAW_CHARACTERS],
            **{kind: row[index].strip() or None for kind, index in places.items()},
        }
        for where, row in cells
    ]
    return pl.DataFrame(
        rows, schema=dict.fromkeys(["place", "raw", *COLUMNS], pl.String)
    )


def _cells(
    text: str, delimiter: str
) -> tuple[list[str], list[tuple[str, list[str]]], list[Refusal]]:
    """Return the names, the rows that have a cell for each, and the other rows."""
    rows: list[tuple[str, list[str]]] = []
    refused: list[Refusal] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names: list[str] = []
    before = 0
    try:
        for row in reader:
            where, before = f"line {before + 1}", reader.line_num
            if not names:
                names = row
            elif not any(cell.strip() for cell in row):
                continue
            elif len(row) == len(names):
                rows.append((where, row))
            else:
                raw = delimiter.join(row)[:RAW_CHARACTERS]
                refused.append(Refusal(Failures, where, "cell_count", raw))
    except csv.Error as error:
        where = f"line {before + 1}"
        refused.append(Refusal(Failures, where, "csv", "", str(error)))
    return names, rows, refused


SOURCE: Final = Source(
    name="interruption-list",
    version=3,
    describes="a run's own list of interruptions: CSV with start, end, planned, cause",
    tables=(Failures,),
    options=frozenset({"zone", "run_id", "cluster"}),
    recognizes=recognizes,
    read=read,
)
