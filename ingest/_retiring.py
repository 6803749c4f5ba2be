"""Rows of days that are gone for good leave their tables, and their files say so."""

from collections.abc import Collection, Iterator
from typing import Final

import polars as pl

from ingest import _scans
from ingest._draft import Draft
from ingest._offers import ACCEPTED
from ingest._schema import FILE_ID
from ingest.manifest import Part
from ingest.tables import Collectives, IngestedFiles, Kernels, Operations, Table

#: Column of IngestedFiles that counts them.
RETIRED: Final = IngestedFiles.rows_retired.name

#: What a trace gives beside the times of its steps.
TRACED: Final = (Kernels, Operations, Collectives)


def traced_files(draft: Draft) -> frozenset[str]:
    """Return the files that are of traces.

    Their steps are few, and samples: no rollup has them, so they stay.
    """
    return frozenset(
        file_id
        for table in TRACED
        for part in draft.parts(table, "raw")
        for file_id in part.file_ids
    )


def late_parts(
    draft: Draft, tables: Collection[type[Table]]
) -> Iterator[tuple[type[Table], Part]]:
    """Yield the parts that a commit brings for days that are gone."""
    for table in tables:
        for part in draft.fresh(table, "raw"):
            if part.day and (part.table, part.day) in draft.before.retired_days:
                yield table, part


def leave(
    draft: Draft, table: type[Table], part: Part, stay: frozenset[str]
) -> list[pl.DataFrame]:
    """Take the rows of a part out, those of some files aside.

    Args:
        draft: The commit.
        table: Table of the part.
        part: Shown rows, or rows that lost to an equal key: those stay refused.
        stay: Files whose rows stay.

    Returns:
        The change of each file's counts.
    """
    gone = sorted(set(part.file_ids) - stay)
    rows = _scans.scan(draft.root, [part], table).select(FILE_ID)
    if len(gone) < len(part.file_ids):
        rows = rows.filter(pl.col(FILE_ID).is_in(gone))
    one = pl.len().cast(pl.Int64)
    counts = rows.group_by(FILE_ID).agg((-one).alias(ACCEPTED), one.alias(RETIRED))
    changes = [counts.collect(engine="streaming")] if part.kind == "raw" else []
    draft.take_out_files(table, part, gone)
    return changes
