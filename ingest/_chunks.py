"""Rows of one file on their way to the shelf, so that a long file needs no memory."""

from collections import Counter
from typing import Final

import polars as pl

from ingest import _claims, _refused, _rules, _scans
from ingest._box import meeting
from ingest._offers import ACCEPTED, REJECTED, Offers, count, together
from ingest._shelf import Shelf
from ingest.manifest import Part
from ingest.sources import Batch
from ingest.tables import Table

#: Memory that rows of one file may take before they are written. [B]
_CHUNK_BYTES: Final = 256 * 1024 * 1024


class Chunks:
    """Takes what a reader gives, in chunks whose limits depend on the file alone.

    A file of one chunk shares its parts with others on the shelf. A longer one gets
    parts of its own, chunk by chunk, and its keys are compared between them at the end.

    Attributes:
        rows_read: Rows and refused records. [1]
        records_seen: Records of any kind. [1]
        repairs: Repairs that reading needed. [1]
        zone_used: Whether a naive time stamp needed the zone.
        zones: Zones of naive time stamps that a mapping says.
    """

    def __init__(self, file_id: str, shelf: Shelf) -> None:
        """Begin a file."""
        self.rows_read = 0
        self.records_seen = 0
        self.repairs = 0
        self.zone_used = False
        self.zones: frozenset[str] = frozenset()
        self._file_id = file_id
        self._shelf = shelf
        self._chunk = Offers()
        self._offered: Counter[type[Table]] = Counter()
        self._written: list[dict[type[Table], list[Part]]] = []

    def take(self, batch: Batch) -> None:
        """Take the rows and refusals of a batch."""
        self.records_seen += batch.records
        self.repairs += batch.repairs
        self.zone_used |= batch.zone_used
        self.zones |= batch.zones
        self.rows_read += len(batch.refused)
        self._chunk.refuse(batch.refused, self._file_id)
        for table, frame in batch.rows.items():
            before = self._offered[table]
            self._chunk.add(table, _rules.complete(table, frame, self._file_id, before))
            self._offered[table] += frame.height
            self.rows_read += frame.height
        half = self._shelf.flush_rows // 2
        if self._chunk.rows >= half or self._chunk.bytes >= _CHUNK_BYTES:
            self._write()

    def finish(self) -> None:
        """Pass the last rows on, after the last batch."""
        if not self._written:
            self._shelf.hold(self._chunk)
            return
        self._write()
        for table in self._offered:
            chunks = [chunk.get(table, []) for chunk in self._written]
            self._refuse_repeats(table, chunks)

    def _write(self) -> None:
        chunk, self._chunk = self._chunk, Offers()
        self._written.append(self._shelf.write(chunk))

    def _refuse_repeats(self, table: type[Table], chunks: list[list[Part]]) -> None:
        """Refuse rows whose key an earlier chunk has."""
        parts = [part for chunk in chunks for part in chunk]
        near = meeting(parts, parts)
        root = self._shelf.root
        found = _claims.repeated(root, near, table)
        if found.is_empty():
            return
        claims = _claims.claims(root, near, table, None, found)
        number = {part.path: n for n, chunk in enumerate(chunks) for part in chunk}
        of_claim = pl.col(_claims.PATH).replace_strict(number, return_dtype=pl.Int64)
        late = claims.filter(of_claim > of_claim.min().over(table.key))
        rows_of = _claims.rows_by_path(late)
        for part in near:
            if part.path in rows_of:
                self._refuse(table, part, rows_of[part.path], number[part.path])

    def _refuse(self, table: type[Table], part: Part, rows: pl.Expr, n: int) -> None:
        stay, leave = _scans.split(self._shelf.root, part, table, rows)
        self._shelf.replace(part, table, stay)
        records = _refused.of_duplicates(
            table, leave, f" in chunk {n}", "already before it in the file"
        )
        counts = [count(leave, ACCEPTED, -1), count(records, REJECTED)]
        self._shelf.reject(records, together(counts))
