"""CSV that Grafana downloads from a panel, with its series as columns.

* Read where it is exact: `Formatted data` off (milliseconds and plain numbers), and
  columns that are named by their series (`DCGM_FI_DEV_POWER_USAGE{UUID="..."}`, as a
  panel without a legend names them). `Series joined by time` gives many such columns,
  and empty cells where a series has no sample; several frames follow each other, each
  with its header (toCSV in packages/grafana-data of grafana/grafana). What separates
  cells is the browser's choice: a comma, a semicolon, a tab.
* Cells with units (`612 W`, `1.2 kW`) and local times are refused: what was rounded for
  the eye is no measurement.
* A panel shows the steps of a query, so the rows are `resampled`, and each metric has
  rows of its own.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO, Final, NamedTuple

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._lines import TOO_LONG, TRUNCATED, Block, blocks
from ingest.sources._lines_csv import CELL_COUNT
from ingest.sources._prometheus.gather import Gathering
from ingest.sources._prometheus.hosts import Hosts
from ingest.sources._prometheus.lines import NO_NUMBER, NO_TIME
from ingest.sources._prometheus.registry import Registry
from ingest.sources._prometheus.rows import Maker
from ingest.sources._prometheus.sift import refusals, sift
from ingest.sources._prometheus.stamps import stamp_ns
from ingest.sources._prometheus.text import TABLES, batch_of
from ingest.sources._prometheus.untimed import FirstScrape
from ingest.sources._source import Batch, Head, Reading, Refusal, Source

_TIME: Final = "Time"
_HINT: Final = "download the data of the panel with `Formatted data` switched off"
_HEADER: Final = rf'^"?{_TIME}"?([,;\t])'

#: What spreadsheets are told of the separator, before the header.
_SEPARATOR: Final = r'^"?sep=.?"?$'

_MS: Final = r"^[0-9]{12,14}$"


def recognizes(head: Head) -> bool:
    """Return whether the first line is Time and columns named by series."""
    lines = head.text.lstrip().split("\n")[:2]
    first = lines[-1] if re.match(_SEPARATOR, lines[0].strip()) else lines[0]
    frame = _frame(first.strip())
    return frame is not None and bool(frame.columns["field"].is_not_null().any())


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a panel, line by line.

    Raises:
        UnreadableFileError: If its first line is no header.
    """
    gathering = Gathering(Maker(reading, Hosts(reading.name), "line"), alone=True)
    frame: _Frame | None = None
    for block in blocks(stream):
        for frame, lines in _parts(block.texts(), frame):  # noqa: B020 - carried on
            cells = _cells(lines, frame, block)
            kept, refused = sift(cells, FirstScrape())
            gathering.take(kept)
            told = tuple(map(_hinted, refusals(refused, "line")))
            whole = gathering.whole(everything=False)
            yield batch_of(whole, told, records=cells.height)
        yield Batch(repairs=block.repairs)
    if frame is None:
        expected = f"a first line of {_TIME!r} and columns named by series"
        raise UnreadableFileError(reading.path, "line 1", expected, _HINT)
    yield batch_of(gathering.whole(everything=True))


class _Frame(NamedTuple):
    """What is known of the columns after the first, and what separates cells."""

    columns: pl.DataFrame
    mark: str


def _parts(
    lines: pl.DataFrame, frame: _Frame | None
) -> Iterator[tuple[_Frame, pl.DataFrame]]:
    """Cut lines where a header changes what they hold; headers are in no part."""
    kept = lines.filter(~pl.col("line").str.contains(_SEPARATOR))
    headers = kept.with_row_index("row").filter(pl.col("line").str.contains(_HEADER))
    begin = 0
    for row, line in headers.select("row", "line").iter_rows():
        if frame is not None:
            yield frame, kept.slice(begin, row - begin)
        frame, begin = _frame(line) or frame, row + 1
    if frame is not None:
        yield frame, kept.slice(begin)


def _hinted(refusal: Refusal) -> Refusal:
    is_format = refusal.rule in {NO_NUMBER, NO_TIME, CELL_COUNT}
    return replace(refusal, hint=_HINT) if is_format else refusal


def _frame(header: str) -> _Frame | None:
    """Return the columns that a header names; None where it is none."""
    match = re.match(_HEADER, header)
    if match is None:
        return None
    mark = match[1]
    try:
        (names,) = csv.reader([header], delimiter=mark)
    except (csv.Error, ValueError):
        return None
    registry = Registry(Hosts(""))
    return _Frame(registry.table(name.strip() for name in names[1:]), mark)


def _cells(lines: pl.DataFrame, frame: _Frame, block: Block) -> pl.DataFrame:
    """Return the cells of lines that are of series, and lines that cannot be read."""
    width = frame.columns.height + 1
    split = pl.col("line").str.replace_all('"', "", literal=True).str.split(frame.mark)
    if frame.mark == "\t":
        # tabs at the end of a line are white space, and were dropped
        padded = pl.concat_list(split, pl.lit([""] * width))
        split = (
            pl.when(split.list.len() < width)
            .then(padded.list.head(width))
            .otherwise(split)
        )
    rows = lines.with_columns(_cells=split).with_columns(
        _stamp=pl.col("_cells").list.first().str.strip_chars()
    )
    told = rows.with_columns(
        rule=_line_rule(width, block),
        time_ns=stamp_ns(rows["_stamp"]),
    )
    is_sound = pl.col("rule").is_null()
    broken = told.filter(~is_sound).select("number", "line", "time_ns", "rule")
    return pl.concat(
        [_samples(told.filter(is_sound), frame.columns), broken], how="diagonal"
    )


def _line_rule(width: int, block: Block) -> pl.Expr:
    number = pl.col("number")
    is_cut = pl.lit(block.cut) & (number == block.first)
    is_short = pl.lit(block.cut_short) & (number == block.last)
    return (
        pl.when(is_cut)
        .then(pl.lit(TOO_LONG))
        .when(is_short)
        .then(pl.lit(TRUNCATED))
        .when(pl.col("_cells").list.len() != width)
        .then(pl.lit(CELL_COUNT))
        .when(~pl.col("_stamp").str.contains(_MS))
        .then(pl.lit(NO_TIME))
    )


def _samples(lines: pl.DataFrame, columns: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each cell of a series that is not empty."""
    cells = lines.select(
        "number", "line", "time_ns", _text=pl.col("_cells").list.slice(1)
    ).explode("_text")
    nth = cells.select(pl.int_range(pl.len()) % columns.height).to_series()
    known = cells.hstack(columns[nth]).with_columns(pl.col("_text").str.strip_chars())
    found = known.filter((pl.col("_text") != "") & pl.col("field").is_not_null())
    sound = found.with_columns(
        value=pl.col("_text").cast(pl.Float64, strict=False),
        whole=pl.col("_text").cast(pl.Int64, strict=False),
        quality=pl.lit("resampled"),
    )
    no_number = pl.when(pl.col("value").is_null()).then(pl.lit(NO_NUMBER))
    return sound.with_columns(rule=pl.coalesce("rule", no_number)).drop("_text")


SOURCE: Final = Source(
    name="grafana-csv",
    version=4,
    describes="CSV of a Grafana panel, unformatted, columns named by series",
    tables=TABLES,
    options=frozenset({"cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
