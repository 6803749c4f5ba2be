"""Rows of parts, as their table is declared now."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import polars as pl
from polars.exceptions import PanicException, PolarsError

from ingest._schema import ROW, fingerprint_of, schema_of
from ingest.errors import LakeError
from ingest.manifest import Part
from ingest.tables import Table

#: What Polars raises where the bytes of a file are not what they were.
BROKEN: Final = (PolarsError, PanicException)


def scan(root: Path, parts: Sequence[Part], table: type[Table]) -> pl.LazyFrame:
    """Return the rows of parts with every column of their table, lazily.

    A column that a part was written without is null. The order of rows is that of the
    parts and of the rows in them.

    Raises:
        LakeError: If a part is gone or has another size than when it was written.
    """
    current = fingerprint_of(table)
    schema = schema_of(table)
    frames = []
    for fingerprint, group in by_fingerprint(parts):
        if fingerprint == current:
            frames.append(scan_as_written(root, group, schema))
        else:
            present = columns_of(root, group[0])
            frames.append(_conform(scan_as_written(root, group), schema, present))
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
    (pieces,) = split_long(root, part, table, leaves, max(part.rows, 1))
    return pieces


def split_long(
    root: Path, part: Part, table: type[Table], leaves: pl.Expr, most: int
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield the rows of a part as `split` does, at most so many at a time."""
    numbered = scan(root, [part], table).with_row_index(ROW)
    columns = table.column_names()
    for start in range(0, max(part.rows, 1), most):
        rows = numbered.slice(start, most).collect()
        marked = rows.with_columns(leaves.alias("_leaves"))
        stay, leave = marked.filter(~pl.col("_leaves")), marked.filter("_leaves")
        yield stay.select(columns), leave.select(columns)


def by_fingerprint(parts: Sequence[Part]) -> Iterator[tuple[str, list[Part]]]:
    """Yield parts by the fingerprint of their columns."""
    groups: dict[str, list[Part]] = {}
    for part in parts:
        groups.setdefault(part.fingerprint, []).append(part)
    yield from groups.items()


def scan_as_written(
    root: Path, parts: Sequence[Part], schema: pl.Schema | None = None
) -> pl.LazyFrame:
    """Return the rows of parts with one fingerprint, with the columns they have.

    Raises:
        LakeError: If a part is gone or has another size than when it was written.
    """
    for part in parts:
        _refuse_other_size(root, part)
    paths = [root / part.path for part in parts]
    return pl.scan_parquet(paths, schema=schema, glob=False, hive_partitioning=False)


def columns_of(root: Path, part: Part) -> list[str]:
    """Return the columns that a part was written with.

    Raises:
        LakeError: If the part is damaged.
    """
    try:
        return scan_as_written(root, [part]).collect_schema().names()
    except BROKEN as error:
        raise damaged(root, part, str(error)) from error


def damaged(root: Path, part: Part, found: str) -> LakeError:
    """Return what to say of a part that is not as it was written."""
    return LakeError(
        f"{root / part.path}: expected a part of {part.rows} rows in {part.bytes}"
        f" bytes, found {found}; restore it from a backup, or ingest everything into a"
        " new folder"
    )


def _refuse_other_size(root: Path, part: Part) -> None:
    try:
        size = (root / part.path).stat().st_size
    except OSError as error:
        raise damaged(root, part, error.strerror or str(error)) from error
    if size != part.bytes:
        raise damaged(root, part, f"{size} bytes")


def _conform(
    frame: pl.LazyFrame, schema: pl.Schema, present: Sequence[str]
) -> pl.LazyFrame:
    return frame.select(
        (pl.col(name) if name in present else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in schema.items()
    )
