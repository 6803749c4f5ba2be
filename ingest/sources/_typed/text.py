"""A table as text: comma-separated cells, or an object of JSON per line."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import msgspec
import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._lines import Block
from ingest.sources._lines_csv import cell, names_of, split
from ingest.sources._lines_csv_typed import typed_cells
from ingest.sources._lines_json import Record, decode, kind_of
from ingest.sources._lines_json_typed import typed_lines
from ingest.sources._source import Batch, Reading
from ingest.sources._typed.rows import batch
from ingest.sources._typed.shape import NOTHING, Shape


def read_text(
    blocks: Iterator[Block], shape: Shape, reading: Reading
) -> Iterator[Batch]:
    """Read a table whose first line says which of the two it is.

    Raises:
        UnreadableFileError: If there is no line, or a column is missing.
    """
    for block in blocks:
        for number, line in block.lines():
            read = _read_json if line.startswith(b"{") else _read_csv
            yield from read(line, number, chain([block], blocks), shape, reading)
            return
    mend = "give a file that is not empty"
    raise UnreadableFileError(reading.path, "line 1", "a header or an object", mend)


def _read_csv(
    header: bytes,
    number: int,
    blocks: Iterable[Block],
    shape: Shape,
    reading: Reading,
) -> Iterator[Batch]:
    found = names_of(header.decode("utf-8", errors="replace"))
    passed_over = shape.check(found, reading, f"line {number}")
    names = shape.named(found)
    known = {name: cell(i) for i, name in enumerate(names) if name in shape.types}
    header_lines = 1
    for block in blocks:
        has_header = number == block.first
        cells = typed_cells(block, names, shape.types, has_header=has_header)
        if cells is None:
            lines = block.table().slice(header_lines)
            cells = split(lines, len(names), quotes=True).select(
                "place", "line", "rule", **known
            )
        repairs = block.repairs + passed_over.columns
        yield batch(cells, shape, reading, passed_over.refused, repairs)
        header_lines, passed_over = 0, NOTHING


def _read_json(
    first: bytes,
    number: int,
    blocks: Iterable[Block],
    shape: Shape,
    reading: Reading,
) -> Iterator[Batch]:
    keys = _keys(first)
    # of a damaged first line nothing is known: it is refused like any other
    passed_over = (
        NOTHING if keys is None else shape.check(keys, reading, f"line {number}")
    )
    types = _json_types(shape)
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_row_type(types))
    for block in blocks:
        rows, left = typed_lines(block, types)
        records, refused = decode(block, decoder, shape.table, left)
        cells = _joined(rows, records).with_columns(_coalesced(shape))
        lost = (*passed_over.refused, *refused)
        repairs = block.repairs + passed_over.columns
        yield batch(cells, shape, reading, lost, repairs)
        passed_over = NOTHING


def _joined(rows: pl.DataFrame, records: list[Record[Any]]) -> pl.DataFrame:
    """Return rows and those that were decoded, in the order of their lines."""
    if not records:
        return rows
    values = zip(*(msgspec.structs.astuple(one.value) for one in records), strict=True)
    columns = [*values, tuple(one.number for one in records)]
    # column by column: of rows Polars would have to find out what is in which
    decoded = pl.DataFrame(
        [
            pl.Series(name, column, dtype)
            for (name, dtype), column in zip(rows.schema.items(), columns, strict=True)
        ]
    )
    return pl.concat([rows, decoded]).sort("line_number")


def _keys(line: bytes) -> list[str] | None:
    try:
        return list(msgspec.json.decode(line, type=dict[str, msgspec.Raw]))
    except (msgspec.DecodeError, RecursionError):
        return None


def _json_types(shape: Shape) -> dict[str, pl.DataType]:
    """Return the types of all keys that an object may have, other names too."""
    others = {alias: shape.types[name] for alias, name in shape.aliases.items()}
    return shape.types | others


def _coalesced(shape: Shape) -> list[pl.Expr]:
    """Take each column from whichever of its names has a value."""
    return [
        pl.coalesce(name, *[a for a, of in shape.aliases.items() if of == name])
        for name in sorted(set(shape.aliases.values()))
    ]


def _row_type(types: Mapping[str, pl.DataType]) -> type[msgspec.Struct]:
    fields = [(name, kind_of(dtype), None) for name, dtype in types.items()]
    return msgspec.defstruct("Row", fields, gc=False)
