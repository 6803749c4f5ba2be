"""The SQL of the views: one for each table, over an explicit list of parts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import polars as pl

from ingest import _scans
from ingest._schema import schema_of
from ingest.lake import Snapshot
from ingest.manifest import Part
from ingest.tables import Table, comment_of

#: DuckDB's name of each type that a table may use.
_TYPES: Final = {
    pl.String(): "VARCHAR",
    pl.Boolean(): "BOOLEAN",
    pl.Int32(): "INTEGER",
    pl.Int64(): "BIGINT",
    pl.Float64(): "DOUBLE",
    pl.Decimal(38, 0): "DECIMAL(38,0)",
}


def statements(lake: Snapshot, table: type[Table]) -> Iterator[str]:
    """Yield what creates the view of a table, and what describes it.

    Every column of the table is there, in order and of its type, null where a part was
    written without it. Paths are relative to the lake, so that it can be moved.
    """
    name = identifier(table.sql_name())
    yield f"CREATE VIEW {name} AS {_select(lake, table)}"
    yield f"COMMENT ON VIEW {name} IS {text(table.describe())}"
    for column, declared in table.columns().items():
        comment = text(comment_of(declared))
        yield f"COMMENT ON COLUMN {name}.{identifier(column)} IS {comment}"


def identifier(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str | Path) -> str:
    """Return a text as SQL has it, where SQL takes no parameter."""
    return "'" + str(value).replace("'", "''") + "'"


def texts(values: Sequence[str]) -> str:
    """Return a list of texts as SQL has it."""
    return "[" + ", ".join(text(value) for value in values) + "]"


def _select(lake: Snapshot, table: type[Table]) -> str:
    schema = schema_of(table)
    selects = []
    for _, parts in _scans.by_fingerprint(lake.parts(table)):
        present = _scans.columns_of(lake.root, parts[0])
        columns = _columns(schema, frozenset(present))
        selects.append(f"SELECT {columns} FROM {_read(parts)}")  # noqa: S608 - quoted
    if not selects:
        return f"SELECT {_columns(schema, frozenset())} WHERE false"
    return " UNION ALL BY NAME ".join(selects)


def _columns(schema: pl.Schema, present: frozenset[str]) -> str:
    cast = [
        f"CAST({identifier(name) if name in present else 'NULL'} AS {_TYPES[dtype]})"
        f" AS {identifier(name)}"
        for name, dtype in schema.items()
    ]
    return ", ".join(cast)


def _read(parts: Sequence[Part]) -> str:
    paths = texts([part.path for part in parts])
    return f"read_parquet({paths}, hive_partitioning = false)"
