"""Rows of some parts of a lake, for those who read it a piece at a time."""

from collections.abc import Iterable, Sequence

import polars as pl

from ingest import _scans
from ingest._schema import FILE_ID
from ingest.lake import Snapshot
from ingest.manifest import Part
from ingest.tables import Table


def scan(lake: Snapshot, table: type[Table], parts: Sequence[Part]) -> pl.LazyFrame:
    """Return the rows of some parts of a table, lazily.

    Raises:
        LakeError: If a part is gone or has another size than when it was written.
    """
    return _scans.scan(lake.root, parts, table)


def without_files(
    rows: pl.LazyFrame, parts: Iterable[Part], file_ids: frozenset[str]
) -> pl.LazyFrame:
    """Leave out the rows of some files; without any, their column is not read.

    Args:
        rows: Rows of the parts.
        parts: Parts that the rows are of.
        file_ids: Files.
    """
    here = {file_id for part in parts for file_id in part.file_ids} & file_ids
    return rows.filter(~pl.col(FILE_ID).is_in(sorted(here))) if here else rows
