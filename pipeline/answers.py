"""Answers on stdout: rows of a query in four formats, and the data dictionary."""

import io
import json
import math
import sys
from collections.abc import Iterable, Sequence
from datetime import date, time
from decimal import Decimal
from typing import BinaryIO, Final, Literal, TextIO

import polars as pl

from ingest.errors import QueryError, SettingError
from ingest.sources import SOURCES
from ingest.tables import Table, comment_of
from pipeline.logs import one_line

Format = Literal["table", "csv", "json", "parquet"]

#: Rows that are formatted at once, so that a large answer is not held as text.
ROWS_AT_ONCE: Final = 10_000


def write(rows: pl.DataFrame, form: Format) -> None:
    """Write the rows of a query to stdout.

    Raises:
        QueryError: If Parquet would go to a terminal.
    """
    if form == "parquet":
        if sys.stdout.isatty():
            message = "parquet is not text: send it to a file, as in `> rows.parquet`"
            raise QueryError(message)
        _parquet(rows, sys.stdout.buffer)
    elif form == "csv":
        _csv(_plain(rows), sys.stdout.buffer)
    elif form == "json":
        _json(rows, sys.stdout)
    else:
        _table(rows, sys.stdout)


def _parquet(rows: pl.DataFrame, stream: BinaryIO) -> None:
    # written whole first: a pipe that closes is then told by the pipe itself
    whole = io.BytesIO()
    rows.write_parquet(whole, compression="zstd")
    stream.write(whole.getbuffer())


def _csv(rows: pl.DataFrame, stream: BinaryIO) -> None:
    stream.write(rows.clear().write_csv().encode())
    parts = rows.iter_slices(ROWS_AT_ONCE)
    stream.writelines(part.write_csv(include_header=False).encode() for part in parts)


def _plain(rows: pl.DataFrame) -> pl.DataFrame:
    # CSV has no lists and no structures: they become JSON text
    nested = [name for name, kind in rows.schema.items() if kind.is_nested()]
    return rows.with_columns(
        pl.col(name).map_elements(
            lambda value: json.dumps(_json_value(value)), return_dtype=pl.String
        )
        for name in nested
    )


def _json(rows: pl.DataFrame, stream: TextIO) -> None:
    stream.write("[")
    between = ""
    for part in rows.iter_slices(ROWS_AT_ONCE):
        for row in part.iter_rows(named=True):
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


def _table(rows: pl.DataFrame, stream: TextIO) -> None:
    for part in rows.iter_slices(ROWS_AT_ONCE) if rows.height else [rows]:
        cells = [[_cell(value) for value in row] for row in part.iter_rows()]
        numeric = [kind.is_numeric() for kind in part.schema.dtypes()]
        _columns([list(part.columns), *cells], numeric, stream)


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
        message = f"{name}: no such table; one of {', '.join(sorted(by_name))}"
        raise SettingError(message)
    table = by_name[name]
    sys.stdout.write(f"{name}: {table.describe()}\nkey: {', '.join(table.key)}\n\n")
    lines = [["column", "type", "null", "meaning"]]
    for column in table.columns().values():
        null = "yes" if column.nullable else ""
        lines.append([column.name, str(column.dtype), null, comment_of(column)])
    _columns(lines, [False] * 4, sys.stdout)


def describe_sources() -> None:
    """Write the formats that can be read, in the order in which they are tried."""
    lines = [["source", "version", "fills", "format"]]
    for source in SOURCES:
        fills = ", ".join(table.sql_name() for table in source.tables)
        lines.append([source.name, str(source.version), fills, source.describes])
    _columns(lines, [False, True, False, False], sys.stdout)
