"""Limits of power one by one: broken ones first, then those that nobody can see."""

from typing import Final

import polars as pl

from reports import _sql
from reports._numbers import duration, percent
from reports._power_words import ramp, watts
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._words import name, plural, said

#: Verdicts in the order of the table.
_ORDER: Final = ("fail", "not_observable", "pass", "no_limit")

_SQL: Final = """\
SELECT run_id, limit_name, window_ns, measured, allowed, unit, limit_basis, verdict,
       reason
FROM power_limits
${where}ORDER BY list_position(['fail', 'not_observable', 'pass', 'no_limit'], verdict),
         run_id, limit_name, window_ns"""

_SPEAK: Final = {"W/s": ramp, "W": watts, "1": percent}


def listings(rows: pl.DataFrame, scope: Scope) -> list[Listing]:
    """Return the limits of all runs; nothing without rows.

    Args:
        rows: Rows of PowerLimits.
        scope: Runs of the page.
    """
    if rows.is_empty():
        return []
    place = pl.col("verdict").replace_strict(
        {verdict: n for n, verdict in enumerate(_ORDER)}, return_dtype=pl.Int8
    )
    ordered = rows.sort(place, "run_id", "limit_name", "window_ns")
    shown = ordered.head(MOST_ROWS)
    more = rows.height - shown.height
    return [
        Listing(
            title="Limits of power, and whether they are kept",
            columns=(
                Column("Limit"),
                Column("Run"),
                Column(
                    "Seen",
                    "Greatest rise or fall from any moment to any other within the"
                    " window, over its length; range in a minute; share of AC energy"
                    " in the band.",
                    is_number=True,
                ),
                Column("Allowed", "Run card, else settings.", is_number=True),
                Column("Set by"),
                Column("Verdict"),
                Column("Why"),
            ),
            rows=[_row(row) for row in shown.to_dicts()],
            more=plural(more, "more check") if more else "",
            sql=_sql.filled(_SQL, where=_sql.where(scope.sql())),
        )
    ]


def _row(row: dict[str, object]) -> tuple[str, ...]:
    speak = _SPEAK[str(row["unit"])]
    seen, allowed, window = row["measured"], row["allowed"], row["window_ns"]
    over = "" if window is None else f" within {duration(int(str(window)))}"
    return (
        f"{said(str(row['limit_name']))}{over}",
        name(str(row["run_id"]), 24),
        speak(seen) if isinstance(seen, float) else "not seen",
        speak(allowed) if isinstance(allowed, float) else "none set",
        said(str(row["limit_basis"])),
        said(str(row["verdict"])),
        name(str(row["reason"]), 170) if row["reason"] else "",
    )
