"""Rows of one file on their way to the shelf, so that a long file needs no memory."""

from typing import Final

import polars as pl

from ingest import _claims, _parts
from ingest._offers import (
    check,
    records_of_duplicates,
    refusals,
    split_repeats,
    tell_apart,
    without_places,
)
from ingest._shelf import Shelf
from ingest._tally import Tally
from ingest.manifest import Part
from ingest.sources import Batch
from ingest.tables import RejectedRows, Table

#: Memory that rows of one file may take before they are checked for repeats. [B]
_CHUNK_BYTES: Final = 128 * 1024 * 1024


class Chunks:
    """Checks what a reader gives, in chunks whose limits depend on the file alone.

    A file of one chunk shares its parts with others on the shelf. A longer one gets
    parts of its own, chunk by chunk, and its keys are compared between them at the end.

    Attributes:
        tally: What has been counted.
    """

    def __init__(self, file_id: str, shelf: Shelf) -> None:
        """Begin a file."""
        self.tally = Tally()
        self._file_id = file_id
        self._shelf = shelf
        self._chunk: dict[type[Table], list[pl.DataFrame]] = {}
        self._rows = 0
        self._bytes = 0
        self._written: dict[type[Table], list[list[Part]]] = {}

    def take(self, batch: Batch) -> None:
        """Check the rows of a batch; keep what the tables take and what they refuse."""
        self.tally.see(batch)
        self._hold(RejectedRows, refusals(batch.refused, self._file_id))
        for table, frame in batch.rows.items():
            before = self.tally.offered(table, frame.height)
            checked = check(table, frame, self._file_id, before)
            self.tally.span(table, checked.taken)
            self._hold(table, checked.taken)
            self._hold(RejectedRows, checked.refused)
        if self._rows >= self._shelf.flush_rows // 2 or self._bytes >= _CHUNK_BYTES:
            self._write()

    def finish(self) -> None:
        """Pass the last rows on, after the last batch."""
        if not self._written:
            for table, frame in self._seal().items():
                self._shelf.hold(table, frame)
            return
        self._write()
        for table, chunks in self._written.items():
            self._refuse_repeats(table, chunks)

    def _hold(self, table: type[Table], frame: pl.DataFrame) -> None:
        if not frame.is_empty():
            self._chunk.setdefault(table, []).append(frame)
            self._rows += frame.height
            self._bytes += frame.estimated_size()

    def _seal(self) -> dict[type[Table], pl.DataFrame]:
        """Take the chunk, without the rows that repeat a key in it."""
        chunk, self._chunk = self._chunk, {}
        self._rows = self._bytes = 0
        records = chunk.pop(RejectedRows, [])
        sealed = {}
        for table, frames in chunk.items():
            checked = split_repeats(table, pl.concat(frames))
            sealed[table] = without_places(checked.taken)
            records.append(checked.refused)
            self.tally.accept(checked.taken.height)
        if records:
            sealed[RejectedRows] = tell_apart(pl.concat(records))
            self.tally.reject(sealed[RejectedRows].height)
        return sealed

    def _write(self) -> None:
        for table, frame in self._seal().items():
            if table is RejectedRows:
                self._shelf.hold(table, frame)
            else:
                parts = self._shelf.write(table, frame)
                self._written.setdefault(table, []).append(parts)

    def _refuse_repeats(self, table: type[Table], chunks: list[list[Part]]) -> None:
        """Refuse rows whose key an earlier chunk has."""
        parts = [part for chunk in chunks for part in chunk]
        near = _claims.meeting(parts, parts)
        claims = _claims.claims(self._shelf.root, table, near)
        number = {part.path: n for n, chunk in enumerate(chunks) for part in chunk}
        of_claim = pl.col(_claims.PATH).replace_strict(number, return_dtype=pl.Int64)
        late = claims.filter(of_claim > of_claim.min().over(table.key))
        rows_of = _claims.rows_by_path(late)
        for part in near:
            if part.path in rows_of:
                self._remove(table, part, rows_of[part.path], number[part.path])

    def _remove(self, table: type[Table], part: Part, rows: pl.Expr, n: int) -> None:
        stay, leave = _parts.split(self._shelf.root, part, table, rows)
        records = records_of_duplicates(table, leave, f" in chunk {n}")
        self._shelf.hold(RejectedRows, records)
        self._shelf.replace(part, table, stay)
        self.tally.accept(-leave.height)
        self.tally.reject(leave.height)
