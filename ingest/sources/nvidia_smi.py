"""Logs of `nvidia-smi --query-gpu=... --format=csv`, with or without `nounits`.

* Time stamps are local and name no zone: it comes from the run card or `--zone`, and
  without either the rows are `zone_assumed`.
* `power.draw` is a mean over a second on Ampere and newer, but instantaneous on GA100
  (A100) and on what came before. A log does not tell which GPU it is of, so
  `power.draw` is stored as `power_average_w` in either case; `power.draw.average` goes
  before it. `power.draw.instant` is `power_instant_w`.
* The identity of a GPU is its UUID, else its PCI address, else its index, else the name
  of the file. The host is the field `hostname`, else the one that the name of the file
  gives (`<host>.smi.csv`, `smi-<host>.csv`, `nvidia-smi_<host>.csv`), else unknown:
  address and index then are of the file alone (_power.names).
* Power of the module (a GPU and the CPU that shares its supply) makes a row of its own.
* A log that was started again repeats its header; it may then ask for other fields.
* nvidia-smi writes its errors into the log: such a line is refused, the log goes on.
* The last line is refused where its end is missing: it may stop inside a number.
* A log with `noheader` is known by its time stamps, but not read: which of its cells is
  what only the command line said.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._lines import TRUNCATED, Block, blocks
from ingest.sources._lines_csv import CELL_COUNT, split
from ingest.sources._power.rows import batch, samples, stamped
from ingest.sources._power.smi_layout import TIME, Layout, layout_of
from ingest.sources._source import HEAD_LINES, Batch, Head, Reading, Source
from ingest.tables import PowerSamples

_HEADER: Final = rf"(?:^|,)\s*{TIME}\s*(?:,|$)"

#: A line without a header as only nvidia-smi writes it: its stamp, comma and blank, and
#: a cell that is power, with two decimals and perhaps its unit.
_BARE: Final = re.compile(
    r"20\d\d/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}, (?:.*, )?\d+\.\d\d(?: W)?(?:,|\r?$)"
)

_HINTS: Final = {
    CELL_COUNT: "a line with a cell for each field of the header was expected;"
    " nvidia-smi writes its errors into the log, too",
    "before_header": "no header told yet which field each cell is",
}


def recognizes(head: Head) -> bool:
    """Return whether one of the first lines is a header, or a sample without one."""
    lines = head.text.split("\n", HEAD_LINES)[:HEAD_LINES]
    return any(
        (TIME in line and layout_of(line.strip())) or _BARE.match(line)
        for line in lines
    )


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a log.

    Raises:
        UnreadableFileError: If it has no header, so that no cell can be told.
    """
    layout: Layout | None = None
    for block in blocks(stream):
        for layout, lines in _parts(_table(block), layout):  # noqa: B020 - carried on
            yield _batch(lines, layout, reading)
        if block.repairs:
            yield Batch(repairs=block.repairs)
    if layout is None:
        expected = f"a header with {TIME!r} and a field such as 'power.draw [W]'"
        mend = "log without `noheader`, or add the header as the first line"
        raise UnreadableFileError(reading.path, "all lines", expected, mend)


def _table(block: Block) -> pl.DataFrame:
    lines = block.table()
    if block.cut_short:
        last = pl.int_range(pl.len()) == pl.len() - 1
        lines = lines.with_columns(
            rule=pl.when(last).then(pl.lit(TRUNCATED)).otherwise("rule")
        )
    return lines


def _parts(
    lines: pl.DataFrame, layout: Layout | None
) -> Iterator[tuple[Layout | None, pl.DataFrame]]:
    """Cut lines where a header changes what they hold; headers are in no part."""
    headers = lines.with_row_index("row").filter(pl.col("line").str.contains(_HEADER))
    begin = 0
    for row, line in headers.select("row", "line").iter_rows():
        if layout and line == layout.header:
            continue
        if other := layout_of(line):
            yield layout, lines.slice(begin, row - begin)
            layout, begin = other, row + 1
    yield layout, lines.slice(begin)


def _batch(lines: pl.DataFrame, layout: Layout | None, reading: Reading) -> Batch:
    if layout is None:
        found = lines.with_columns(rule=pl.lit("before_header"))
        return batch(found, found.height, hints=_HINTS)
    lines = lines.filter(pl.col("line") != layout.header)
    cells = split(lines, layout.width, quotes=False).select(
        "place", "line", "rule", *layout.cells()
    )
    told = cells.with_columns(*stamped(pl.col(TIME), reading))
    found = samples(told, layout.units, reading)
    return batch(found, lines.height, zone_used=True, hints=_HINTS)


SOURCE: Final = Source(
    name="nvidia-smi",
    version=4,
    describes="CSV of nvidia-smi --query-gpu",
    tables=(PowerSamples,),
    options=frozenset({"zone", "cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
