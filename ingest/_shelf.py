"""Rows that wait to be written, so that many small files make few parts."""

from pathlib import Path
from typing import Final

import polars as pl

from ingest import _parts
from ingest.manifest import Part
from ingest.tables import Table

#: Memory that held rows may take before they are written, whatever their number. [B]
HELD_BYTES: Final = 256 * 1024 * 1024


class Shelf:
    """Holds checked rows of any files and writes them in parts of some size.

    Attributes:
        parts: Parts written so far.
    """

    def __init__(self, root: Path, flush_rows: int) -> None:
        """Hold at most about so many rows for a lake."""
        self.root = root
        self.flush_rows = flush_rows
        self.parts: list[Part] = []
        self._held: dict[type[Table], list[pl.DataFrame]] = {}
        self._rows = 0
        self._bytes = 0

    def hold(self, table: type[Table], frame: pl.DataFrame) -> None:
        """Take rows in, to be written with those of other files."""
        if frame.is_empty():
            return
        self._held.setdefault(table, []).append(frame)
        self._rows += frame.height
        self._bytes += frame.estimated_size()
        if self._rows >= self.flush_rows or self._bytes >= HELD_BYTES:
            self.flush()

    def write(self, table: type[Table], frame: pl.DataFrame) -> list[Part]:
        """Write rows at once, in parts of their own."""
        if frame.is_empty():
            return []
        parts = _parts.write(self.root, table, frame)
        self.parts += parts
        return parts

    def replace(self, old: Part, table: type[Table], frame: pl.DataFrame) -> None:
        """Write rows in the place of a part, which is deleted."""
        self.write(table, frame)
        self.parts.remove(old)
        (self.root / old.path).unlink()

    def flush(self) -> None:
        """Write all that is held."""
        held, self._held = self._held, {}
        self._rows = self._bytes = 0
        for table, frames in held.items():
            self.write(table, pl.concat(frames))

    def discard(self) -> None:
        """Delete every part that was written."""
        for part in self.parts:
            (self.root / part.path).unlink(missing_ok=True)
        self.parts.clear()
