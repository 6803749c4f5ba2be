"""Ranks of a hang one by one, and the hangs before it."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from reports import _sql
from reports._numbers import grouped, utc
from reports._overlap_words import both_in_words
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._words import name, plural, said

_SUSPECTS: Final = """\
SELECT * FROM hang_suspects
WHERE run_id = $run AND attempt = $attempt AND hang_id = $hang
ORDER BY position"""

_HANGS: Final = """\
SELECT * FROM hangs
${where}ORDER BY last_ns DESC, run_id, hang_id"""

_COLUMNS: Final = (
    Column("Rank"),
    Column("Role", "A candidate: where it may have begun. Blocked: only waits."),
    Column("Ranks waiting for it", "Ranks that wait for it directly.", is_number=True),
    Column("Evidence"),
    Column("Asked for last"),
)


def listings(
    hang: Mapping[str, Any], suspects: pl.DataFrame, hangs: pl.DataFrame, scope: Scope
) -> list[Listing]:
    """Return the ranks of a hang, candidates first, and all hangs where several are.

    Args:
        hang: Row of Hangs.
        suspects: Its rows of HangSuspects.
        hangs: All rows of Hangs.
        scope: Runs of the page.
    """
    shown = suspects.sort("position").head(MOST_ROWS)
    more = suspects.height - shown.height
    pieces = {"run": "run_id", "hang": "hang_id"}
    literals = {key: _sql.literal(hang[column]) for key, column in pieces.items()}
    told = Listing(
        title="Ranks of the hang, candidates first",
        columns=_COLUMNS,
        rows=[_row(row) for row in shown.to_dicts()],
        more=plural(more, "more rank") if more else "",
        sql=_sql.filled(_SUSPECTS, attempt=str(hang["attempt"]), **literals),
    )
    return [told, *_all(hangs, scope)]


def _all(hangs: pl.DataFrame, scope: Scope) -> list[Listing]:
    if hangs.height < 2:  # noqa: PLR2004 - one is in the heading
        return []
    order = hangs.sort(
        ["last_ns", "run_id", "hang_id"], descending=[True, False, False]
    )
    shown = order.head(MOST_ROWS)
    more = hangs.height - shown.height
    rows = [
        (
            name(row["run_id"], 30),
            utc(row["last_ns"]) if row["last_ns"] is not None else "not known",
            said(row["kind"]),
            grouped(row["candidates_count"]),
            name(row["verdict"], 160),
        )
        for row in shown.to_dicts()
    ]
    titles = ("Run", "At", "Began with", "Candidates", "Finding")
    return [
        Listing(
            title="All hangs, the latest first",
            columns=tuple(Column(t, is_number=t == "Candidates") for t in titles),
            rows=rows,
            more=plural(more, "more hang") if more else "",
            sql=_sql.filled(_HANGS, where=_sql.where(scope.sql())),
        )
    ]


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    fits = row["role"] == "candidate" and not row["is_candidate"]
    role = "one of too many" if fits else said(row["role"])
    waiting = row["waiting_count"]
    return (
        rank_name(row),
        "other moment" if row["role"] == "elsewhen" else role,
        grouped(waiting) if waiting is not None else "",
        name(row["evidence"], 160),
        _last(row),
    )


def rank_name(row: Mapping[str, Any]) -> str:
    """Return a rank, or its place in a group where only that is known."""
    if row["rank"] is not None:
        return grouped(row["rank"])
    host = f" on {name(row['host'], 24)}" if row["host"] else ""
    return f"{row['rank_in_group']} of {name(row['group_id'], 24)}{host}"


def operation(row: Mapping[str, Any]) -> str:
    """Return the operation of a row: its kind and number."""
    number = f" {grouped(row['sequence'])}" if row["sequence"] is not None else ""
    kind = str(row["kind"] or "collective")
    return f"{both_in_words(row['parallel_kind'] or 'unknown', kind)}{number}"


def _last(row: Mapping[str, Any]) -> str:
    if row["last_kind"] is None:
        return "nothing known" if row["rank"] is not None else ""
    number = row["last_sequence"]
    place = f" {grouped(number)}" if number is not None else ""
    return f"{name(row['last_kind'], 24)}{place}, {row['last_state']}"
