"""Days of raw rows that are in no lake: what makes them is asked for them again."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl
from polars.io.plugins import register_io_source

from analysis._rollup import ReadWindows
from ingest._schema import schema_of
from ingest.staging import Place
from ingest.tables import Table

#: Makes columns of the rows for which something holds, or of all.
FindRows = Callable[[Sequence[str], pl.Expr | None], Iterator[pl.DataFrame]]


@dataclass(frozen=True, slots=True)
class GivenDay:
    """Raw rows of an owner and a UTC day, made whenever they are read.

    The day is retired in the lake with its first rollup: its rows never come.

    Attributes:
        table: Table that the rows are of.
        place: Whose day it is.
        key: What stands for the rows: equal only where they are.
        rows: Rows of the day, about. [1]
        read: Reads them, window by window, as `Day` says.
        find: Reads those for which something holds; None: no rollup looks any up beside
            the rows that it condenses.
    """

    table: type[Table]
    place: Place
    key: str
    rows: int
    read: ReadWindows
    find: FindRows | None = None

    def scan(self, find: FindRows) -> pl.LazyFrame:
        """Return the rows lazily: what is collected of them is made then.

        Args:
            find: Reads those for which something holds.
        """

        def made(
            columns: list[str] | None,
            wanted: pl.Expr | None,
            most: int | None,
            _: int | None,
        ) -> Iterator[pl.DataFrame]:
            names = schema_of(self.table).names() if columns is None else columns
            left = most
            for rows in find(names, wanted):
                yield rows if left is None else rows.head(left)
                if left is not None:
                    left = max(left - rows.height, 0)

        return register_io_source(made, schema=schema_of(self.table))
