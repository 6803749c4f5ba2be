"""The lines of a plan by group, what its card leaves open, and what is assumed."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

import polars as pl

from analysis.plans import GROUPS
from reports import _sql
from reports._plan_words import difference, in_words, title
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Notes
from reports._words import listed, plural
from reports.dollars import in_words as usd_in_words

#: Groups in words.
_TITLES: Final[Mapping[str, str]] = {
    "cost": "What time costs",
    "compute": "Arithmetic",
    "memory": "Memory",
    "layout": "Layout, bubble, multiprocessors",
    "traffic": "What each kind of parallelism sends",
    "collectives": "An all-reduce over all ranks, by algorithm",
    "fabric": "Racks, switches, fibre, flows",
    "data": "Input",
    "failures": "What breaks",
    "checkpoints": "Checkpoints",
    "power": "Power",
}

_COLUMNS: Final = (
    Column("Line"),
    Column("Planned", is_number=True),
    Column("Costs", is_number=True),
    Column("Measured", is_number=True),
    Column("Difference", is_number=True),
    Column("Worked out as"),
)

_SQL: Final = """\
SELECT name, value, unit, measured, difference_ratio, formula, inputs, note
FROM plans
WHERE run_id = $run AND section = $section
ORDER BY number"""

#: How a line says what its card leaves open, and what is assumed instead.
_OPEN: Final = re.compile(r"^not told: ([^;]+)")
_ASSUMED: Final = re.compile(r"(\w+ [^;(]+) \(assumed: ([^()]*(?:\([^()]*\))?[^()]*)\)")


def listings(plan: pl.DataFrame, run_id: str) -> list[Listing]:
    """Return a table for each group of lines that has any.

    Args:
        plan: Rows of Plans of the run with their price, in order of the plan.
        run_id: The run.
    """
    found = [_group(plan.filter(pl.col("section") == one), run_id) for one in GROUPS]
    return [listing for listing in found if listing.rows]


def _group(lines: pl.DataFrame, run_id: str) -> Listing:
    """Return the lines of a group: measured ones before others, none that is empty."""
    told = (pl.col("value") != 0) | pl.col("measured").is_not_null()
    seen = lines.filter(told)
    by_place = seen.sort(pl.col("measured").is_null(), "number").head(MOST_ROWS)
    shown = by_place.sort("number")
    group = lines["section"].to_list()[0] if lines.height else GROUPS[0]
    more = lines.height - shown.height
    return Listing(
        title=_TITLES[group],
        columns=_COLUMNS,
        rows=[_row(row) for row in shown.iter_rows(named=True)],
        more=f"{plural(more, 'more line')}, some of which nothing tells"
        if more
        else "",
        sql=_sql.filled(_SQL, run=_sql.literal(run_id), section=_sql.literal(group)),
    )


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    usd = row["usd"]
    return (
        title(row["name"]),
        in_words(row["value"], row["unit"]),
        "\N{EN DASH}" if usd is None else usd_in_words(Decimal(str(usd))),
        in_words(row["measured"], row["unit"]),
        difference(row["difference_ratio"]),
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
