"""Logs of a monitor: a line for each GPU, in columns under a header that repeats.

What follows a header that says something else is read by that one. Lines before the
first header are refused, since nothing tells what their columns are.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final, Generic, TypeVar

import polars as pl

from ingest.phrases import phrase
from ingest.sources._lines import TRUNCATED
from ingest.sources._lines_frames import Lines, line_frames
from ingest.sources._power.rows import batch, samples
from ingest.sources._power.untimed import Untimed
from ingest.sources._source import Batch, Reading
from ingest.tables import PowerSamples

#: Rule of a line of which no header told what its columns are.
BEFORE_HEADER: Final = "before_header"

#: Number of a line in what is read at a time.
ROW: Final = "row"

Layout = TypeVar("Layout")


@dataclass(frozen=True, slots=True)
class Monitor(Generic[Layout]):
    """How the log of a monitor is read.

    Attributes:
        parted: Of lines with their ROW, those of data, and the layouts of headers, by
            ROW.
        made: Gives the rows of lines of one layout; lines without a time go to Untimed.
        hints: What to say of a refusal, by its rule.
    """

    parted: Callable[[pl.DataFrame], tuple[pl.DataFrame, Iterable[tuple[int, Layout]]]]
    made: Callable[[pl.DataFrame, Layout, Untimed, Reading], Iterator[Batch]]
    hints: Mapping[str, str]

    def read(self, stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
        """Read a log."""
        layout: Layout | None = None
        untimed = Untimed(reading)
        for lines in line_frames(stream, PowerSamples):
            yield Batch(
                refused=lines.refused, records=len(lines.refused), repairs=lines.repairs
            )
            for layout, part in self._parts(lines, layout):  # noqa: B020 - carried on
                yield from self._batches(part, layout, untimed, reading)
        for cells, units in untimed.rest():
            yield batch(samples(cells, units, reading), 0, hints=self.hints)

    def _parts(
        self, lines: Lines, layout: Layout | None
    ) -> Iterator[tuple[Layout | None, pl.DataFrame]]:
        """Cut lines where a header says something else."""
        data, headers = self.parted(_table(lines).with_row_index(ROW))
        begin = 0
        for row, other in headers:
            if other != layout:
                yield layout, data.filter(pl.col(ROW).is_between(begin, row)).drop(ROW)
                layout, begin = other, row
        yield layout, data.filter(pl.col(ROW) >= begin).drop(ROW)

    def _batches(
        self,
        lines: pl.DataFrame,
        layout: Layout | None,
        untimed: Untimed,
        reading: Reading,
    ) -> Iterator[Batch]:
        if layout is None:
            found = lines.with_columns(rule=pl.lit(BEFORE_HEADER))
            yield batch(found, found.height, hints=self.hints)
        else:
            yield from self.made(lines, layout, untimed, reading)


def _table(lines: Lines) -> pl.DataFrame:
    last = pl.lit(lines.cut_short) & (pl.int_range(pl.len()) == pl.len() - 1)
    return lines.frame.select(
        "line",
        place=phrase("line {}", "number"),
        rule=pl.when(last).then(pl.lit(TRUNCATED)),
    )
