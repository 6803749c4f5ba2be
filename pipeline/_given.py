"""Days of raw rows that are in no lake: what makes them is asked for them again."""

from dataclasses import dataclass

from analysis._rollup import ReadWindows
from ingest.staging import Place
from ingest.tables import Table


@dataclass(frozen=True, slots=True)
class GivenDay:
    """Raw rows of an owner and a UTC day, made whenever they are read.

    The day is retired in the lake with its first rollup: its rows never come.

    Attributes:
        table: Table that the rows are of.
        place: Whose day it is.
        key: What stands for the rows: equal only where they are.
        rows: Rows of the day. [1]
        read: Reads them, window by window, as `Day` says.
    """

    table: type[Table]
    place: Place
    key: str
    rows: int
    read: ReadWindows
