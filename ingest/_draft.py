"""The next manifest while a commit makes it: nothing is visible before it is sealed."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import polars as pl

from ingest import _parts, _scans
from ingest._long_parts import write_long
from ingest._schema import FILE_ID, schema_of
from ingest.manifest import Kind, Manifest, Part, Replaced
from ingest.tables import Table

#: Rows of a part that are held at a time where some of them leave: some 200 B each.
LONG_ROWS: Final = 2_000_000


class Draft:
    """Parts of the next generation, and what has to go when it has come.

    Attributes:
        root: The lake's folder.
        before: Manifest that the draft starts from.
    """

    def __init__(self, root: Path, before: Manifest) -> None:
        """Start from a manifest."""
        self.root = root
        self.before = before
        self._parts = {part.path: part for part in before.parts}
        self._old = set(self._parts)
        self._dropped: list[Part] = []
        self._written: list[Part] = []
        self._retired: set[tuple[str, str]] = set()

    def parts(self, table: type[Table], *kinds: Kind) -> list[Part]:
        """Return the parts of a table as they are now, of some kinds or of all."""
        name = table.sql_name()
        return [
            part
            for part in self._parts.values()
            if part.table == name and (not kinds or part.kind in kinds)
        ]

    def fresh(self, table: type[Table], *kinds: Kind) -> list[Part]:
        """Return those of the parts that this commit brings."""
        return [p for p in self.parts(table, *kinds) if p.path not in self._old]

    def standing(self, table: type[Table], *kinds: Kind) -> list[Part]:
        """Return those of the parts that were there before."""
        return [p for p in self.parts(table, *kinds) if p.path in self._old]

    def add(self, parts: Iterable[Part]) -> None:
        """Bring parts in."""
        self._parts |= {part.path: part for part in parts}

    def drop(self, part: Part) -> None:
        """Take a part out."""
        del self._parts[part.path]
        self._dropped.append(part)

    def write(
        self, table: type[Table], frame: pl.DataFrame, kind: Kind = "raw"
    ) -> None:
        """Bring rows in, as parts of their own."""
        if not frame.is_empty():
            parts = _parts.write(self.root, table, frame, kind)
            self._written += parts
            self.add(parts)

    def take_out(self, table: type[Table], part: Part, leaves: pl.Expr) -> pl.DataFrame:
        """Take rows out of a part, which is written anew without them.

        Args:
            table: Table of the part.
            part: The part.
            leaves: What is true of a row that leaves; may use `_row`, its number.

        Returns:
            The rows that left.
        """
        if part.rows > LONG_ROWS:
            return self._take_out_of_long(table, part, leaves)
        stay, leave = _scans.split(self.root, part, table, leaves)
        if not leave.is_empty():
            self.drop(part)
            self.write(table, stay, part.kind)
        return leave

    def _take_out_of_long(
        self, table: type[Table], part: Part, leaves: pl.Expr
    ) -> pl.DataFrame:
        """Take rows out of a part that is too long to be held."""
        left = [pl.DataFrame(schema=schema_of(table))]

        def stays() -> Iterator[pl.DataFrame]:
            pieces = _scans.split_long(self.root, part, table, leaves, LONG_ROWS)
            for stay, leave in pieces:
                left.append(leave)
                yield stay

        new = write_long(self.root, table, part, stays(), part.rows)
        self.drop(part)
        self._written += new
        self.add(new)
        return pl.concat(left)

    def take_out_files(
        self, table: type[Table], part: Part, file_ids: Iterable[str]
    ) -> None:
        """Take the rows of some files out of a part."""
        gone = set(file_ids)
        if gone.issuperset(part.file_ids):
            self.drop(part)
        elif not gone.isdisjoint(part.file_ids):
            leaves = pl.col(FILE_ID).is_in(sorted(gone))
            self.take_out(table, part, leaves)

    def retire(self, table: type[Table], day: str) -> None:
        """Let no row of a day come to a table any more."""
        self._retired.add((table.sql_name(), day))

    def seal(self, now_ns: int) -> Manifest:
        """Return the next manifest.

        Args:
            now_ns: When the parts that left have left. [ns]
        """
        left = [r for r in self.before.replaced if (self.root / r.path).exists()]
        left += [
            Replaced(part.path, now_ns)
            for part in self._dropped
            if part.path in self._old
        ]
        return replace(
            self.before,
            generation=self.before.generation + 1,
            parts=tuple(self._parts.values()),
            replaced=tuple(left),
            retired_days=self.before.retired_days | self._retired,
        )

    def abandon(self) -> None:
        """Delete the parts that this commit has written; it will not be."""
        for part in self._written:
            (self.root / part.path).unlink(missing_ok=True)

    def clear(self) -> None:
        """Delete parts that came and went within this commit: nobody saw them."""
        for part in self._dropped:
            if part.path not in self._old:
                (self.root / part.path).unlink(missing_ok=True)
