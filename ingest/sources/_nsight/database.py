"""An SQLite file of somebody else, from which nothing but plain tables is read.

SQLite runs what a schema says: views, triggers, columns that are computed. None of it
runs here: only tables that keep their rows are looked at, without their indexes, and an
authorizer refuses everything but reading the columns that are asked for. A page that
leads back to another can make a small file endless: no table has more rows, and no text
more bytes, than fit into the file.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import Final

import polars as pl

from ingest.sources._nsight.values import integers, numbers_of

#: Rows fetched at a time: Python looks for garbage among more of them again and again,
#: which took as long as fetching; and texts of so many rows are 16 MB at most. [1]
FETCHED_ROWS: Final = 1 << 11

#: Blocks of rows that make a frame of numbers.
PIECES: Final = 16

#: Longest text that is kept; names of kernels reach some thousands of characters.
TEXT_CHARACTERS: Final = 8_000

#: Longest value that SQLite may hand out, and longest statement of a schema. [B]
VALUE_BYTES: Final = 1 << 20

#: Longest value where numbers are read: nothing there is longer in a sound file. [B]
NUMBER_BYTES: Final = 1 << 10

#: Fewest bytes of a row in a file: its place in the page, its size and its header. [B]
ROW_BYTES: Final = 4

#: What a file that is no sound database raises; bytes that are no text may be met in
#: its error message itself.
BROKEN: Final = (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError)

_ENDLESS: Final = "more than fits into the file"

_NULL: Final = pl.lit(None, pl.Int64)

_TABLES: Final = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"


class DamagedTableError(Exception):
    """A table cannot be read any further."""


class Database:
    """The plain tables of a file.

    Attributes:
        repairs: Texts whose bytes were not UTF-8. [1]
    """

    def __init__(self, connection: sqlite3.Connection, size: int) -> None:
        """List the tables of a file of some bytes, whose connection is guarded.

        Raises:
            sqlite3.Error: If the file is no database, or its schema is broken.
        """
        self.repairs = 0
        self._size = size
        self._connection = connection
        connection.text_factory = self._text
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES)
        self._names = [str(row[0]) for row in connection.execute(_TABLES)]
        self._columns: dict[str, frozenset[str]] = {}

    def table(self, name: str) -> str | None:
        """Return a table, or its newest version (`_V2`, `_V3`); null without one."""
        version = re.compile(rf"{name}(?:_V([0-9]{{1,3}}))?")
        found = [match for one in self._names if (match := version.fullmatch(one))]
        newest = max(found, key=lambda match: int(match[1] or 0), default=None)
        return newest[0] if newest else None

    def columns(self, table: str) -> frozenset[str]:
        """Return the columns that a table keeps, without those that it computes."""
        if table not in self._columns:
            info = self._connection.execute(f"PRAGMA table_info({_quoted(table)})")
            self._columns[table] = frozenset(str(row[1]) for row in info)
        return self._columns[table]

    def numbers(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield columns of whole numbers, in the order in which they are stored.

        A column that the table lacks is null. So is what is no whole number; then
        `other` is the text of the row.

        Raises:
            DamagedTableError: If the table ends before its end, or never.
        """
        known = self.columns(table)
        asked = [name for name in columns if name in known]
        lacking = {name: _NULL for name in columns if name not in known}
        pieces: list[pl.DataFrame] = []
        try:
            for rows in self._rows(table, list(map(_quoted, asked)), NUMBER_BYTES):
                pieces.append(pl.DataFrame(numbers_of(asked, rows)))
                if len(pieces) == PIECES:
                    yield pl.concat(pieces).with_columns(**lacking)
                    pieces.clear()
        except DamagedTableError:
            if pieces:
                yield pl.concat(pieces).with_columns(**lacking)
            raise
        if pieces:
            yield pl.concat(pieces).with_columns(**lacking)

    def texts(
        self, table: str, columns: Sequence[str], text: str, where: str = ""
    ) -> Iterator[pl.DataFrame]:
        """Yield columns of whole numbers and a last one of text, cut where it is long.

        Raises:
            DamagedTableError: If the table ends before its end, or never.
        """
        known = self.columns(table)
        asked = [_quoted(name) if name in known else "NULL" for name in columns]
        cut = f"substr({_quoted(text)}, 1, {TEXT_CHARACTERS})"
        asked.append(cut if text in known else "NULL")
        total = 0
        for rows in self._rows(table, asked, VALUE_BYTES, where):
            *numbers, texts = zip(*rows, strict=True)
            values = [one if isinstance(one, str) else None for one in texts]
            total += sum(map(len, filter(None, values)))
            if total > self._size:
                raise DamagedTableError(_ENDLESS)
            pairs = zip(columns, numbers, strict=True)
            yield pl.DataFrame(
                [integers(name, column) for name, column in pairs]
                + [pl.Series(text, values, dtype=pl.String)]
            )

    def _rows(
        self, table: str, expressions: Sequence[str], longest: int, where: str = ""
    ) -> Iterator[list[tuple[object, ...]]]:
        """Yield blocks of rows, the last one up to where the table is damaged."""
        if not expressions:
            return
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
        asked = f"{', '.join(expressions)} FROM {_quoted(table)} NOT INDEXED"
        left = self._size // ROW_BYTES
        rows: list[tuple[object, ...]] = []
        try:
            with closing(self._connection.execute(f"SELECT {asked} {where}")) as cursor:
                while True:
                    # keeps what came before an error, as fetchmany does not
                    rows.extend(islice(cursor, FETCHED_ROWS))
                    if not rows:
                        return
                    left -= len(rows)
                    if left < 0:
                        break
                    yield rows
                    rows = []
        except BROKEN as error:
            if rows:
                yield rows
            raise DamagedTableError(_words(error)) from error
        raise DamagedTableError(_ENDLESS)

    def _text(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.repairs += 1
            return raw.decode(errors="replace")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _words(error: BaseException) -> str:
    return str(error).encode(errors="replace").decode()[:200]
