"""Parts: the immutable Parquet files that hold a table's rows, a day at a time."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import polars as pl

from ingest import _disk
from ingest.manifest import Kind, Part
from ingest.tables import Table
from ingest.times import day_of

#: Folder of rows without a time, named as Hive does, so that any reader knows it.
UNDATED: Final = "__HIVE_DEFAULT_PARTITION__"

#: Column of every table of raw rows: the file that a row was read from.
FILE_ID: Final = "file_id"

#: Characters of a text that its bounds keep; names in files may be of any length.
_BOUND_CHARACTERS: Final = 64

#: Greater than any character that may follow a cut.
_LAST_CHARACTER: Final = "\U0010ffff"

#: Number of a row in its part, where one is asked for.
ROW: Final = "_row"

_DAY: Final = "_day"


@cache
def schema_of(table: type[Table]) -> pl.Schema:
    """Return the columns of a table and their types, in order."""
    return table.create_empty().schema


@cache
def fingerprint_of(table: type[Table]) -> str:
    """Return a hash of the names and types of a table's columns."""
    said = [[name, str(dtype)] for name, dtype in schema_of(table).items()]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def write(
    root: Path,
    table: type[Table],
    frame: pl.DataFrame,
    kind: Kind = "raw",
    result_key: str | None = None,
) -> list[Part]:
    """Write rows as one part for each day, sorted by the table's key and synced.

    Nothing shows the parts before a manifest names them.

    Args:
        root: The lake's folder.
        table: Table that the rows are of.
        frame: Rows with the table's columns.
        kind: What the rows are.
        result_key: Hash of all that a result was computed from.
    """
    parts = [
        replace(_write_day(root, table, rows, day), kind=kind, result_key=result_key)
        for day, rows in _by_day(table, frame.sort(table.key))
    ]
    for folder in {(root / part.path).parent for part in parts}:
        _disk.sync_folder(folder)
    return parts


def _by_day(
    table: type[Table], frame: pl.DataFrame
) -> Iterator[tuple[str | None, pl.DataFrame]]:
    if table.day_column is None or frame.is_empty():
        yield None, frame
        return
    dated = frame.with_columns(day_of(pl.col(table.day_column)).alias(_DAY))
    for rows in dated.partition_by(_DAY, maintain_order=True):
        yield rows[_DAY][0], rows.drop(_DAY)


def _write_day(
    root: Path,
    table: type[Table],
    frame: pl.DataFrame,
    day: str | None,
) -> Part:
    path = f"{table.sql_name()}/day={day or UNDATED}/{_disk.part_name()}"
    target = root / path
    _disk.make_folder(target.parent)
    with target.open("wb") as file:
        frame.select(table.column_names()).write_parquet(
            file, arrow_schema=table.arrow_schema()
        )
        _disk.sync(file)
    key_min, key_max = _bounds(frame, table.key)
    return Part(
        table=table.sql_name(),
        day=day,
        path=path,
        rows=frame.height,
        bytes=target.stat().st_size,
        key_min=key_min,
        key_max=key_max,
        file_ids=files_of(frame),
        fingerprint=fingerprint_of(table),
    )


def files_of(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return the files that rows were read from, sorted."""
    if FILE_ID not in frame.columns:
        return ()
    return tuple(frame[FILE_ID].unique().sort())


def _bounds(frame: pl.DataFrame, key: Sequence[str]) -> tuple[str, str]:
    """Bounds of each column of the key; null is less than any value."""
    least: dict[str, object] = {}
    greatest: dict[str, object] = {}
    for name in key:
        column = frame[name]
        least[name] = None if column.null_count() else _cut(column.min())
        greatest[name] = _cut(column.max(), _LAST_CHARACTER)
    return json.dumps(least), json.dumps(greatest)


def _cut(bound: object, end: str = "") -> object:
    if isinstance(bound, str) and len(bound) > _BOUND_CHARACTERS:
        return bound[:_BOUND_CHARACTERS] + end
    return bound if isinstance(bound, str | int | None) else str(bound)


def scan(root: Path, parts: Sequence[Part], table: type[Table]) -> pl.LazyFrame:
    """Return the rows of parts with every column of their table, lazily.

    A column that a part was written without is null. The order of rows is that of the
    parts and of the rows in them.
    """
    current = fingerprint_of(table)
    schema = schema_of(table)
    frames = []
    for fingerprint, group in by_fingerprint(parts):
        if fingerprint == current:
            frames.append(scan_as_written(root, group, schema))
        else:
            frames.append(_conform(scan_as_written(root, group), schema))
    return pl.concat(frames) if frames else pl.LazyFrame(schema=schema)


def split(
    root: Path, part: Part, table: type[Table], leaves: pl.Expr
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows of a part that stay, and those that leave.

    Args:
        root: The lake's folder.
        part: The part.
        table: Its table.
        leaves: What is true of a row that leaves; may use `_row`, its number.
    """
    rows = scan(root, [part], table).with_row_index(ROW).collect()
    marked = rows.with_columns(leaves.alias("_leaves"))
    stay, leave = marked.filter(~pl.col("_leaves")), marked.filter("_leaves")
    columns = table.column_names()
    return stay.select(columns), leave.select(columns)


def by_fingerprint(parts: Sequence[Part]) -> Iterator[tuple[str, list[Part]]]:
    """Yield parts by the fingerprint of their columns."""
    groups: dict[str, list[Part]] = {}
    for part in parts:
        groups.setdefault(part.fingerprint, []).append(part)
    yield from groups.items()


def scan_as_written(
    root: Path, parts: Sequence[Part], schema: pl.Schema | None = None
) -> pl.LazyFrame:
    """Return the rows of parts with one fingerprint, with the columns they have."""
    paths = [root / part.path for part in parts]
    return pl.scan_parquet(paths, schema=schema, glob=False, hive_partitioning=False)


def _conform(frame: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    present = frame.collect_schema().names()
    return frame.select(
        (pl.col(name) if name in present else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in schema.items()
    )
