"""Traces as tables, read once for all tests of published values."""

import gzip
import io
from collections.abc import Mapping
from datetime import UTC
from functools import cache
from pathlib import Path

import polars as pl

from ingest.sources import Reading
from ingest.sources.kineto import SOURCE
from ingest.tables import Collectives, Kernels, StepTimings, Table


@cache
def read(path: Path) -> Mapping[type[Table], pl.DataFrame]:
    data = path.read_bytes()
    content = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    reading = Reading(
        path=str(path),
        name=path.name.removesuffix(".gz"),
        file_id=path.name.ljust(16, "-"),
        zone=UTC,
        zone_basis="assumed",
        run_id="run",
        run_id_basis="folder",
        cluster="cluster",
        modified_ns=0,
    )
    tables = (Kernels, Collectives, StepTimings)
    parts: dict[type[Table], list[pl.DataFrame]] = {table: [] for table in tables}
    for batch in SOURCE.read(io.BytesIO(content), reading):
        for table, rows in batch.rows.items():
            if table in parts:
                parts[table].append(rows)
    return {table: whole(table, rows) for table, rows in parts.items()}


def whole(table: type[Table], rows: list[pl.DataFrame]) -> pl.DataFrame:
    """Every row of a file as the table declares it, with an identity of the file."""
    empty = table.create_empty()
    if not rows:
        return empty
    told = pl.concat(rows, how="diagonal").with_columns(file_id=pl.lit("trace"))
    complete = pl.concat([empty, told.drop("place")], how="diagonal")
    return table.validate(complete.select(empty.columns), cast=True)


def traces(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.json*") if path.is_file())


def rows_of(table: type[Table], *paths: Path) -> pl.LazyFrame:
    return pl.concat([read(path)[table] for path in paths]).lazy()
