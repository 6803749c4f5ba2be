"""Columns of tables as Polars has them, and those that the lake gives a meaning."""

import hashlib
import json
from functools import cache
from typing import Final

import polars as pl

from ingest.tables import Table

#: Column of every table of raw rows: the file that a row was read from.
FILE_ID: Final = "file_id"

#: Number of a row in its part, where one is asked for.
ROW: Final = "_row"


@cache
def schema_of(table: type[Table]) -> pl.Schema:
    """Return the columns of a table and their types, in order."""
    return table.create_empty().schema


@cache
def fingerprint_of(table: type[Table]) -> str:
    """Return a hash of the names and types of a table's columns."""
    said = [[name, str(dtype)] for name, dtype in schema_of(table).items()]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]
