"""What a table must have to be read: its columns, other names of them, defaults."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._source import Reading, Refusal
from ingest.tables import Table

_LOG: Final = logging.getLogger(__name__)
_FILE: Final = "file_id"


class Passed(NamedTuple):
    """Columns of a file that are passed over.

    Attributes:
        columns: How many. [1]
        refused: Those of them that tell of another table.
    """

    columns: int
    refused: tuple[Refusal, ...]


#: Of blocks after the first.
NOTHING: Final = Passed(0, ())


@cache
def _types(table: type[Table]) -> dict[str, pl.DataType]:
    schema = pl.Schema(table)
    return {name: dtype for name, dtype in schema.items() if name != _FILE}


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of a table of some kind.

    Attributes:
        table: Table that its rows are for.
        noun: What it is, in words: "a table of steps".
        needs: Columns that must be there, in one of these sets; a cell of them may be
            empty where the table allows it.
        one_of: Columns of which one must be there, too.
        aliases: Other names of columns, in lower case.
        defaults: Values of columns that are not there, and of cells that are empty.
        others: Columns of another table that is read from a file of its own; they are
            refused as one record.
        other_table: That table.
    """

    table: type[Table]
    noun: str
    needs: tuple[tuple[str, ...], ...]
    one_of: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, object] = field(default_factory=dict)
    others: frozenset[str] = frozenset()
    other_table: type[Table] | None = None

    @property
    def types(self) -> dict[str, pl.DataType]:
        """Columns that such a table may have, with their types."""
        return _types(self.table)

    def named(self, names: Iterable[str]) -> list[str]:
        """Return columns by the names that the table has for them."""
        return [
            name if name in self.types else self.aliases.get(name.lower(), name)
            for name in names
        ]

    def fits(self, names: Iterable[str]) -> bool:
        """Return whether columns of these names are enough."""
        return not self._missing(self.named(names))

    def check(self, names: Sequence[str], reading: Reading, place: str) -> Passed:
        """Check the columns of a file, and return those that are passed over.

        Raises:
            UnreadableFileError: If a column is missing or there twice.
        """
        known = self.named(names)
        twice = sorted(
            {name for name in known if known.count(name) > 1} & {*self.types}
        )
        if missing := self._missing(known):
            expected = f"a column {missing!r}"
            mend = f"{self.noun} needs the columns {self._needed()}"
            raise UnreadableFileError(reading.path, place, expected, mend)
        if twice:
            expected = f"one column {twice[0]!r}"
            mend = "rename the other one"
            raise UnreadableFileError(reading.path, place, expected, mend)
        unknown = [name for name in known if name not in self.types]
        if unknown:
            _LOG.info("%s: columns passed over: %s", reading.path, ascii(unknown))
        return Passed(len(unknown), self._refused(unknown, place))

    def _refused(self, unknown: Iterable[str], place: str) -> tuple[Refusal, ...]:
        told = ", ".join(name for name in unknown if name in self.others)
        if not told or self.other_table is None:
            return ()
        return (Refusal(self.other_table, place, "columns_of_another_table", told),)

    def _needed(self) -> str:
        """Return the columns that must be there, in words."""
        sets = " or ".join(", ".join(need) for need in self.needs)
        return f"{sets}, and one of {', '.join(self.one_of)}" if self.one_of else sets

    def _missing(self, known: Iterable[str]) -> str | None:
        """Return the first missing column of the set that the fewest are missing of."""
        found = set(known)
        lacking = [[name for name in need if name not in found] for need in self.needs]
        fewest = min(lacking, key=len)
        if not fewest and self.one_of and found.isdisjoint(self.one_of):
            return self.one_of[0]
        return fewest[0] if fewest else None
