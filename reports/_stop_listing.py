"""Interruptions one by one."""

from typing import Final

import polars as pl

from reports import _sql
from reports._numbers import duration, grouped, utc
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._words import name, plural, said

_SQL: Final = """\
SELECT * FROM interruptions
${where}ORDER BY coalesce(decided_ns, last_step_end_ns) DESC, run_id, attempt"""


_COLUMNS: Final = (
    Column("Run"),
    Column("Attempt", is_number=True),
    Column("Ended"),
    Column("Whose", "Where the cause lies."),
    Column("Cause"),
    Column(
        "Without a step",
        "End of the last completed step to the first new one.",
        is_number=True,
    ),
    Column("Steps done again", is_number=True),
)


def listings(stops: pl.DataFrame, scope: Scope) -> list[Listing]:
    """Return the latest ten interruptions; nothing where there is none.

    Args:
        stops: Rows of Interruptions.
        scope: Runs of the page.
    """
    if stops.is_empty():
        return []
    ended = pl.coalesce("decided_ns", "last_step_end_ns")
    shown = stops.sort(
        [ended, "run_id", "attempt"], descending=[True, False, False], nulls_last=True
    ).head(MOST_ROWS)
    more = stops.height - shown.height
    return [
        Listing(
            title="Interruptions, the latest first",
            columns=_COLUMNS,
            rows=[_row(row) for row in shown.to_dicts()],
            more=plural(more, "more interruption") if more else "",
            sql=_sql.filled(_SQL, where=_sql.where(scope.sql())),
        )
    ]


def _row(row: dict[str, object]) -> tuple[str, ...]:
    ended = row["decided_ns"] or row["last_step_end_ns"]
    last, first = row["last_step_end_ns"], row["first_step_ns"]
    known = isinstance(last, int) and isinstance(first, int)
    lost = row["lost_steps"]
    planned = " (planned)" if row["planned"] else ""
    return (
        name(str(row["run_id"]), 30),
        grouped(int(str(row["attempt"]))),
        utc(ended) if isinstance(ended, int) else "not known",
        said(str(row["category"])) + planned,
        name(str(row["cause"] or "not known"), 90),
        duration(first - last) if known else "not known",  # type: ignore[operator]
        grouped(lost) if isinstance(lost, int) else "not known",
    )
