"""Parts: the immutable Parquet files that hold a table's rows, a day at a time."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from ingest import _disk, _encoding
from ingest._order import ascends, in_order, is_constant
from ingest._schema import FILE_ID, fingerprint_of
from ingest.manifest import Kind, Part
from ingest.tables import Table
from ingest.times import DAY_NS, day_of

#: Folder of rows without a time, named as Hive does, so that any reader knows it.
UNDATED: Final = "__HIVE_DEFAULT_PARTITION__"

#: Characters of a text that its bounds keep; names in files may be of any length.
_BOUND_CHARACTERS: Final = 64

#: Greater than any character that may follow a cut.
_LAST_CHARACTER: Final = "\U0010ffff"

_DAY: Final = "_day"

#: Types whose values are ordered in JSON as they are in Polars.
_EXACT: Final = (pl.String, pl.Int32, pl.Int64)

#: Parts that are written at a time: a disk that is told to sync several files at once
#: does so together. [1]
_WRITERS: Final = 8


class Place(NamedTuple):
    """Whose day a rollup is of: a run or a cluster, and a UTC day as YYYY-MM-DD."""

    owner: str
    day: str


class _Rows(NamedTuple):
    """Sorted rows of a day, where they go, and whether it is known that none meet."""

    path: str
    day: str | None
    frame: pl.DataFrame
    is_apart: bool = False


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
    is_apart = ascends(frame, table.key, strictly=True)
    ordered = frame if is_apart else in_order(frame, table.key)
    days = [
        _Rows(_new_path(table, day), day, rows, is_apart)
        for day, rows in _by_day(table, ordered)
    ]
    paths = [root / rows.path for rows in days]
    _disk.make_folders([path.parent for path in paths])
    try:
        with ThreadPoolExecutor(min(len(days), _WRITERS)) as pool:
            parts = list(pool.map(partial(_write_day, root, table), days))
    except BaseException:
        for path in paths:
            path.unlink(missing_ok=True)
        raise
    return [replace(part, kind=kind, result_key=result_key) for part in parts]


def write_rollup(
    root: Path, table: type[Table], frame: pl.DataFrame, place: Place, result_key: str
) -> Part:
    """Write what is kept of a day as one part, sorted and synced; it may be empty.

    Args:
        root: The lake's folder.
        table: Table that the rows are of.
        frame: Rows with the table's columns.
        place: Whose day it is.
        result_key: Hash of all that it was computed from.
    """
    path = _new_path(table, place.day)
    _disk.make_folders([(root / path).parent])
    part = _write_day(root, table, _Rows(path, place.day, in_order(frame, table.key)))
    return replace(part, kind="rollup", result_key=result_key, owner=place.owner)


def _new_path(table: type[Table], day: str | None) -> str:
    return f"{table.sql_name()}/day={day or UNDATED}/{_disk.part_name()}"


def _by_day(
    table: type[Table], frame: pl.DataFrame
) -> Iterator[tuple[str | None, pl.DataFrame]]:
    if table.day_column is None or frame.is_empty():
        yield None, frame
        return
    days = frame[table.day_column] // DAY_NS
    if is_constant(days):
        yield frame.head(1).select(day_of(pl.col(table.day_column))).item(), frame
        return
    dated = frame.with_columns(days.alias(_DAY))
    for rows in dated.partition_by(_DAY, maintain_order=True, include_key=False):
        yield rows.head(1).select(day_of(pl.col(table.day_column))).item(), rows


def _write_day(root: Path, table: type[Table], of_day: _Rows) -> Part:
    path, day, frame, is_apart = of_day
    rows = frame.select(table.column_names())
    target = root / path
    size = _write(target, rows, table)
    _disk.sync_folder(target.parent)
    key_min, key_max = bounds_of(frame, table.key)
    key_first, key_last = ends_of(frame, table.key, is_apart=is_apart)
    return Part(
        table=table.sql_name(),
        day=day,
        path=path,
        rows=frame.height,
        bytes=size,
        key_min=key_min,
        key_max=key_max,
        file_ids=files_of(frame),
        fingerprint=fingerprint_of(table),
        key_first=key_first,
        key_last=key_last,
    )


def _write(path: Path, rows: pl.DataFrame, table: type[Table]) -> int:
    if _encoding.pays(rows):
        return _disk.write_bytes(path, _encoding.encoded(rows, table))
    return _disk.write_frame(path, rows, arrow_schema=table.arrow_schema())


def files_of(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return the files that rows were read from, sorted."""
    if FILE_ID not in frame.columns:
        return ()
    column = frame[FILE_ID]
    return tuple(column[:1] if is_constant(column) else column.unique().sort())


def bounds_of(frame: pl.DataFrame, key: Sequence[str]) -> tuple[str, str]:
    """Return bounds of each column of the key; null is less than any value."""
    least: dict[str, object] = {}
    greatest: dict[str, object] = {}
    for name in key:
        column = frame[name][:1] if is_constant(frame[name]) else frame[name]
        least[name] = None if column.null_count() else _cut(column.min())
        greatest[name] = _cut(column.max(), _LAST_CHARACTER)
    return json.dumps(least), json.dumps(greatest)


def ends_of(
    frame: pl.DataFrame, key: Sequence[str], *, is_apart: bool = False
) -> tuple[str | None, str | None]:
    """Return the first and the last key of rows; none where two rows may share one.

    Parts whose ends do not meet share no key, even where each column's bounds do.

    Args:
        frame: The rows.
        key: Columns of the key.
        is_apart: Whether it is known that they are sorted and no two share a key.
    """
    exact = all(frame.schema[name] in _EXACT for name in key)
    if frame.is_empty() or not exact:
        return None, None
    if not (is_apart or ascends(frame, key, strictly=True)):
        return None, None
    first, last = frame.select(key).row(0), frame.select(key).row(-1)
    least = [_cut(value) for value in first]
    return json.dumps(least), json.dumps([_cut(v, _LAST_CHARACTER) for v in last])


def _cut(bound: object, end: str = "") -> object:
    if isinstance(bound, str) and len(bound) > _BOUND_CHARACTERS:
        return bound[:_BOUND_CHARACTERS] + end
    return bound if isinstance(bound, str | int | None) else str(bound)
