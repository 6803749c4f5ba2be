"""Rows of tables found again: which line of a list a message was put together from."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any, Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.files import open_expanded
from ingest.quoting import MOST_CHARACTERS, MOST_LINES, Line, Quotes, Wanted
from ingest.sources import SOURCES, Reading
from ingest.tables import Failures

#: Sources whose messages are cells of a row, so that a message that stands in a line
#: by itself does not say which row is meant.
BY_ROW: Final = ("interruption-list",)

#: Sources whose first line names the columns of the rest.
_WITH_HEADER: Final = (*BY_ROW, "sacct", "squeue", "sinfo")

#: Largest file that is read a second time to find a row. [B]
_MOST_BYTES: Final = 64 * 1024 * 1024

#: What parts of a message are joined by where it is put together from cells.
_JOINED: Final = re.compile(r": ")

_PLACE: Final = re.compile(r"line ([0-9]+)")


def quote_rows(
    path: str, source: str, size: int, wanted: Sequence[Wanted], known: Quotes
) -> Quotes:
    """Return the rows that messages were put together from, where it is sure.

    Args:
        path: Where the file was read from; it still has the hash that it had.
        source: Source that read it.
        size: Size that its expanded content had. [B]
        wanted: Messages that are looked for.
        known: What was found of their text; it stays where no row is found.
    """
    if size > _MOST_BYTES:
        return known
    try:
        rows = _read_again(path, source, size)
        places = {n: one.message for one in wanted for n in _meant(rows, one)}
        with open_expanded(Path(path), size) as file:
            lines = list(_lines(file, places, with_header=source in _WITH_HEADER))
    except (UnreadableFileError, OSError):
        return known
    is_found = any(line.message for line in lines)
    return Quotes(tuple(lines[:MOST_LINES])) if is_found else known


def _read_again(path: str, source: str, size: int) -> pl.DataFrame:
    """Return message, time and place of the rows, in the order of time.

    The zone of naive times is not needed: it moves all of them alike.
    """
    reader = next((one for one in SOURCES if one.name == source), None)
    if reader is None:
        return _empty()
    reading = Reading(
        path=path,
        name=Path(path).name,
        file_id="",
        zone=UTC,
        zone_basis="assumed",
        run_id="",
        run_id_basis="folder",
        cluster="",
        modified_ns=0,
    )
    with open_expanded(Path(path), size) as file:
        found = [
            rows
            for batch in reader.read(file, reading)
            if (rows := batch.rows.get(Failures)) is not None and "place" in rows
        ]
    columns = _empty().columns
    told = [_empty(), *(rows.select(columns) for rows in _whole(found))]
    order = ["time_ns", "occurrence"]
    return pl.concat(told, how="diagonal_relaxed").sort(order, maintain_order=True)


def _empty() -> pl.DataFrame:
    schema: dict[str, Any] = {"message": pl.String, "time_ns": pl.Int64}
    return pl.DataFrame(schema=schema | {"place": pl.String, "occurrence": pl.Int32})


def _whole(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield frames that say when each row was, and which of those alike it is."""
    for frame in frames:
        if "message" not in frame or "time_ns" not in frame:
            continue
        if "occurrence" in frame:
            yield frame
        else:
            yield frame.with_columns(occurrence=pl.lit(0, pl.Int32))


def _meant(rows: pl.DataFrame, wanted: Wanted) -> Iterator[int]:
    """Yield the numbers of the lines of the rows that are meant."""
    alike = rows.filter(pl.col("message") == wanted.message)
    if alike.height != wanted.total:
        return
    for position in sorted(wanted.positions):
        if hit := _PLACE.match(str(alike["place"][position])):
            yield int(hit[1])


def _lines(
    file: Iterable[bytes], places: dict[int, str], *, with_header: bool
) -> Iterator[Line]:
    """Yield the lines, the header first; none that lacks a part of its message."""
    for number, raw in enumerate(file, 1):
        message = places.get(number, "")
        text = raw.decode(errors="replace").rstrip("\r\n")[:MOST_CHARACTERS]
        if message and all(part in text for part in _JOINED.split(message)):
            yield Line(number, text, message)
        elif number == 1 and with_header:
            yield Line(number, text)
