"""Everything that was paid for as one bar, cut by meaning."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import Final

import polars as pl

from reports import _ledger_shown, _sql
from reports._ledger import ACCOUNTS
from reports._ledger_shown import Shown
from reports._section import About, Chart, Scope
from reports._words import plural, said
from reports.theme import COLOURS, MEANING_OF_ACCOUNT

#: What the meanings are called, in the order of drawing.
PARTS: Final[Mapping[str, str]] = {
    "productive": "useful work",
    "communication": "communication",
    "waiting": "waiting",
    "stalled": "stalls",
    "broken": "broken",
    "idle": "idle",
    "unknown": "not known",
}

_SQL: Final = """\
SELECT CASE $cases END AS part,
       sum(gpu_ns) / 3.6e12 AS gpu_hours
FROM lost_time
${where}GROUP BY part
HAVING sum(gpu_ns) > 0
ORDER BY gpu_hours DESC, part"""

_ABOUT: Final = About(
    definition="Each GPU-second that was paid for goes to the first account that"
    " applies to it; a colour stands for the accounts of one meaning.",
    source="the ledger, see How each number is made",
    blind_spots="Time outside allocations is not paid for here, so it is not here.",
)


def by_meaning(found: Sequence[Shown]) -> dict[str, Shown]:
    """Return the accounts of each meaning together, empty ones left out.

    Args:
        found: Accounts as they stand on the page.
    """
    sums = {}
    for meaning in PARTS:
        names = [name for name, its in MEANING_OF_ACCOUNT.items() if its == meaning]
        part = _ledger_shown.of(found, *names)
        if part.gpu_ns:
            sums[meaning] = part
    return sums


def holds(meaning: str) -> str:
    """Return which accounts a meaning holds, each with what it is.

    Args:
        meaning: One of PARTS.
    """
    names = [name for name, its in MEANING_OF_ACCOUNT.items() if its == meaning]
    return "; ".join(f"{said(name)}: {ACCOUNTS[name]}" for name in names) + "."


def chart(rows: pl.DataFrame, found: Sequence[Shown], scope: Scope) -> Chart:
    """Return the bar.

    Args:
        rows: Rows of `_ledger.by_run`.
        found: Their accounts as they stand on the page.
        scope: Runs of the page.
    """
    from reports.charts import bars

    drawn = _drawn(found)
    colours = {PARTS[meaning]: COLOURS[meaning] for meaning in by_meaning(found)}
    parts = ", ".join(f"{row['part']} {row['text']}" for row in drawn.to_dicts())
    paid = _ledger_shown.together("paid", found).said_usd()
    return Chart(
        name="cost-split",
        title="What the time paid for went into",
        summary=f"One bar, cut into {parts}.",
        spec=bars.strip(drawn, colours),
        numbers=_numbers(rows),
        sql=_sql.filled(_SQL, cases=_cases(), where=_sql.where(scope.sql())),
        about=_ABOUT,
        sample=f"{plural(rows['run_id'].n_unique(), 'run')}, {paid}",
    )


def _drawn(found: Sequence[Shown]) -> pl.DataFrame:
    parts = by_meaning(found)
    shares = [Decimal(part.gpu_ns) / part.paid_ns for part in parts.values()]
    edges = pairwise(accumulate(shares, initial=Decimal()))
    return pl.DataFrame(
        [
            {
                "part": PARTS[meaning],
                "start": float(start),
                "end": float(end),
                "text": parts[meaning].said_share(),
            }
            for meaning, (start, end) in zip(parts, edges, strict=True)
        ]
    )


def _cases() -> str:
    return "category " + " ".join(
        f"WHEN {_sql.literal(account)} THEN {_sql.literal(PARTS[meaning])}"
        for account, meaning in MEANING_OF_ACCOUNT.items()
    )


def _numbers(rows: pl.DataFrame) -> pl.DataFrame:
    labels = {a: PARTS[meaning] for a, meaning in MEANING_OF_ACCOUNT.items()}
    return (
        rows.with_columns(part=pl.col("category").replace_strict(labels))
        .group_by("part")
        .agg(gpu_hours=pl.col("gpu_ns").sum().cast(pl.Float64) / 3.6e12)
        .sort(["gpu_hours", "part"], descending=[True, False])
    )
