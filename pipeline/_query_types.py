"""Columns of a query that nothing but DuckDB can hold, and names given twice."""

from collections.abc import Sequence
from itertools import count
from typing import Final

import duckdb
from duckdb.sqltypes import DuckDBPyType

from ingest._views import identifier

#: Types that every form of an answer has.
_PLAIN: Final = frozenset(
    {
        *("boolean", "tinyint", "smallint", "integer", "bigint", "hugeint"),
        *("utinyint", "usmallint", "uinteger", "ubigint", "float", "double"),
        *("decimal", "varchar", "uuid", "null"),
    }
)

#: Types that Parquet has too. In a text, DuckDB writes them itself.
_BINARY: Final = frozenset(
    {
        *("blob", "date", "time", "timestamp", "timestamp_s", "timestamp_ms"),
        *("timestamp_ns", "timestamp with time zone"),
    }
)

_NESTED: Final = frozenset({"list", "array", "struct"})


def portable(
    relation: duckdb.DuckDBPyRelation, *, as_text: bool
) -> duckdb.DuckDBPyRelation:
    """Return a relation whose other types are text, as DuckDB writes it.

    Args:
        relation: The rows of a query.
        as_text: Whether they will be written as text.
    """
    known = _PLAIN if as_text else _PLAIN | _BINARY
    held = [_is_held(kind, known) for kind in relation.types]
    if all(held):
        return relation
    # columns are called by their number: two of them may have the same name
    columns = [
        f"{'#' if is_held else 'CAST(#'}{number}{'' if is_held else ' AS VARCHAR)'}"
        f" AS {identifier(name)}"
        for number, (name, is_held) in enumerate(
            zip(relation.columns, held, strict=True), 1
        )
    ]
    return relation.project(", ".join(columns))


def nameable(names: Sequence[str]) -> list[str]:
    """Return names of which each is there once: a, a becomes a, a_1."""
    given = set(names)
    unique: dict[str, None] = {}
    for name in names:
        numbered = (f"{name}_{number}" for number in count(1))
        free = (other for other in numbered if other not in given | unique.keys())
        unique[next(free) if name in unique else name] = None
    return list(unique)


def _is_held(kind: DuckDBPyType, known: frozenset[str]) -> bool:
    if kind.id in _NESTED:
        parts = [part for _, part in kind.children if isinstance(part, DuckDBPyType)]
        return all(_is_held(part, known) for part in parts)
    return kind.id in known
