"""Cells and queries of the tables on checkpoints."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from reports import _sql
from reports._checkpoint_shown import DASH, Row
from reports._numbers import percent
from reports._runs import MOST_ROWS

_SQL: Final = """\
SELECT * FROM $table
WHERE run_id = $run"""


def ordered(rows: pl.DataFrame, column: str, order: list[str]) -> Sequence[Row]:
    """Return rows in the order of a list of words, at most MOST_ROWS."""
    found = sorted(rows.iter_rows(named=True), key=lambda row: order.index(row[column]))
    return found[:MOST_ROWS]


def share(value: float | None) -> str:
    """Return a share of the time, a dash where it is not known."""
    return DASH if value is None else percent(value)


def query(table: str, run_id: str) -> str:
    """Return the query of all rows of a run."""
    return _sql.filled(_SQL, table=table, run=_sql.literal(run_id))
