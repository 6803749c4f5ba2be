"""Text of `dcgmi dmon`, in columns under a header that repeats.

* A value that is missing leaves its column empty, so that only its place tells what
  one is of (see _power.dcgmi). Where a wrapper left one blank between cells, lines with
  all values are read, and those without some of them are refused.
* The tool prints no time. Where a wrapper puts one before each line (seconds since the
  epoch, or date and time) it is taken; a stamp without a zone has that of the run card
  or of `--zone`, and without either its row is `zone_assumed`. Without times only a
  file with one sample of each GPU has one, that of the file (see _power.untimed).
* Lines of entities that are no GPU make no rows: those of MIG instances (GPU-I, GPU-CI)
  repeat the power of their board.
* PVIOL and TVIOL are nanoseconds, whatever the texts of DCGM say of their unit.
* A GPU is known by its number in DCGM only, the host by the name of the file.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._lines_csv import CELL_COUNT
from ingest.sources._power.dcgmi import (
    IS_PLACED,
    REST,
    WORDS,
    DcgmiLayout,
    layout_of,
)
from ingest.sources._power.fields import INDEX
from ingest.sources._power.monitor import BEFORE_HEADER, ROW, Monitor
from ingest.sources._power.rows import NO_TIME, TIME_NS, batch, samples
from ingest.sources._power.stamps import NAIVE, instant
from ingest.sources._power.untimed import Untimed
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import PowerSamples

#: What may stand before the entity, the entity with its number, and the values.
_LINE: Final = (
    r"^(?:(.*?)\s+)?((?:GPU|vGPU|GPU-I|GPU-CI|CPU|Core|Switch|NvSwitch|Link|ConnectX)"
    r"\s(\d+))(\s.*|)$"
)
_HEADER: Final = r"#\s?Entity\s|^(?:\S.*\s)?ID(?:\s|$)|^Id(?:\s|$)"

#: What the tool says when it is stopped, as written (DeviceMonitor.cpp).
_FAREWELL: Final = "dmon was stopped"

#: How to put times before lines: quoted, since what is empty is told by blanks alone.
_RECIPE: Final = (
    '`dcgmi dmon ... | while IFS= read -r line; do echo "$(date +%s.%N) $line"; done`'
)

_HINTS: Final = {
    NO_TIME: f"dcgmi dmon prints no time: put one before each line, as by {_RECIPE}",
    f"{TIME_NS}|value": "seconds since the epoch, or a date with its year and a time,"
    f" were expected before the entity, as by {_RECIPE}",
    CELL_COUNT: "a line with an entity and a value for each name of the header was"
    " expected; which value is missing can be told only where all blanks between cells"
    f" are kept, as by {_RECIPE}",
    BEFORE_HEADER: "no header told yet which column each value is of",
}


def recognizes(head: Head) -> bool:
    """Return whether a line is the header of dmon, with a column that is stored."""
    layouts = map(layout_of, head.text.split("\n"))
    return any(layout is not None and layout.fields for layout in layouts)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a log."""
    return Monitor(_parted, _batches, _HINTS).read(stream, reading)


def _parted(
    lines: pl.DataFrame,
) -> tuple[pl.DataFrame, Iterator[tuple[int, DcgmiLayout]]]:
    line = pl.col("line")
    is_header = line.str.contains(_HEADER)
    data = lines.filter(~is_header & ~line.str.contains(_FAREWELL))
    return data, _layouts(lines.filter(is_header))


def _layouts(headers: pl.DataFrame) -> Iterator[tuple[int, DcgmiLayout]]:
    for row, line in headers.select(ROW, "line").iter_rows():
        if layout := layout_of(line):
            yield row, layout


def _batches(
    lines: pl.DataFrame, layout: DcgmiLayout, untimed: Untimed, reading: Reading
) -> Iterator[Batch]:
    cells = _cells(lines, layout)
    units = {INDEX: ""} | layout.units
    has_stamp = pl.col("stamp").is_not_null()
    stamped = cells.filter(has_stamp).with_columns(*instant(pl.col("stamp"), reading))
    found = samples(stamped, units, reading)
    needed = bool(stamped[NAIVE].any())
    yield batch(found, lines.height, zone_used=needed, hints=_HINTS)
    for part, units_ in untimed.place(cells.filter(~has_stamp), units):
        yield batch(samples(part, units_, reading), 0, hints=_HINTS)


def _cells(lines: pl.DataFrame, layout: DcgmiLayout) -> pl.DataFrame:
    """Return the lines of GPUs, and those that are of no entity at all."""
    found = lines.with_columns(_parts=pl.col("line").str.extract_groups(_LINE))
    parts = found.unnest("_parts").rename(
        dict(zip("1234", ("stamp", "entity", INDEX, "behind"), strict=True))
    )
    is_gpu = pl.col("entity").str.starts_with("GPU ").fill_null(value=True)
    behind = pl.col("behind")
    missing = layout.entity - pl.col("entity").str.len_chars().cast(pl.Int64)
    told = parts.filter(is_gpu).with_columns(
        layout.is_placed(pl.concat_str("entity", behind)).alias(IS_PLACED),
        behind.str.slice(missing.clip(0)).alias(REST),
    )
    # words are slow to find, and of cells in their place nobody wants them
    words = pl.when(~pl.col(IS_PLACED)).then(behind).str.extract_all(r"\S+")
    ragged = pl.col("entity").is_null() | layout.is_ragged()
    return told.with_columns(words.alias(WORDS)).select(
        "place",
        "line",
        pl.coalesce("rule", pl.when(ragged).then(pl.lit(CELL_COUNT))).alias("rule"),
        "stamp",
        INDEX,
        *layout.cells(),
    )


SOURCE: Final = Source(
    name="dcgmi-dmon",
    version=3,
    describes="text of dcgmi dmon",
    tables=(PowerSamples,),
    options=frozenset({"zone", "cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
