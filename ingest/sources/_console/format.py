"""What a format must offer whose lines stand among others in a console log."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import polars as pl

from ingest.sources._source import Batch, Format, Reading
from ingest.tables import Table


class LineReader(Protocol):
    """Reads the lines of one format out of one file; may remember earlier lines."""

    def take(self, lines: pl.DataFrame) -> Batch:
        """Return what lines that follow each other tell.

        `records` of the batch are not counted: the file's lines are.

        Args:
            lines: Columns `number` (counted from one), `line` (without colours and
                launchers' prefixes), `rank` (global, where PyTorch wrote it before the
                line) and `raw` (as it was found) of every line that is not blank,
                those of other formats included.
        """

    def close(self) -> Batch:
        """Return what is left when the file is at its end."""


@dataclass(frozen=True, slots=True)
class EachLine:
    """Reads a format whose lines tell each all of a record.

    Attributes:
        telling: What a line of the format contains.
        made: Gives the rows of such lines, of which there are some.
        reading: What is known about the file.
    """

    telling: str
    made: Callable[[pl.DataFrame, Reading], Batch]
    reading: Reading

    @classmethod
    def reader(
        cls, telling: str, made: Callable[[pl.DataFrame, Reading], Batch]
    ) -> Callable[[Reading], LineReader]:
        """Return what starts such a reader."""
        return partial(cls, telling, made)

    def take(self, lines: pl.DataFrame) -> Batch:
        """Return the rows of the lines that are of the format."""
        found = lines.filter(pl.col("line").str.contains(self.telling))
        return Batch() if found.is_empty() else self.made(found, self.reading)

    def close(self) -> Batch:
        """Return nothing: no line is waited for."""
        return Batch()


@dataclass(frozen=True, slots=True)
class LineFormat:
    """A format of lines.

    Attributes:
        name: Its name in the list of formats.
        version: Raised when its rows change.
        describes: The format in a few words.
        tables: Tables that it fills.
        telling: Regular expression, understood by Polars and by Python alike, that a
            line of the format contains and no other.
        start: Returns a reader for a file.
    """

    name: str
    version: int
    describes: str
    tables: tuple[type[Table], ...]
    telling: str
    start: Callable[[Reading], LineReader]

    @property
    def listed(self) -> Format:
        """The format as the list of formats shows it."""
        return Format(self.name, self.describes, self.tables)
