"""Run a user's query over the lake, a batch of rows after another."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

import duckdb
import polars as pl
import pyarrow as pa

from ingest.catalog import open_catalog, parsed, run_query
from ingest.errors import QueryError
from ingest.lake import snapshot
from pipeline._query_types import nameable, portable
from pipeline.logs import one_line

#: Rows that are fetched at once, so that a large answer is never held whole: as many
#: as DuckDB has in a row group.
ROWS_FETCHED: Final = 122_880

#: A table in the tree of a query, as DuckDB writes it in JSON.
_TABLE: Final = re.compile(r'"table_name":"(\w+)"')


def rows_of(root: Path, query: str) -> pl.DataFrame:
    """Return all rows of one query.

    Raises:
        QueryError: If DuckDB refuses the query, with its reason in one line.
        LakeError: If there is no lake.
    """
    return pl.concat(batches_of(root, query))


def batches_of(
    root: Path, query: str, *, as_text: bool = False
) -> Iterator[pl.DataFrame]:
    """Yield the rows of one query; the first frame has none and tells the columns.

    Args:
        root: The lake.
        query: One query.
        as_text: Whether times come as DuckDB writes them, for an answer in text. They
            may be infinite, or of years that no other calendar here knows.

    Raises:
        QueryError: If DuckDB refuses the query, with its reason in one line.
        LakeError: If there is no lake.
    """
    with open_catalog(root) as connection:
        reader = _reader(connection, query, as_text=as_text)
        names = nameable(reader.schema.names)
        yield _frame(reader.schema.empty_table(), names)
        while (batch := _next(reader)) is not None:
            yield _frame(batch, names)


def hints_of(root: Path, query: str, by_day_rows: int) -> Iterator[str]:
    """Yield why tables that a query asks are empty while their raw rows are there.

    Args:
        root: The lake.
        query: One query that was answered.
        by_day_rows: Rows from which runs and clusters are condensed by day. [1]
    """
    lake = snapshot(root).manifest
    full = {part.table for part in lake.parts if part.rows}
    empty = _asked(query) - full
    if not empty:
        return
    # asked for only now: analyses take long to load
    from pipeline import covering

    for source, rollups in covering.sources().items():
        raw, owner = source.sql_name(), rollups[0].owner.removesuffix("_id")
        kept = {output.sql_name() for one in rollups for output in one.outputs}
        if raw in full and (without := sorted(kept & empty)):
            yield (
                f"{', '.join(without)}: no rows, since no {owner} of this lake is"
                f" condensed by day (those with more than by_day_rows = {by_day_rows:,}"
                f" rows are, when they are analysed); the raw rows are in {raw}"
            )


def _asked(query: str) -> set[str]:
    """Return the tables that a query names; none where it only describes some."""
    return {name.lower() for name in _TABLE.findall(parsed(query))}


def _reader(connection: duckdb.DuckDBPyConnection, query: str, *, as_text: bool) -> Any:
    try:
        relation = portable(run_query(connection, query), as_text=as_text)
        return relation.to_arrow_reader(ROWS_FETCHED)
    except (duckdb.Error, QueryError) as error:
        cause = error.__cause__ or error
        names = isinstance(cause, duckdb.CatalogException | duckdb.BinderException)
        hint = "; gpuledger tables lists the names" if names else ""
        message = f"{one_line(str(error))}{hint}"
        raise QueryError(message) from error


def _next(reader: Any) -> Any:
    try:
        return reader.read_next_batch()
    except StopIteration:
        return None
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        # what goes wrong under way in DuckDB comes through Arrow
        raise QueryError(one_line(str(error))) from error


def _frame(rows: Any, names: list[str]) -> pl.DataFrame:
    return cast("pl.DataFrame", pl.from_arrow(rows.rename_columns(names)))
