"""Rows of parts, as their table is declared now."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from ingest._schema import ROW, fingerprint_of, schema_of
from ingest.manifest import Part
from ingest.tables import Table


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
