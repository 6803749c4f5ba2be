"""Run a user's query over the lake."""

from pathlib import Path
from typing import cast

import duckdb
import polars as pl
from ingest.catalog import open_catalog

from ingest.errors import QueryError
from pipeline.logs import one_line


def rows_of(root: Path, query: str) -> pl.DataFrame:
    """Return the rows of one query.

    Raises:
        QueryError: If DuckDB refuses the query, with its reason in one line.
        LakeError: If there is no lake.
    """
    connection = open_catalog(root)
    try:
        relation = connection.sql(query)
        if relation is None:
            message = "expected a query that returns rows, such as SELECT or DESCRIBE"
            raise QueryError(message)
        return cast("pl.DataFrame", relation.pl())
    except duckdb.Error as error:
        message = f"{one_line(str(error))}; see gpuledger tables for names"
        raise QueryError(message) from error
    finally:
        connection.close()
