"""Rows that share a key, found by hash, and only where the bounds of parts meet."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import polars as pl

from ingest import _parts
from ingest.manifest import Part
from ingest.tables import Table

#: Columns that say where a claim is: the path of its part, and its row in there.
PATH: Final = "_path"
ROW: Final = _parts.ROW

_HASH: Final = "_hash"


@dataclass(frozen=True, slots=True)
class Box:
    """Bounds of the keys of a part, column by column."""

    least: dict[str, Any]
    greatest: dict[str, Any]

    @classmethod
    def of(cls, part: Part) -> Self:
        """Return the bounds that the manifest keeps for a part."""
        return cls(json.loads(part.key_min), json.loads(part.key_max))

    def meets(self, other: Self) -> bool:
        """Whether a key could be within both."""
        return not any(
            _is_below(self.greatest[name], other.least[name])
            or _is_below(other.greatest[name], self.least[name])
            for name in self.least.keys() & other.least.keys()
        )


def _is_below(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is None and other is not None
    return type(one) is type(other) and bool(one < other)


def meeting(parts: Iterable[Part], others: Iterable[Part]) -> list[Part]:
    """Return those of the parts that may share a key with any of the others."""
    boxes = [(other.path, Box.of(other)) for other in others]
    met = []
    for part in parts:
        box = Box.of(part)
        if any(path != part.path and box.meets(other) for path, other in boxes):
            met.append(part)
    return met


def hashes(
    root: Path,
    parts: Sequence[Part],
    table: type[Table],
    file_ids: frozenset[str] | None = None,
) -> pl.Series:
    """Return a hash of the key of every row. Not for storing: it is of this process.

    Args:
        root: The lake's folder.
        parts: Parts to look in.
        table: Table of the parts.
        file_ids: Files whose rows are meant; all where it is None.
    """
    if not parts:
        return pl.Series(_HASH, [], pl.UInt64)
    rows = _parts.scan(root, parts, table)
    if file_ids is not None:
        rows = rows.filter(pl.col(_parts.FILE_ID).is_in(sorted(file_ids)))
    return rows.select(_hash(table)).collect().get_column(_HASH)


def _hash(table: type[Table]) -> pl.Expr:
    return pl.struct(table.key).hash().alias(_HASH)


def claims(
    root: Path,
    table: type[Table],
    parts: Sequence[Part],
    wanted: pl.Series | None = None,
) -> pl.DataFrame:
    """Return the rows of parts whose key, by its hash, occurs more than once.

    Two keys may have one hash, so a row may come alone.

    Args:
        root: The lake's folder.
        table: Table of the parts.
        parts: Parts to look in.
        wanted: Hashes of keys of which single rows are returned, too.

    Returns:
        The columns of the key, `file_id`, and where each row is.
    """
    found = hashes(root, parts, table).sort()
    repeated = found.filter(found == found.shift())
    if wanted is not None:
        repeated = pl.concat([repeated, found.filter(found.is_in(wanted.implode()))])
    repeated = repeated.unique()
    if repeated.is_empty():
        schema = _parts.schema_of(table)
        columns = {name: schema[name] for name in _columns(table)}
        return pl.DataFrame(schema={ROW: pl.UInt32, **columns, PATH: pl.String})
    rows = [_claims_of(root, part, table, repeated) for part in parts]
    return pl.concat(pl.collect_all(rows))


def _claims_of(
    root: Path, part: Part, table: type[Table], repeated: pl.Series
) -> pl.LazyFrame:
    return (
        _parts.scan(root, [part], table)
        .select(*_columns(table), pl.lit(part.path).alias(PATH), _hash(table))
        .with_row_index(ROW)
        .filter(pl.col(_HASH).is_in(repeated.implode()))
        .drop(_HASH)
    )


def rows_by_path(claims: pl.DataFrame) -> dict[str, pl.Expr]:
    """Return, by the path of a part, what is true of its rows among the claims."""
    return {
        rows[PATH][0]: pl.col(_parts.ROW).is_in(rows[ROW].implode())
        for rows in claims.partition_by(PATH)
    }


def _columns(table: type[Table]) -> list[str]:
    return list(dict.fromkeys((*table.key, _parts.FILE_ID)))
