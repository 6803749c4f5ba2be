"""The lines of a plan by group, what its card leaves open, and what is assumed."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

import polars as pl

from reports import _sql
from reports._plan_tables import TABLES, Shown
from reports._plan_titles import title
from reports._plan_words import beside, in_words
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Notes
from reports._words import listed, plural
from reports.dollars import in_words as usd_in_words

_COLUMNS: Final = (
    Column("Line"),
    Column("Planned", is_number=True),
    Column(
        "As measured",
        "The line with inputs that telemetry told, as the card does not.",
        is_number=True,
    ),
    Column("Costs", is_number=True),
    Column(
        "Worked out as",
        "Names are fields of the run card or other lines. N: ranks; n: nodes; p: ranks"
        " of a node; L(k): log2 k, rounded up. Rounds inside nodes take inside_latency,"
        " those between them round_latency.",
    ),
)

_BESIDE: Final = (
    Column("Line"),
    Column("Planned", is_number=True),
    Column("Measured", is_number=True),
    Column("Difference", is_number=True),
    Column("Measured in"),
)

_SQL: Final = """\
SELECT section, name, value, unit, formula, inputs, note
FROM plans
WHERE run_id = $run AND section IN ($sections)
ORDER BY number"""

_MEASURED: Final = """\
SELECT section, name, value, unit, measured, difference_ratio, measured_from
FROM plans
WHERE run_id = $run AND measured IS NOT NULL
ORDER BY number"""

#: Columns of which a line has one.
_EITHER: Final = (1, 2)

_DASH: Final = "\N{EN DASH}"

#: How a line says what its card leaves open, and what is assumed instead.
_OPEN: Final = re.compile(r"^not told: ([^;]+)")
_ASSUMED: Final = re.compile(r"(\w+ [^;(]+) \(assumed: ([^()]*(?:\([^()]*\))?[^()]*)\)")


def listings(plan: pl.DataFrame, run_id: str) -> list[Listing]:
    """Return what was measured, and the lines of the plan that say most.

    Args:
        plan: Rows of Plans of the run with their price, in order of the plan.
        run_id: The run.
    """
    tables = [_table(plan, run_id, one) for one in TABLES]
    return [one for one in (_measured(plan, run_id), *tables) if one.rows]


def _measured(plan: pl.DataFrame, run_id: str) -> Listing:
    """Return measured lines, those with a source of their own before others."""
    seen = plan.filter(pl.col("measured").is_not_null())
    follows = pl.col("measured_from").str.starts_with("this line")
    shown = seen.sort(follows, "number").head(MOST_ROWS).sort("number")
    return Listing(
        title="Planned and measured",
        columns=_BESIDE,
        rows=[
            (
                title(row["name"]),
                *beside(row),
                row["measured_from"],
            )
            for row in shown.iter_rows(named=True)
        ],
        more=_more(seen.height - shown.height),
        sql=_sql.filled(_MEASURED, run=_sql.literal(run_id)),
    )


def _table(plan: pl.DataFrame, run_id: str, told: Shown) -> Listing:
    lines = plan.filter(pl.col("section").is_in(told.sections))
    shown = lines.filter(pl.col("name").is_in(told.lines), pl.col("value") != 0)
    rows = [_row(row) for row in shown.iter_rows(named=True)]
    kept = _filled(rows)
    return Listing(
        title=told.title,
        columns=tuple(_COLUMNS[place] for place in kept),
        rows=[tuple(row[place] for place in kept) for row in rows],
        more=_more(lines.height - shown.height),
        sql=_sql.filled(
            _SQL,
            run=_sql.literal(run_id),
            sections=", ".join(map(_sql.literal, told.sections)),
        ),
    )


def _filled(rows: list[tuple[str, ...]]) -> list[int]:
    """Return places of columns: planned and measured ones where some row has them."""
    return [
        place
        for place in range(len(_COLUMNS))
        if place not in _EITHER or any(row[place] != _DASH for row in rows)
    ]


def _more(count: int) -> str:
    return plural(count, "more line") if count else ""


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    usd, value = row["usd"], in_words(row["value"], row["unit"], row["name"])
    return (
        title(row["name"]),
        *((_DASH, value) if row["is_seen"] else (value, _DASH)),
        _DASH if usd is None else usd_in_words(Decimal(str(usd))),
        row["formula"],
    )


def notes(plan: pl.DataFrame) -> list[Notes]:
    """Return what a card leaves open, and what is assumed where it does.

    Args:
        plan: Rows of Plans of the run.
    """
    open_fields, assumed = list(_left_open(plan)), list(_taken(plan))
    parts = (
        ("What the run card does not say, and lines that wait for it", open_fields),
        ("What is assumed where it does not say", assumed),
    )
    return [Notes(head, facts) for head, facts in parts if facts]


def _left_open(plan: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield each field of a card with the lines that need it."""
    waiting: dict[str, list[str]] = {}
    for line, note in plan.select("name", "note").drop_nulls().iter_rows():
        found = _OPEN.match(note)
        for field in found[1].split(", ") if found else ():
            waiting.setdefault(field, []).append(title(line))
    for field, lines in sorted(waiting.items()):
        yield field, f"{plural(len(lines), 'line')}: {listed(lines)}"


def _taken(plan: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield each assumption with its reason and the number of lines it is in."""
    texts = plan["inputs"].to_list()
    counts = Counter(found for text in texts for found in set(_ASSUMED.findall(text)))
    for (what, why), count in sorted(counts.items()):
        yield what, f"{why}; in {plural(count, 'line')}"
