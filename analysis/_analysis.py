"""What an analysis offers, and the typed frames it is given."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

import dataframely as dy
import polars as pl

from ingest._schema import schema_of
from ingest.tables import StepTimings, Table

T = TypeVar("T", bound=Table)

#: Thresholds by name, those an analysis declares.
Thresholds = Mapping[str, float]

#: What an analysis returns: every table of its `outputs`, empty where it found none.
Results = Mapping[type[Table], pl.DataFrame]


class Frames:
    """Frames by table. A table that is not there is empty, never missing."""

    def __init__(self, frames: Mapping[type[Table], pl.LazyFrame]) -> None:
        """Hold the frames; they are trusted to be what their table declares."""
        self._frames = dict(frames)

    def __getitem__(self, table: type[T]) -> dy.LazyFrame[T]:
        """Return the rows of a table, lazily.

        Steps that nobody knows the time of cannot be placed, and are left out.
        """
        frame = self._frames.get(table)
        if frame is None:
            empty = pl.LazyFrame(schema=schema_of(table))
            return cast("dy.LazyFrame[T]", empty)
        if table is StepTimings:
            frame = frame.filter(StepTimings.start_ns.col.is_not_null())
        return cast("dy.LazyFrame[T]", frame)


@dataclass(frozen=True, slots=True)
class Analysis:
    """A question, the tables it reads and the tables it fills.

    Attributes:
        name: Name of the question, that of its file.
        version: Raised when equal inputs give other results.
        describes: The question in one line.
        inputs: Tables it reads, those of the lake and of earlier analyses.
        outputs: Tables it fills.
        needs: Tables of which one must have rows, or nothing is found; any of the
            inputs where none is named.
        compute: The answer: pure, no files, no prices, no charts.
        thresholds: Every threshold that may be set, with its default.
        portions: The same answer a portion at a time, where a fleet's is too long to
            be held: together they have the rows that `compute` returns.
    """

    name: str
    version: int
    describes: str
    inputs: tuple[type[Table], ...]
    outputs: tuple[type[Table], ...]
    compute: Callable[[Frames, Thresholds], Results]
    thresholds: Mapping[str, float] = field(default_factory=dict)
    needs: tuple[type[Table], ...] = ()
    portions: Callable[[Frames, Thresholds], Iterator[Results]] | None = None
