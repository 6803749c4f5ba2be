"""Rows that wait to be written, so that many small files make few parts."""

from pathlib import Path
from typing import Final

import polars as pl

from ingest import _parts
from ingest._offers import Offers
from ingest.manifest import Part
from ingest.tables import RejectedRows, Table

#: Memory that held rows may take before they are written, whatever their number. [B]
HELD_BYTES: Final = 256 * 1024 * 1024


class Shelf:
    """Checks rows of any files and writes them in parts of some size.

    Attributes:
        root: The lake's folder.
        flush_rows: Rows that are held before they are written. [1]
        parts: Parts written so far.
        counts: Changes of columns of IngestedFiles, by file.
    """

    def __init__(self, root: Path, flush_rows: int) -> None:
        """Hold at most about so many rows for a lake."""
        self.root = root
        self.flush_rows = flush_rows
        self.parts: list[Part] = []
        self.counts: list[pl.DataFrame] = []
        self._held = Offers()

    def hold(self, offers: Offers) -> None:
        """Take rows in, to be written with those of other files."""
        self._held.take(offers)
        if self._held.rows >= self.flush_rows or self._held.bytes >= HELD_BYTES:
            self.flush()

    def flush(self) -> None:
        """Check and write all that is held."""
        held, self._held = self._held, Offers()
        self.write(held)

    def write(self, offers: Offers) -> dict[type[Table], list[Part]]:
        """Check rows and write them at once, in parts of their own."""
        rows, counts = offers.seal()
        self.counts.append(counts)
        return {table: self._write(table, frame) for table, frame in rows.items()}

    def _write(self, table: type[Table], frame: pl.DataFrame) -> list[Part]:
        parts = [] if frame.is_empty() else _parts.write(self.root, table, frame)
        self.parts += parts
        return parts

    def replace(self, old: Part, table: type[Table], frame: pl.DataFrame) -> None:
        """Write checked rows in the place of a part, which is deleted."""
        self._write(table, frame)
        self.parts.remove(old)
        (self.root / old.path).unlink()

    def reject(self, records: pl.DataFrame, counts: pl.DataFrame) -> None:
        """Write records of RejectedRows that nothing has counted yet."""
        self._write(RejectedRows, records)
        self.counts.append(counts)

    def discard(self) -> None:
        """Delete every part that was written."""
        for part in self.parts:
            (self.root / part.path).unlink(missing_ok=True)
        self.parts.clear()
