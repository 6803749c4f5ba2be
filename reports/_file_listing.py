"""Files, those with refused rows first."""

from pathlib import PurePosixPath
from typing import Final

import polars as pl

from reports import _sql
from reports._numbers import grouped, size
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._words import name, plural

_SQL: Final = """\
SELECT path, source, bytes, rows_read, rows_accepted, rows_rejected, rows_retired
FROM ingested_files
${where}ORDER BY rows_rejected DESC, bytes DESC, path"""


def listing(files: pl.DataFrame, scope: Scope) -> Listing:
    """Return ten files.

    Args:
        files: Rows of IngestedFiles, those with most refused rows first.
        scope: Runs of the page.
    """
    shown = files.head(MOST_ROWS)
    more = files.height - shown.height
    return Listing(
        title="Files, those with refused rows first, then by size",
        columns=(
            Column("File"),
            Column("Source"),
            Column("Size", "Expanded.", is_number=True),
            Column("Read", is_number=True),
            Column("Accepted", is_number=True),
            Column("Refused", is_number=True),
            Column("Retired", is_number=True),
        ),
        rows=[_row(row) for row in shown.to_dicts()],
        more=plural(more, "more file") if more else "",
        sql=_sql.filled(_SQL, where=_sql.where(scope.sql(or_none=True))),
    )


def _row(row: dict[str, object]) -> tuple[str, ...]:
    kinds = ("read", "accepted", "rejected", "retired")
    counts = [grouped(int(str(row[f"rows_{kind}"]))) for kind in kinds]
    return (
        short(str(row["path"])),
        name(str(row["source"]), 30),
        size(int(str(row["bytes"]))),
        *counts,
    )


def short(path: str) -> str:
    """Return the last two parts of a path: where it lies tells nobody else much.

    Args:
        path: Path as it was read.
    """
    return name("/".join(PurePosixPath(path).parts[-2:]))
