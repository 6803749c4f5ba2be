"""Parts too long to be held: written while their rows come, in order."""

import errno
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import polars as pl
from polars.exceptions import PolarsError
from polars.io.plugins import register_io_source

from ingest import _disk
from ingest._part_notes import PartNotes
from ingest._schema import fingerprint_of, schema_of
from ingest.manifest import Part
from ingest.tables import Table

#: Rows of a row group: few enough for a reader to hold some, enough to pack well. [1]
GROUP_ROWS: Final = 1_000_000

#: How Polars tells what the system said.
_SYSTEM: Final = re.compile(r"os error (\d+)")


class _Pieces:
    """Frames that are cut where a part ends."""

    def __init__(self, frames: Iterable[pl.DataFrame], most: int) -> None:
        self._frames = (frame for frame in frames if not frame.is_empty())
        self._most = most
        self._rest = next(self._frames, None)

    def __bool__(self) -> bool:
        """Tell whether there are rows for another part."""
        return self._rest is not None

    def of_part(self) -> Iterator[pl.DataFrame]:
        """Yield the rows of the next part."""
        room = self._most
        while room and self._rest is not None:
            piece, rest = self._rest[:room], self._rest[room:]
            self._rest = next(self._frames, None) if rest.is_empty() else rest
            room -= piece.height
            yield piece


def write_long(
    root: Path,
    table: type[Table],
    like: Part,
    frames: Iterable[pl.DataFrame],
    most: int,
) -> list[Part]:
    """Write sorted rows as parts of at most so many rows, synced.

    Nothing shows the parts before a manifest names them.

    Args:
        root: The lake's folder.
        table: Table that the rows are of.
        like: A part of the same day, kind and result.
        frames: Rows with the table's columns, in the order of its key.
        most: Rows of a part. [1]

    Raises:
        OSError: If a part cannot be written whole; none is left then.
    """
    pieces = _Pieces(frames, most)
    folder = Path(like.path).parent.as_posix()
    blank = replace(like, fingerprint=fingerprint_of(table), content=None)
    written: list[Part] = []
    try:
        while pieces:
            written.append(replace(blank, path=f"{folder}/{_disk.part_name()}"))
            written[-1] = _write(root, table, written[-1], pieces)
    except BaseException:
        for part in written:
            (root / part.path).unlink(missing_ok=True)
        raise
    _disk.sync_folder(root / folder)
    return written


def _write(root: Path, table: type[Table], part: Part, pieces: _Pieces) -> Part:
    notes = PartNotes(table, part)
    failed: list[BaseException] = []

    def rows(*_: object) -> Iterator[pl.DataFrame]:
        try:
            for piece in pieces.of_part():
                notes.take(piece)
                yield piece
        except BaseException as error:
            failed.append(error)
            raise

    target = root / part.path
    source = register_io_source(rows, schema=schema_of(table))
    try:
        source.sink_parquet(
            target, row_group_size=GROUP_ROWS, arrow_schema=table.arrow_schema()
        )
    except PolarsError as error:
        raise (failed[0] if failed else _told(error, target)) from error
    with target.open("rb") as file:
        os.fsync(file.fileno())
    return notes.done(target.stat().st_size)


def _told(error: PolarsError, path: Path) -> Exception:
    """Return what the system said, where Polars has wrapped it."""
    said = _SYSTEM.search(str(error))
    if not said:
        return error
    number = int(said.group(1)) or errno.EIO
    return OSError(number, os.strerror(number), str(path))
