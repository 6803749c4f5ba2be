"""Fields of delimited cells. A cell in quotes may hold delimiters and line breaks."""

import csv
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

import polars as pl

from ingest._mapping_cells import LINE, PLACE, RULE, Cells, column_of, content
from ingest._mapping_plan import Layout
from ingest._mapping_records import records
from ingest.errors import UnreadableFileError
from ingest.sources import Reading
from ingest.sources._lines_csv import CELL_COUNT

_QUOTE: Final = '"'


def read_csv(
    stream: BinaryIO,
    delimiter: str,
    layout: Layout,
    wanted: tuple[Sequence[str], Sequence[str]],
    reading: Reading,
) -> Iterator[Cells]:
    """Yield the records of a file of cells.

    Args:
        stream: The file.
        delimiter: What parts its cells.
        layout: What the mapping says of it.
        wanted: Fields that are read, and those of them that must be there.
        reading: What is known of the file.

    Raises:
        UnreadableFileError: If a field is missing or there twice.
    """
    names: list[str] | None = None
    for found, repairs in records(stream, delimiter, layout):
        lines = found
        if names is None:
            if found.is_empty():
                continue
            names = _names(found.row(0, named=True), delimiter, layout)
            _check(names, wanted, reading, f"line {found['number'][0]}")
            lines = found.slice(int(layout.header is True))
        cells = _cells(_split(lines, delimiter), names, layout, wanted[0])
        yield Cells(cells, repairs=repairs)


def _names(first: dict[str, str], delimiter: str, layout: Layout) -> list[str]:
    cells = split_one(first[LINE], delimiter) or []
    if layout.header is True:
        return [cell.strip() for cell in cells]
    return list(layout.header or [str(i) for i in range(1, len(cells) + 1)])


def _check(
    names: Sequence[str],
    wanted: tuple[Sequence[str], Sequence[str]],
    reading: Reading,
    place: str,
) -> None:
    for name in wanted[1]:
        if name not in names:
            expected = f"a field {name!r} among {', '.join(map(ascii, names[:50]))}"
            mend = "correct the mapping"
            raise UnreadableFileError(reading.path, place, expected, mend)
    for name in wanted[0]:
        if names.count(name) > 1:
            mend = "name the fields in the mapping: header = [...]"
            raise UnreadableFileError(reading.path, place, f"one field {name!r}", mend)


def _split(lines: pl.DataFrame, delimiter: str) -> pl.DataFrame:
    """Add the cells of every record; null where its quotes make no sense."""
    has_quote = pl.col(LINE).str.contains(_QUOTE, literal=True)
    plain = lines.filter(~has_quote).with_columns(
        _cells=pl.col(LINE).str.split(delimiter)
    )
    quoted = lines.filter(has_quote)
    parsed = [split_one(line, delimiter) for line in quoted[LINE]]
    cells = pl.Series("_cells", parsed, dtype=pl.List(pl.String))
    return pl.concat([plain, quoted.with_columns(cells)]).sort("number")


def _cells(
    split: pl.DataFrame, names: Sequence[str], layout: Layout, fields: Sequence[str]
) -> pl.DataFrame:
    """Return the fields that are read, of records that are as wide as their header."""
    is_ragged = pl.col("_cells").list.len().ne_missing(len(names))
    found = pl.when(is_ragged).then(pl.lit(CELL_COUNT))
    columns = {
        column_of(name): content(
            pl.col("_cells").list.get(names.index(name), null_on_oob=True), layout.null
        )
        if name in names
        else pl.lit(None, pl.String)
        for name in fields
    }
    return split.select(
        LINE,
        pl.format("line {}", "number").alias(PLACE),
        pl.coalesce(RULE, found).alias(RULE),
        **columns,
    )


def split_one(line: str, delimiter: str) -> list[str] | None:
    """Return the cells of one record; None where its quotes make no sense."""
    try:
        (cells,) = csv.reader([line], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError, TypeError):
        return None
    return cells
