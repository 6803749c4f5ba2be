"""Energy windows one by one, the least covered first."""

from typing import Final

import polars as pl

from reports import _sql
from reports._energy_charts import short
from reports._numbers import compact, percent
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._words import name, plural, said

_SQL: Final = """\
SELECT * FROM energy
${where}ORDER BY coverage_ratio, run_id, host, gpu_uuid"""


def listings(rows: pl.DataFrame, scope: Scope) -> list[Listing]:
    """Return the ten windows with the least coverage; nothing without rows.

    Args:
        rows: Rows of Energy.
        scope: Runs of the page.
    """
    if rows.is_empty():
        return []
    shown = rows.sort("coverage_ratio", "run_id", "host", "gpu_uuid").head(MOST_ROWS)
    more = rows.height - shown.height
    return [
        Listing(
            title="How well it was measured, the least covered first",
            columns=(
                Column("GPU"),
                Column("Run"),
                Column("Mean W", "Energy over the time measured.", is_number=True),
                Column(
                    "Peak W",
                    "Greatest reading, instant or averaged by the sensor; the mean is"
                    " energy over time.",
                    is_number=True,
                ),
                Column(
                    "Coverage", "Share of the window that was measured.", is_number=True
                ),
                Column("Method"),
                Column("Doubts"),
            ),
            rows=[_row(row) for row in shown.to_dicts()],
            more=plural(more, "more window") if more else "",
            sql=_sql.filled(_SQL, where=_sql.where(scope.sql(or_none=True))),
        )
    ]


def _row(row: dict[str, object]) -> tuple[str, ...]:
    where = [str(found) for found in (row["host"], row["gpu_uuid"]) if found]
    doubts = [said(doubt.strip()) for doubt in str(row["quality"] or "").split(",")]
    return (
        short(" ".join(where)),
        name(str(row["run_id"]), 30) if row["run_id"] else "no run held it",
        _number(row["mean_w"]),
        _number(row["peak_w"]),
        percent(float(str(row["coverage_ratio"]))),
        said(str(row["method"])),
        name(", ".join(doubts), 90) or "none",
    )


def _number(value: object) -> str:
    return compact(value) if isinstance(value, float) else "not known"
