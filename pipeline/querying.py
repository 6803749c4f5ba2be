"""Run a user's query over the lake."""

from pathlib import Path
from typing import cast

import duckdb
import polars as pl

from ingest.catalog import open_catalog, run_query
from ingest.errors import QueryError
from pipeline.logs import one_line


def rows_of(root: Path, query: str) -> pl.DataFrame:
    """Return the rows of one query.

    Raises:
        QueryError: If DuckDB refuses the query, with its reason in one line.
        LakeError: If there is no lake.
    """
    with open_catalog(root) as connection:
        try:
            return cast("pl.DataFrame", run_query(connection, query).pl())
        except (duckdb.Error, QueryError) as error:
            cause = error.__cause__ or error
            names = isinstance(cause, duckdb.CatalogException | duckdb.BinderException)
            hint = "; gpuledger tables lists the names" if names else ""
            message = f"{one_line(str(error))}{hint}"
            raise QueryError(message) from error
