"""What the manifest keeps of a part, noted while its rows pass."""

import json
from dataclasses import replace
from itertools import pairwise

import polars as pl

from ingest import _parts
from ingest._box import Box
from ingest.manifest import Part
from ingest.tables import Table


class PartNotes:
    """Rows, bounds and files of a part that is written piece by piece."""

    def __init__(self, table: type[Table], part: Part) -> None:
        """Note nothing yet of a part, of which the path and kind are known."""
        self._table = table
        self._part = replace(part, rows=0, file_ids=(), key_first=None, key_last=None)
        self._files: set[str] = set()
        self._pieces: list[Part] = []

    def take(self, piece: pl.DataFrame) -> None:
        """Note some rows."""
        least, greatest = _parts.bounds_of(piece, self._table.key)
        first, last = _parts.ends_of(piece, self._table.key)
        noted = replace(
            self._part,
            rows=piece.height,
            key_min=least,
            key_max=greatest,
            key_first=first,
            key_last=last,
        )
        self._pieces.append(noted)
        self._files.update(_parts.files_of(piece))

    def done(self, size: int) -> Part:
        """Return the part with what was noted.

        Args:
            size: Size of its file. [B]
        """
        box = Box.around(self._pieces)
        names = self._table.key
        ascends = self._ascends()
        return replace(
            self._part,
            rows=sum(piece.rows for piece in self._pieces),
            bytes=size,
            key_min=json.dumps({name: box.least[name] for name in names}),
            key_max=json.dumps({name: box.greatest[name] for name in names}),
            file_ids=tuple(sorted(self._files)),
            key_first=self._pieces[0].key_first if ascends else None,
            key_last=self._pieces[-1].key_last if ascends else None,
        )

    def _ascends(self) -> bool:
        """Whether the keys of all pieces are known to ascend."""
        boxes = [Box.of(piece) for piece in self._pieces]
        is_known = all(box.first is not None for box in boxes)
        return is_known and all(a.precedes(b) for a, b in pairwise(boxes))
