"""What becomes of rows that share a key, told to RejectedRows and to the counts."""

from typing import Final

import polars as pl

from ingest import _refused
from ingest._draft import Draft
from ingest._offers import ACCEPTED, REJECTED, count
from ingest._schema import FILE_ID
from ingest.tables import RejectedRows, Table

#: Records that are held before they are written: some hundred bytes each.
_RECORDS: Final = 500_000


class Verdicts:
    """Collects the rows that lost and those that came back.

    Attributes:
        counts: Changes of columns of IngestedFiles, by file.
    """

    def __init__(self, draft: Draft) -> None:
        """Tell them to a commit."""
        self.counts: list[pl.DataFrame] = []
        self._draft = draft
        self._lost: list[pl.DataFrame] = []
        self._back: list[pl.DataFrame] = []

    def lost(self, table: type[Table], rows: pl.DataFrame) -> None:
        """Refuse rows that an equal key of another file has beaten."""
        self.counts += [count(rows, ACCEPTED, -1), count(rows, REJECTED)]
        self._lost.append(_refused.of_duplicates(table, rows))
        if sum(records.height for records in self._lost) >= _RECORDS:
            self._write()

    def back(self, table: type[Table], rows: pl.DataFrame) -> None:
        """Take rows in that were refused before."""
        self.counts += [count(rows, ACCEPTED), count(rows, REJECTED, -1)]
        self._back.append(_refused.of_duplicates(table, rows))

    def close(self) -> None:
        """Write what is held, and take back the records of rows that came back."""
        if self._back:
            self._forgive(pl.concat(self._back))
        self._write()

    def _write(self) -> None:
        if self._lost:
            self._draft.write(RejectedRows, pl.concat(self._lost))
        self._lost.clear()

    def _forgive(self, back: pl.DataFrame) -> None:
        key = pl.struct(RejectedRows.key)
        records = back.select(key.alias("key"))["key"]
        file_ids = set(back[FILE_ID])
        for part in self._draft.parts(RejectedRows):
            if not file_ids.isdisjoint(part.file_ids):
                leaves = key.is_in(records.implode())
                self._draft.take_out(RejectedRows, part, leaves)
