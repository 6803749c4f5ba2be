"""Fields of delimited cells. A cell in quotes may hold delimiters and line breaks."""

import csv
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

import polars as pl

from ingest._mapping_cells import LINE, PLACE, RULE, Cells, column_of, content
from ingest._mapping_layout import Layout
from ingest._mapping_records import records
from ingest.errors import UnreadableFileError
from ingest.phrases import phrase
from ingest.sources import Reading
from ingest.sources._lines_csv import CELL_COUNT

_QUOTE: Final = '"'
_WIDTH: Final = "_width"


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
        cells = _cells(lines, names, delimiter, layout, wanted[0])
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


def _cells(
    lines: pl.DataFrame,
    names: Sequence[str],
    delimiter: str,
    layout: Layout,
    fields: Sequence[str],
) -> pl.DataFrame:
    """Return the fields that are read, of records that are as wide as their header."""
    has_quote = pl.col(LINE).str.contains(_QUOTE, literal=True)
    known = {column_of(name): names.index(name) for name in fields if name in names}
    plain = lines.filter(~has_quote).with_columns(
        _cells=pl.col(LINE).str.split(delimiter)
    )
    cells = plain.select(
        *lines.columns,
        pl.col("_cells").list.len().cast(pl.Int64).alias(_WIDTH),
        **{
            name: pl.col("_cells").list.get(index, null_on_oob=True)
            for name, index in known.items()
        },
    )
    quoted = lines.filter(has_quote)
    if not quoted.is_empty():
        parsed = list(split_all(quoted[LINE].to_list(), delimiter))
        more = quoted.with_columns(
            pl.Series(_WIDTH, [len(one or ()) for one in parsed], dtype=pl.Int64),
            *[_column(name, index, parsed) for name, index in known.items()],
        )
        cells = pl.concat([cells, more]).sort("number")
    found = pl.when(pl.col(_WIDTH) != len(names)).then(pl.lit(CELL_COUNT))
    missing = [column_of(name) for name in fields if name not in names]
    return cells.select(
        LINE,
        phrase("line {}", "number").alias(PLACE),
        pl.coalesce(RULE, found).alias(RULE),
        *[content(pl.col(name), layout.null).alias(name) for name in known],
        *[pl.lit(None, pl.String).alias(name) for name in missing],
    )


def _column(name: str, index: int, parsed: Sequence[list[str] | None]) -> pl.Series:
    values = [one[index] if one and index < len(one) else None for one in parsed]
    return pl.Series(name, values, dtype=pl.String)


def split_all(lines: list[str], delimiter: str) -> Iterator[list[str] | None]:
    """Yield the cells of every record; None where its quotes make no sense."""
    taken = 0

    def feed() -> Iterator[str]:
        nonlocal taken
        for line in lines:
            taken += 1
            yield line

    reader = csv.reader(feed(), delimiter=delimiter, strict=True)
    while taken < len(lines):
        before = taken
        try:
            cells: list[str] | None = next(reader)
        except (csv.Error, StopIteration):
            cells = None
        if taken == before + 1:
            yield cells
        else:
            # a quote that is open took the next records with it
            yield from (split_one(line, delimiter) for line in lines[before:taken])


def split_one(line: str, delimiter: str) -> list[str] | None:
    """Return the cells of one record; None where its quotes make no sense."""
    try:
        (cells,) = csv.reader([line], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError, TypeError):
        return None
    return cells
