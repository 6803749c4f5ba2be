"""Text of `dcgmi dmon`, in columns under a header that repeats.

* A value that is missing leaves its column empty: see _power.dcgmi.
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

from ingest.sources._lines import TRUNCATED
from ingest.sources._lines_csv import CELL_COUNT
from ingest.sources._lines_frames import Lines, line_frames
from ingest.sources._power.dcgmi import REST, DcgmiLayout, layout_of
from ingest.sources._power.fields import INDEX
from ingest.sources._power.rows import NO_TIME, batch, samples
from ingest.sources._power.stamps import instant
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

_HINTS: Final = {
    NO_TIME: "dcgmi dmon prints no time: put one before each line, such as"
    " with `while read line; do echo $(date +%s.%N) $line`",
    CELL_COUNT: "a line with an entity and a value for each name of the header was"
    " expected",
    "before_header": "no header told yet which column each value is of",
}


def recognizes(head: Head) -> bool:
    """Return whether a line is the header of dmon, with a column that is stored."""
    layouts = map(layout_of, head.text.split("\n"))
    return any(layout is not None and layout.fields for layout in layouts)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a log."""
    layout: DcgmiLayout | None = None
    untimed = Untimed(reading)
    for lines in line_frames(stream, PowerSamples):
        yield Batch(
            refused=lines.refused, records=len(lines.refused), repairs=lines.repairs
        )
        for layout, part in _parts(_table(lines), layout):  # noqa: B020 - carried on
            yield from _batches(part, layout, untimed, reading)
    for cells, units in untimed.rest():
        yield batch(samples(cells, units, reading), 0, hints=_HINTS)


def _table(lines: Lines) -> pl.DataFrame:
    last = pl.lit(lines.cut_short) & (pl.int_range(pl.len()) == pl.len() - 1)
    return lines.frame.select(
        "line",
        place=pl.format("line {}", "number"),
        rule=pl.when(last).then(pl.lit(TRUNCATED)),
    )


def _parts(
    lines: pl.DataFrame, layout: DcgmiLayout | None
) -> Iterator[tuple[DcgmiLayout | None, pl.DataFrame]]:
    """Cut lines where a header says something else; lines of headers are left out."""
    marked = lines.with_row_index("row")
    is_header = pl.col("line").str.contains(_HEADER)
    data = marked.filter(~is_header & ~pl.col("line").str.contains(_FAREWELL))
    begin = 0
    for row, line in marked.filter(is_header).select("row", "line").iter_rows():
        other = layout_of(line)
        if other and other != layout:
            yield layout, data.filter(pl.col("row").is_between(begin, row)).drop("row")
            layout, begin = other, row
    yield layout, data.filter(pl.col("row") >= begin).drop("row")


def _batches(
    lines: pl.DataFrame,
    layout: DcgmiLayout | None,
    untimed: Untimed,
    reading: Reading,
) -> Iterator[Batch]:
    if layout is None:
        found = lines.with_columns(rule=pl.lit("before_header"))
        yield batch(found, found.height, hints=_HINTS)
        return
    cells = _cells(lines, layout)
    units = {INDEX: ""} | layout.units
    has_stamp = pl.col("stamp").is_not_null()
    stamped = cells.filter(has_stamp).with_columns(*instant(pl.col("stamp"), reading))
    found = samples(stamped, units, reading)
    yield batch(found, lines.height, zone_used=True, hints=_HINTS)
    for part, units_ in untimed.place(cells.filter(~has_stamp), units):
        yield batch(samples(part, units_, reading), 0, hints=_HINTS)


def _cells(lines: pl.DataFrame, layout: DcgmiLayout) -> pl.DataFrame:
    """Return the lines of GPUs, and those that are of no entity at all."""
    parts = pl.col("line").str.extract_groups(_LINE)
    missing = layout.entity - parts.struct[1].str.len_chars().cast(pl.Int64)
    told = lines.with_columns(
        stamp=parts.struct[0],
        entity=parts.struct[1],
        index=parts.struct[2],
        rest=parts.struct[3].str.slice(missing.clip(0)),
    ).filter(pl.col("entity").str.starts_with("GPU ").fill_null(value=True))
    told = told.with_columns(words=pl.col(REST).str.extract_all(r"\S+"))
    ragged = pl.col("entity").is_null() | layout.is_ragged()
    return told.select(
        "place",
        "line",
        pl.coalesce("rule", pl.when(ragged).then(pl.lit(CELL_COUNT))).alias("rule"),
        "stamp",
        pl.col("index").alias(INDEX),
        *layout.cells(),
    )


SOURCE: Final = Source(
    name="dcgmi-dmon",
    version=1,
    describes="text of dcgmi dmon",
    tables=(PowerSamples,),
    options=frozenset({"zone", "cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
