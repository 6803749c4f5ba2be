"""Every trace that was simulated, or why it was not."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from reports import _sql
from reports._numbers import duration, percent
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._words import name, plural, said

#: The slowest first, those that nothing is known of last.
ORDER: Final = "slowdown_ratio DESC NULLS LAST, run_id, attempt, trace_id"

_SQL: Final = """\
SELECT * FROM replays
${where}ORDER BY $order"""

_DASH: Final = "\N{EN DASH}"


def listing(traces: pl.DataFrame, scope: Scope) -> Listing:
    """Return the table of traces.

    Args:
        traces: Rows of Replays, in the order of ORDER.
        scope: Runs of the page.
    """
    top = traces.head(MOST_ROWS)
    rest = traces.height - top.height
    return Listing(
        title="Traces simulated",
        columns=(
            Column("run and trace"),
            Column("step", is_number=True),
            Column("ideal", is_number=True),
            Column("slowdown", "S: simulated over ideal", is_number=True),
            Column("M_W", "gone with the slowest 3 % of workers", is_number=True),
            Column("M_S", "gone with the last stage", is_number=True),
            Column("off by", "simulated beside actual", is_number=True),
            Column("cause, or why not"),
        ),
        rows=[_row(row) for row in top.iter_rows(named=True)],
        more=f"{plural(rest, 'more trace')}" if rest else "",
        sql=_sql.filled(_SQL, where=_sql.where(scope.sql()), order=ORDER),
    )


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    who = f"{name(row['run_id'], 24)} · {name(row['trace_id'], 16)}"
    if row["slowdown_ratio"] is None:
        return (who, *[_DASH] * 6, name(row["reason"]))
    return (
        who,
        duration(row["actual_ns"]),
        duration(row["ideal_ns"]),
        f"{row['slowdown_ratio']:.3f}",
        _share(row["m_w_ratio"]),
        _share(row["m_s_ratio"]),
        percent(row["fidelity_ratio"]),
        said(row["cause"]),
    )


def _share(value: float | None) -> str:
    return _DASH if value is None else f"{round(value, 2) + 0.0:.2f}"
