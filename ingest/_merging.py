"""Rows of many sorted parts in the order of their key, some at a time.

Where they are too many to be sorted at once, they are first dealt into ranges of the
key, whose bounds come from a sample of it: a distribution sort. So memory depends on
the size of a range, and not on how many rows there are or on how parts overlap.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import polars as pl

from ingest import _scans
from ingest._schema import FILE_ID, schema_of
from ingest._spill import Spill
from ingest.manifest import Part
from ingest.tables import Table

#: Rows that are sorted at a time: some 200 B each while they are.
WINDOW_ROWS: Final = 2_000_000

#: Part of a window that a range is cut to hold, since its bounds are of a sample.
_FULL: Final = 0.75

#: Keys of a sample at most. [1]
_SAMPLE: Final = 200_000

Key = tuple[tuple[bool, Any], ...]


def merged(
    root: Path, table: type[Table], parts: Sequence[Part], window: int = WINDOW_ROWS
) -> Iterator[pl.DataFrame]:
    """Yield the rows of parts, sorted by the table's key and then by file.

    Args:
        root: The lake's folder.
        table: Table of the parts.
        parts: Parts, each sorted by the key, as all parts of a lake are.
        window: Rows that are sorted at a time. [1]
    """
    rows = sum(part.rows for part in parts)
    if rows <= window or not table.key:
        yield _sorted(table, [_scans.scan(root, parts, table).collect()])
        return
    cuts = _cuts(root, table, parts, max(1, round(window * _FULL)))
    ranges = [_Range([], Spill(root)) for _ in range(len(cuts) + 1)]
    deal = _Deal(root, table, cuts, ranges)
    try:
        for part in parts:
            deal.part(part, window)
        for one in ranges:
            held = [_scans.scan(root, one.parts, table).collect()] if one.parts else []
            if held := [*held, *one.spill.frames()]:
                yield _sorted(table, held)
            one.spill.delete()
    finally:
        for one in ranges:
            one.spill.delete()


@dataclass(frozen=True, slots=True)
class _Range:
    """Rows between two cuts: whole parts, and pieces of others."""

    parts: list[Part]
    spill: Spill


def _sorted(table: type[Table], frames: list[pl.DataFrame]) -> pl.DataFrame:
    frame = pl.concat(frames)
    frames.clear()
    others = [FILE_ID] if FILE_ID in frame.columns else []
    return frame.sort(list(dict.fromkeys([*table.key, *others])) or frame.columns)


def _cuts(
    root: Path, table: type[Table], parts: Sequence[Part], full: int
) -> list[Key]:
    """Return keys between which there are about so many rows."""
    rows = sum(part.rows for part in parts)
    every = max(1, min(full // 64, rows // _SAMPLE))
    sample = [pl.DataFrame(schema=schema_of(table)).select(table.key)]
    before = 0
    for part in parts:
        # one row in so many of all parts, laid end to end
        first = -before % every
        before += part.rows
        keys = _scans.scan(root, [part], table).select(table.key)
        sample.append(keys.gather_every(every, first).collect())
    ordered = pl.concat(sample).sort(table.key)
    found = (_key(ordered.row(i)) for i in _places(ordered.height, every, full))
    return sorted(set(found))


def _places(height: int, every: int, full: int) -> range:
    step = max(1, full // every)
    return range(step, height, step)


def _key(row: tuple[Any, ...]) -> Key:
    """Return a key as Polars orders it: null before all."""
    return tuple((value is not None, value) for value in row)


@dataclass(frozen=True, slots=True)
class _Deal:
    """Gives the rows of parts to ranges of the key, some at a time."""

    root: Path
    table: type[Table]
    cuts: Sequence[Key]
    ranges: Sequence[_Range]

    def part(self, part: Part, window: int) -> None:
        """Give away the rows of a part."""
        scan = _scans.scan(self.root, [part], self.table)
        for start in range(0, part.rows, window):
            rows = scan.slice(start, window).collect()
            for one, piece in zip(self.ranges, self._pieces(rows), strict=True):
                if piece.height == part.rows:
                    one.parts.append(part)
                elif piece.height:
                    one.spill.add(piece)

    def _pieces(self, rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
        keys = rows.select(self.table.key)

        def key_at(place: int) -> Key:
            return _key(keys.row(place))

        places = range(rows.height)
        ends = [bisect_left(places, cut, key=key_at) for cut in self.cuts]
        for begin, end in pairwise([0, *ends, rows.height]):
            yield rows[begin:end]
