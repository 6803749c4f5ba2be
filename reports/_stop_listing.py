"""Interruptions one by one."""

from typing import Any, Final

import polars as pl

from reports import _sql, _stop_actions
from reports._numbers import duration, grouped, utc
from reports._partly import partly
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._words import name, plural
from reports.dollars import dollars, in_words

_SQL: Final = """\
SELECT i.*, CAST(p.gpu_ns AS DOUBLE) / 3.6e12 AS gpu_hours, p.unknown_phases
FROM interruptions AS i LEFT JOIN (
  SELECT run_id, attempt, stop, count(*) - count(gpu_ns) AS unknown_phases,
         CASE WHEN sum(gpu_ns) > 0 OR unknown_phases = 0 THEN sum(gpu_ns) END AS gpu_ns
  FROM loss_phases
  WHERE account IS NOT NULL GROUP BY run_id, attempt, stop) AS p
  USING (run_id, attempt, stop)
${where}ORDER BY coalesce(decided_ns, last_step_end_ns) DESC, run_id, attempt, stop"""


#: Characters of an incident's identity that are shown: enough to tell it by.
ID_SHOWN: Final = 8

#: What tells one stop of a run from another.
STOP: Final = ["run_id", "attempt", "stop"]

#: Title of the column that names the run, where there are several.
_RUN: Final = "Run, attempt"

_COLUMNS: Final = (
    Column(
        "Incident",
        "What it is laid to: gpuledger report --claim with these letters makes a page"
        " about it for the provider.",
    ),
    Column("Ended, UTC", is_held=True),
    Column(_RUN),
    Column("Whose", "Where the cause lies."),
    Column("Cause"),
    Column(
        "Severity, action",
        "Of the root code, by its catalogue; where it has no action, that of the worst"
        " code that came with it.",
    ),
    Column(
        "Without a step",
        "End of the last completed step to the first new one.",
        is_number=True,
    ),
    Column("Cost", "GPU time of all its phases, in dollars.", is_number=True),
)


def listings(told: pl.DataFrame, phases: pl.DataFrame, scope: Scope) -> list[Listing]:
    """Return the latest ten interruptions; nothing where there is none.

    Args:
        told: What `_stop_actions.told` returns.
        phases: Rows of LossPhases.
        scope: Runs of the page.
    """
    if told.is_empty():
        return []
    ended = pl.coalesce("decided_ns", "last_step_end_ns")
    order = [ended, "run_id", "attempt", "stop"]
    latest = told.sort(
        order, descending=[True, False, False, False], nulls_last=True
    ).head(MOST_ROWS)
    shown = latest.join(costs(phases), on=STOP, how="left", maintain_order="left")
    more = told.height - shown.height
    is_one = told["run_id"].n_unique() == 1
    return [
        Listing(
            title="Interruptions, the latest first; a page about one for its provider:"
            " gpuledger report --claim INCIDENT",
            columns=_columns(is_one=is_one),
            rows=[_row(row, scope, is_one=is_one) for row in shown.to_dicts()],
            more=plural(more, "more interruption") if more else "",
            sql=_sql.filled(_SQL, where=_sql.where(scope.sql())),
        )
    ]


def _columns(*, is_one: bool) -> tuple[Column, ...]:
    """Return the columns; of one run only its attempts are named."""
    attempt = Column("Attempt")
    return tuple(attempt if is_one and one.title == _RUN else one for one in _COLUMNS)


def costs(phases: pl.DataFrame) -> pl.DataFrame:
    """Return what each stop cost, and of how many phases that is not known.

    Args:
        phases: Rows of LossPhases.
    """
    own = phases.filter(pl.col("account").is_not_null()).drop_nulls("stop")
    return own.group_by(STOP).agg(
        pl.col("gpu_ns").cast(pl.Int128).sum(),
        unknown=pl.col("gpu_ns").null_count(),
    )


def moment(ns: int | None) -> str:
    """Return day and minute, a line each, under a title that says UTC.

    Args:
        ns: The instant, None where it is not known. [ns]
    """
    if ns is None:
        return "not known"
    return utc(ns).removesuffix(" UTC").replace(" ", "\n")


def _row(row: dict[str, Any], scope: Scope, *, is_one: bool) -> tuple[str, ...]:
    last, first = row["last_step_end_ns"], row["first_step_ns"]
    known = last is not None and first is not None
    attempt = grouped(int(row["attempt"]))
    return (
        name(str(row["incident_id"] or "none"))[:ID_SHOWN],
        moment(row["decided_ns"] or last),
        attempt if is_one else f"{name(str(row['run_id']), 30)}, {attempt}",
        _stop_actions.whose(row),
        name(_stop_actions.cause(row), 90),
        _stop_actions.to_do(row),
        duration(first - last) if known else "not known",
        _cost(row, scope),
    )


def _cost(row: dict[str, Any], scope: Scope) -> str:
    gpu_ns = row["gpu_ns"]
    if gpu_ns is None:
        return "not known"
    words = in_words(dollars(gpu_ns, scope.price(str(row["run_id"]))))
    return partly(words, has_known=gpu_ns > 0, is_whole=not row["unknown"])
