"""Text of `nvidia-smi dmon`, in columns under a header that repeats.

* Any groups of columns (`-s pucvmet`) may be there; `--format csv` is read, too.
* With `-o DT` lines have date and time, local and in whole seconds: the zone comes from
  the run card or `--zone`, and without either the rows are `zone_assumed`.
* Without both of them only a file with one sample of each GPU has a time, that of the
  file (see _power.untimed): lines of a longer log are refused.
* `pwr` is in whole watts and what `power.draw` is: stored as `power_average_w`.
* A GPU is known by its index only, the host by the name of the file (_power.names).
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._lines_csv import CELL_COUNT
from ingest.sources._power.dmon import DmonLayout, is_names, layout_of
from ingest.sources._power.fields import measures
from ingest.sources._power.monitor import BEFORE_HEADER, ROW, Monitor
from ingest.sources._power.rows import NO_TIME, batch, samples, stamped
from ingest.sources._power.untimed import Untimed
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import PowerSamples

_DAY: Final = r"^(20\d\d)[-/]?(\d\d)[-/]?(\d\d)$"

_HINTS: Final = {
    NO_TIME: "a log of several samples needs date and time in each line:"
    " nvidia-smi dmon -o DT",
    CELL_COUNT: "a line with a cell for each name of the header was expected",
    BEFORE_HEADER: "no header told yet which column each cell is of",
}


def recognizes(head: Head) -> bool:
    """Return whether a line is the header of dmon, with a column that is stored."""
    return any(
        is_names(line) and measures(layout_of(line, None).fields)
        for line in map(str.strip, head.text.split("\n"))
        if line.startswith("#")
    )


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a log."""
    return Monitor(_parted, _batches, _HINTS).read(stream, reading)


def _parted(
    lines: pl.DataFrame,
) -> tuple[pl.DataFrame, Iterator[tuple[int, DmonLayout]]]:
    is_comment = pl.col("line").str.starts_with("#")
    return lines.filter(~is_comment), _layouts(lines.filter(is_comment))


def _layouts(comments: pl.DataFrame) -> Iterator[tuple[int, DmonLayout]]:
    """Yield what headers say; the line of units, where there is one, is the next."""
    following = comments["line"].shift(-1).to_list()
    for (row, line), units in zip(
        comments.select(ROW, "line").iter_rows(), following, strict=True
    ):
        if is_names(line):
            yield row, layout_of(line, None if units and is_names(units) else units)


def _batches(
    lines: pl.DataFrame, layout: DmonLayout, untimed: Untimed, reading: Reading
) -> Iterator[Batch]:
    words = pl.col("line").str.replace_all(",", " ").str.extract_all(r"\S+")
    split = lines.with_columns(cells=words).with_columns(
        rule=pl.coalesce("rule", _is_ragged(layout))
    )
    cells = split.select("place", "line", "rule", "cells", *layout.cells())
    if layout.stamp:
        told = cells.with_columns(*stamped(_stamp(layout.stamp), reading))
        found = samples(told, layout.units, reading)
        yield batch(found, lines.height, zone_used=True, hints=_HINTS)
        return
    yield Batch(records=lines.height)
    for part, units in untimed.place(cells, layout.units):
        yield batch(samples(part, units, reading), 0, hints=_HINTS)


def _is_ragged(layout: DmonLayout) -> pl.Expr:
    is_ragged = pl.col("cells").list.len() != layout.width
    return pl.when(is_ragged).then(pl.lit(CELL_COUNT))


def _stamp(columns: tuple[int, int]) -> pl.Expr:
    day, time = (
        pl.col("cells").list.get(column, null_on_oob=True) for column in columns
    )
    parts = day.str.extract_groups(_DAY)
    date = pl.concat_str(*(parts.struct[part] for part in range(3)), separator="-")
    return pl.concat_str(date, time, separator=" ")


SOURCE: Final = Source(
    name="nvidia-smi-dmon",
    version=2,
    describes="text of nvidia-smi dmon",
    tables=(PowerSamples,),
    options=frozenset({"zone", "cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
