"""Answers on stdout: rows of a query in four formats, and the data dictionary."""

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, time
from decimal import Decimal
from difflib import get_close_matches
from itertools import chain
from typing import BinaryIO, Final, Literal, TextIO

import polars as pl
import pyarrow.parquet as pq

from ingest.errors import QueryError, SettingError
from ingest.tables import Table, comment_of
from pipeline import formats_table
from pipeline.logs import one_line

Format = Literal["table", "csv", "json", "parquet"]

#: Rows that are formatted at once, so that a large answer is not held as text.
ROWS_AT_ONCE: Final = 10_000


def write(rows: pl.DataFrame | Iterable[pl.DataFrame], form: Format) -> None:
    """Write the rows of a query to stdout.

    Args:
        rows: The rows, or frames of them: one at least, all with the same columns.
        form: How they are written.

    Raises:
        QueryError: If Parquet would go to a terminal.
    """
    frames = [rows] if isinstance(rows, pl.DataFrame) else rows
    if form == "parquet":
        if sys.stdout.isatty():
            message = "parquet is not text: send it to a file, as in `> rows.parquet`"
            raise QueryError(message)
        _parquet(frames, sys.stdout.buffer)
    elif form == "csv":
        _csv(_slices(frames), sys.stdout.buffer)
    elif form == "json":
        _json(_slices(frames), sys.stdout)
    else:
        _table(_slices(frames), sys.stdout)


def _slices(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the rows in slices of one size; the last may be smaller, or empty."""
    kept: list[pl.DataFrame] = []
    for frame in frames:
        rows = pl.concat([*kept, frame])
        while rows.height > ROWS_AT_ONCE:
            yield rows.head(ROWS_AT_ONCE)
            rows = rows.slice(ROWS_AT_ONCE)
        kept = [rows]
    yield from kept


def _parquet(frames: Iterable[pl.DataFrame], stream: BinaryIO) -> None:
    tables = (frame.to_arrow(compat_level=pl.CompatLevel.oldest()) for frame in frames)
    first = next(tables)
    with pq.ParquetWriter(stream, first.schema, compression="zstd") as writer:
        for table in chain([first], tables):
            if table.num_rows:
                writer.write_table(table)


def _csv(slices: Iterable[pl.DataFrame], stream: BinaryIO) -> None:
    stream.writelines(
        _plain(rows).write_csv(include_header=number == 0).encode()
        for number, rows in enumerate(slices)
    )


def _plain(rows: pl.DataFrame) -> pl.DataFrame:
    # CSV has no lists and no structures: they become JSON text
    nested = [name for name, kind in rows.schema.items() if kind.is_nested()]
    return rows.with_columns(
        pl.col(name).map_elements(
            lambda value: json.dumps(_json_value(value)), return_dtype=pl.String
        )
        for name in nested
    )


def _json(slices: Iterable[pl.DataFrame], stream: TextIO) -> None:
    stream.write("[")
    between = ""
    for rows in slices:
        for row in rows.iter_rows(named=True):
            value = {name: _json_value(cell) for name, cell in row.items()}
            stream.write(f"{between}\n{json.dumps(value, ensure_ascii=False)}")
            between = ","
    stream.write("\n]\n")


def _json_value(value: object) -> object:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case list() | pl.Series():
            return [_json_value(item) for item in value]
        case dict():
            return {str(name): _json_value(item) for name, item in value.items()}
        case bool() | int() | str() | None:
            return value
        case _:
            return _time_text(value)


def _time_text(value: object) -> str:
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _table(slices: Iterable[pl.DataFrame], stream: TextIO) -> None:
    for rows in slices:
        cells = [[_cell(value) for value in row] for row in rows.iter_rows()]
        numeric = [kind.is_numeric() for kind in rows.schema.dtypes()]
        _columns([[_cell(name) for name in rows.columns], *cells], numeric, stream)


def _cell(value: object) -> str:
    return "" if value is None else one_line(str(value))


def _columns(
    lines: Sequence[Sequence[str]], right: Sequence[bool], stream: TextIO
) -> None:
    widths = [max(len(line[i]) for line in lines) for i in range(len(right))]
    for number, line in enumerate(lines):
        cells = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        ]
        stream.write("  ".join(cells).rstrip() + "\n")
        if number == 0:
            stream.write("  ".join("-" * width for width in widths) + "\n")


def describe_tables(tables: Iterable[type[Table]]) -> None:
    """Write the name and meaning of every table."""
    lines = [["table", "columns", "what a row is"]]
    lines += [
        [table.sql_name(), str(len(table.column_names())), table.describe()]
        for table in tables
    ]
    _columns(lines, [False, True, False], sys.stdout)


def describe_table(name: str, tables: Sequence[type[Table]]) -> None:
    """Write the columns of a table: name, type, whether they may be null, meaning.

    Raises:
        SettingError: If there is no such table.
    """
    by_name = {table.sql_name(): table for table in tables}
    if name not in by_name:
        near = get_close_matches(name, by_name)
        meant = f"Did you mean {' or '.join(near)}? " if near else ""
        names = ", ".join(sorted(by_name))
        message = f"{name}: no such table. {meant}There are {names}"
        raise SettingError(message)
    table = by_name[name]
    sys.stdout.write(f"{name}: {table.describe()}\nkey: {', '.join(table.key)}\n\n")
    lines = [["column", "type", "null", "meaning"]]
    for column in table.columns().values():
        null = "yes" if column.nullable else ""
        lines.append([column.name, str(column.dtype), null, comment_of(column)])
    _columns(lines, [False] * 4, sys.stdout)


def describe_sources() -> None:
    """Write the formats that can be read, by the tables that they fill."""
    head = ["format", "source", "fills", "describes"]
    lines = [head, *map(list, formats_table.rows())]
    _columns(lines, [False] * len(head), sys.stdout)
