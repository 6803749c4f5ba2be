"""Rows that share a key, found by hash so that few rows are ever looked at."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import polars as pl

from ingest import _scans
from ingest._box import Box
from ingest._schema import FILE_ID, ROW
from ingest.manifest import Part
from ingest.tables import Table

#: Column that says which part a claim is in; `_row` says where in there.
PATH: Final = "_path"

_HASH: Final = "_hash"


def hashes(
    root: Path,
    parts: Sequence[Part],
    table: type[Table],
    box: Box | None = None,
    file_ids: frozenset[str] | None = None,
) -> pl.Series:
    """Return a hash of the key of every row. Not for storing: it is of this process.

    Args:
        root: The lake's folder.
        parts: Parts to look in.
        table: Table of the parts.
        box: Bounds of the keys that are meant; all where it is None.
        file_ids: Files whose rows are meant; all where it is None.
    """
    rows = _scans.scan(root, parts, table)
    if box is not None:
        rows = rows.filter(box.holds())
    if file_ids is not None:
        rows = rows.filter(pl.col(FILE_ID).is_in(sorted(file_ids)))
    return rows.select(_hash(table)).collect().get_column(_HASH)


def _hash(table: type[Table]) -> pl.Expr:
    return pl.struct(table.key).hash().alias(_HASH)


def repeated(
    root: Path,
    parts: Sequence[Part],
    table: type[Table],
    box: Box | None = None,
    wanted: pl.Series | None = None,
) -> pl.Series:
    """Return hashes that occur more than once, sorted.

    Args:
        root: The lake's folder.
        parts: Parts to look in.
        table: Table of the parts.
        box: Bounds of the keys that are meant; all where it is None.
        wanted: Hashes that are returned also where they occur once.
    """
    found = hashes(root, parts, table, box).sort()
    again = found.filter(found == found.shift())
    if wanted is not None and len(wanted):
        again = pl.concat([again, found.filter(found.is_in(wanted.implode()))])
    return again.unique().sort()


def claims(
    root: Path,
    parts: Sequence[Part],
    table: type[Table],
    box: Box | None,
    found: pl.Series,
) -> pl.DataFrame:
    """Return the rows of parts whose keys have one of the hashes.

    Two keys may have one hash, so a row may come alone.

    Args:
        root: The lake's folder.
        parts: Parts to look in.
        table: Table of the parts.
        box: Bounds of the keys that are meant; all where it is None.
        found: The hashes.

    Returns:
        The columns of the key, `file_id`, and where each row is.
    """
    rows = (_keys(root, part, table, box) for part in parts)
    with_hash = (keys.with_columns(_hash(table)) for keys in rows)
    found_rows = [
        keys.filter(pl.col(_HASH).is_in(found.implode())) for keys in with_hash
    ]
    return pl.concat(pl.collect_all(found_rows)).drop(_HASH)


def _keys(root: Path, part: Part, table: type[Table], box: Box | None) -> pl.LazyFrame:
    columns = dict.fromkeys((*table.key, FILE_ID))
    rows = _scans.scan(root, [part], table).with_row_index(ROW)
    if box is not None:
        rows = rows.filter(box.holds())
    return rows.select(*columns, ROW, pl.lit(part.path).alias(PATH))


def rows_by_path(claims: pl.DataFrame) -> dict[str, pl.Expr]:
    """Return, by the path of a part, what is true of its rows among the claims."""
    return {
        rows[PATH][0]: pl.col(ROW).is_in(rows[ROW].implode())
        for rows in claims.partition_by(PATH)
    }
