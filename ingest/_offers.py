"""Rows as readers gave them, until there are enough of them to be checked at once."""

from collections.abc import Iterable
from itertools import groupby
from typing import Final, NamedTuple

import polars as pl

from ingest import _refused, _rules
from ingest._hints import hinted
from ingest._order import is_constant
from ingest._schema import FILE_ID
from ingest.sources import Refusal
from ingest.tables import IngestedFiles, RejectedRows, Table

ACCEPTED: Final = IngestedFiles.rows_accepted.name
REJECTED: Final = IngestedFiles.rows_rejected.name
FIRST: Final = IngestedFiles.first_ns.name
LAST: Final = IngestedFiles.last_ns.name

#: Columns of IngestedFiles that are counted, by file.
COUNTED: Final = (
    ACCEPTED,
    REJECTED,
    IngestedFiles.rows_retired.name,
    FIRST,
    LAST,
)


#: Rows of a frame that is checked alone. [1]
_LARGE_ROWS: Final = 100_000


class Sealed(NamedTuple):
    """Checked rows by table, refused ones among them, and their counts by file."""

    rows: dict[type[Table], pl.DataFrame]
    counts: pl.DataFrame


class Offers:
    """Rows and refusals of one file or of several.

    Attributes:
        rows: Rows and refusals held. [1]
        bytes: Memory that they take. [B]
    """

    def __init__(self) -> None:
        """Hold nothing yet."""
        self.rows = 0
        self.bytes = 0
        self._frames: dict[type[Table], dict[str, list[pl.DataFrame]]] = {}
        self._refused: list[pl.DataFrame] = []

    def add(self, table: type[Table], frame: pl.DataFrame) -> None:
        """Hold complete rows for a table."""
        if not frame.is_empty():
            # only frames of equal types are joined: a common type could round numbers
            like = self._frames.setdefault(table, {})
            like.setdefault(repr(frame.schema), []).append(frame)
            self._count(frame)

    def refuse(self, refused: Iterable[Refusal], file_id: str) -> None:
        """Hold records that the reader of a file refused."""
        if records := tuple(refused):
            self.reject(_refused.of_refusals(records, file_id))

    def reject(self, records: pl.DataFrame) -> None:
        """Hold rows of RejectedRows."""
        self._refused.append(records)
        self._count(records)

    def take(self, other: "Offers") -> None:
        """Hold what another holds, too."""
        for table, like in other._frames.items():
            for frames in like.values():
                for frame in frames:
                    self.add(table, frame)
        for records in other._refused:
            self.reject(records)

    def _count(self, frame: pl.DataFrame) -> None:
        self.rows += frame.height
        self.bytes += int(frame.estimated_size())

    def seal(self) -> Sealed:
        """Check all rows; of rows of a file that share a key, the first is taken."""
        rows = {}
        records = [RejectedRows.create_empty(), *self._refused]
        counts = []
        for table, like in self._frames.items():
            pieces = [piece for same in like.values() for piece in _pieces(same)]
            checked = [_rules.check(table, piece) for piece in pieces]
            taken = pl.concat([one.taken for one in checked], how="diagonal")
            first, repeats = _rules.split_repeats(table, taken)
            rows[table] = first
            records += [*(one.refused for one in checked), repeats]
            counts += [_span(table, taken), count(first, ACCEPTED)]
        rows[RejectedRows] = hinted(_refused.tell_apart(pl.concat(records)))
        counts.append(count(rows[RejectedRows], REJECTED))
        return Sealed(rows, together(counts))


def _pieces(frames: list[pl.DataFrame]) -> list[pl.DataFrame]:
    """Return small frames that follow each other as one, and large ones alone.

    Joined, the literals of a large one would take room; in another order than they
    came in, rows that are sorted would have to be sorted again.
    """
    runs = groupby(frames, lambda frame: frame.height >= _LARGE_ROWS)
    joined = [list(run) if is_large else [pl.concat(run)] for is_large, run in runs]
    return [frame for run in joined for frame in run]


def count(rows: pl.DataFrame, column: str, sign: int = 1) -> pl.DataFrame:
    """Return the rows of each file, as a change of a column of IngestedFiles."""
    change = (pl.len().cast(pl.Int64) * sign).alias(column)
    return _by_file(rows, change)


def together(counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return counts as one frame, with all columns that may be counted."""
    schema = {FILE_ID: pl.String(), **dict.fromkeys(COUNTED, pl.Int64())}
    return pl.concat([pl.DataFrame(schema=schema), *counts], how="diagonal")


def _span(table: type[Table], rows: pl.DataFrame) -> pl.DataFrame:
    """Return the first and last time of each file. [ns]"""
    times = (
        pl.lit(None, pl.Int64) if table.day_column is None else pl.col(table.day_column)
    )
    return _by_file(rows, times.min().alias(FIRST), times.max().alias(LAST))


def _by_file(rows: pl.DataFrame, *told: pl.Expr) -> pl.DataFrame:
    if rows.is_empty() or not is_constant(rows[FILE_ID]):
        return rows.group_by(FILE_ID).agg(told)
    return rows.select(pl.col(FILE_ID).first(), *told)
