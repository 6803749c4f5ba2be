"""Interruptions one by one."""

from typing import Final

import polars as pl

from reports import _sql
from reports._numbers import duration, grouped, utc
from reports._partly import partly
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._words import name, plural, said
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

_STOP: Final = ["run_id", "attempt", "stop"]

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
    Column("Cost", "GPU time of all its phases, in dollars.", is_number=True),
    Column(
        "Incident",
        "What it is laid to: gpuledger report --claim with these letters makes a page"
        " about it for the provider.",
    ),
)


def listings(stops: pl.DataFrame, phases: pl.DataFrame, scope: Scope) -> list[Listing]:
    """Return the latest ten interruptions; nothing where there is none.

    Args:
        stops: Rows of Interruptions.
        phases: Rows of LossPhases.
        scope: Runs of the page.
    """
    if stops.is_empty():
        return []
    ended = pl.coalesce("decided_ns", "last_step_end_ns")
    order = [ended, "run_id", "attempt", "stop"]
    latest = stops.sort(
        order, descending=[True, False, False, False], nulls_last=True
    ).head(MOST_ROWS)
    shown = latest.join(_costs(phases), on=_STOP, how="left", maintain_order="left")
    more = stops.height - shown.height
    return [
        Listing(
            title="Interruptions, the latest first; a page about one for its provider:"
            " gpuledger report --claim INCIDENT",
            columns=_COLUMNS,
            rows=[_row(row, scope) for row in shown.to_dicts()],
            more=plural(more, "more interruption") if more else "",
            sql=_sql.filled(_SQL, where=_sql.where(scope.sql())),
        )
    ]


def _costs(phases: pl.DataFrame) -> pl.DataFrame:
    own = phases.filter(pl.col("account").is_not_null()).drop_nulls("stop")
    return own.group_by(_STOP).agg(
        pl.col("gpu_ns").cast(pl.Int128).sum(),
        unknown=pl.col("gpu_ns").null_count(),
    )


def _row(row: dict[str, object], scope: Scope) -> tuple[str, ...]:
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
        name(_cause(row), 90),
        duration(first - last) if known else "not known",  # type: ignore[operator]
        grouped(lost) if isinstance(lost, int) else "not known",
        _cost(row, scope),
        name(str(row["incident_id"] or "none"))[:ID_SHOWN],
    )


def _cause(row: dict[str, object]) -> str:
    told = str(row["cause"] or "not known")
    suspects = row["suspect_ranks"]
    if not suspects or told.startswith("hang: "):
        return told
    return f"{told} (it hung; suspected: {suspects})"


def _cost(row: dict[str, object], scope: Scope) -> str:
    gpu_ns = row["gpu_ns"]
    if not isinstance(gpu_ns, int):
        return "not known"
    words = in_words(dollars(gpu_ns, scope.price(str(row["run_id"]))))
    return partly(words, has_known=gpu_ns > 0, is_whole=not row["unknown"])
