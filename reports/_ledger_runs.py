"""Runs beside each other: what each paid, and which share was useful."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from reports import _ledger, _ledger_shown, _sql
from reports._ledger_strip import by_meaning
from reports._numbers import grouped
from reports._runs import MOST_ROWS
from reports._section import About, Chart, Column, Listing, Scope
from reports._texts import named
from reports._words import name, plural
from reports.theme import COLOURS, MEANING_OF_ACCOUNT

#: What accounts of one meaning are called together.
PARTS: Final = {
    "productive": "productive",
    "communication": "exposed communication",
    "waiting": "waiting",
    "stalled": "stalls: input, checkpoints",
    "broken": "restart, recompute",
    "idle": "idle, unallocated",
    "unknown": "unattributed",
}

#: Runs that the query of all runs gives.
_ALL: Final = 1_000_000

_UNIT: Final = "share of the time paid for [%]"

_TIPS: Final = (("label", "run"), ("part", "part"), ("text", "share"))

_ABOUT: Final = About(
    definition="Accounts of one meaning together, over the time that the run paid for.",
    source="the ledger, see How each number is made",
    blind_spots="Runs with less evidence have more unattributed time, not less lost"
    " time.",
)

_SQL: Final = """\
WITH paid AS (
  SELECT run_id, sum(gpu_ns) AS paid_ns FROM lost_time
  ${where}GROUP BY run_id ORDER BY paid_ns DESC, run_id LIMIT $most
)
SELECT run_id, CASE $cases END AS part,
       sum(gpu_ns)::DOUBLE / any_value(paid_ns)::DOUBLE AS share_ratio
FROM lost_time JOIN paid USING (run_id)
GROUP BY run_id, part
HAVING sum(gpu_ns) > 0
ORDER BY run_id, part"""


@dataclass(frozen=True, slots=True)
class Compared:
    """Runs side by side; nothing where there is but one."""

    charts: tuple[Chart, ...] = ()
    listings: tuple[Listing, ...] = ()


def compared(rows: pl.DataFrame, scope: Scope) -> Compared:
    """Return runs side by side.

    Args:
        rows: Rows of `_ledger.by_run`.
        scope: Runs and prices of the page.
    """
    if rows["run_id"].n_unique() == 1:
        return Compared()
    sums = rows.group_by("run_id").agg(paid_ns=pl.col("gpu_ns").sum())
    largest = sums.sort(["paid_ns", "run_id"], descending=[True, False])
    shown = largest.head(MOST_ROWS)
    return Compared(
        (_chart(rows, shown, scope),),
        (_listing(rows, shown, sums.height - shown.height, scope),),
    )


def _chart(rows: pl.DataFrame, shown: pl.DataFrame, scope: Scope) -> Chart:
    from reports.charts import bars

    numbers = _numbers(rows, shown)
    drawn = _drawn(rows, numbers, shown, scope)
    colours = {label: COLOURS[meaning] for meaning, label in PARTS.items()}
    runs = plural(shown.height, "run")
    return Chart(
        name="lost-time-runs",
        title="Runs side by side, as shares of what each paid for [%]",
        summary=f"A bar for each of {runs}, cut into accounts.",
        spec=bars.stack(drawn, _UNIT, colours, _TIPS, ".0%"),
        numbers=numbers,
        sql=_query(MOST_ROWS, scope),
        about=_ABOUT,
        sample=f"the {runs} that paid for the most GPU time",
        legend=colours,
    )


def _query(most: int, scope: Scope) -> str:
    where = _sql.where(scope.sql())
    return _sql.filled(_SQL, cases=cases(), most=str(most), where=where)


def _drawn(
    rows: pl.DataFrame, numbers: pl.DataFrame, shown: pl.DataFrame, scope: Scope
) -> pl.DataFrame:
    order = shown.select("run_id").with_row_index("place")
    texts = _texts(rows, shown, scope)
    return (
        numbers.join(order, on="run_id")
        .join(texts, on=["run_id", "part"])
        .sort("place", "part")
        .select(
            "part",
            key="run_id",
            label=named("run_id"),
            value="share_ratio",
            text="text",
        )
    )


def _texts(rows: pl.DataFrame, shown: pl.DataFrame, scope: Scope) -> pl.DataFrame:
    """Return the shares in words, rounded as in the table of runs."""
    texts = []
    for run_id in shown["run_id"]:
        own = rows.filter(pl.col("run_id") == run_id)
        found = _ledger.accounts(own, scope)
        told = _ledger_shown.shown(found, _ledger.unit_for(0))
        parts = by_meaning(told).items()
        texts += [(run_id, PARTS[m], one.said_share()) for m, one in parts]
    return pl.DataFrame(texts, schema=["run_id", "part", "text"], orient="row")


def cases() -> str:
    """Return the SQL that gives an account the name of its meaning."""
    return "category " + " ".join(
        f"WHEN {_sql.literal(account)} THEN {_sql.literal(PARTS[meaning])}"
        for account, meaning in MEANING_OF_ACCOUNT.items()
    )


def _numbers(rows: pl.DataFrame, shown: pl.DataFrame) -> pl.DataFrame:
    parts = {account: PARTS[m] for account, m in MEANING_OF_ACCOUNT.items()}
    ratio = pl.col("gpu_ns").sum().cast(pl.Float64) / pl.col("paid_ns").first().cast(
        pl.Float64
    )
    return (
        rows.join(shown, on="run_id")
        .with_columns(part=pl.col("category").replace_strict(parts))
        .group_by("run_id", "part")
        .agg(share_ratio=ratio)
        .sort("run_id", "part")
    )


def _listing(
    rows: pl.DataFrame, shown: pl.DataFrame, more: int, scope: Scope
) -> Listing:
    unit = _ledger.unit_for(int(rows["gpu_ns"].sum()))
    cells = [
        _row(rows.filter(pl.col("run_id") == run_id), run_id, unit, scope)
        for run_id in shown["run_id"]
    ]
    return Listing(
        title="Runs side by side",
        columns=(
            Column("Run"),
            Column(f"Paid, {unit.name}", is_number=True),
            Column("Productive", is_number=True),
            Column("Unattributed", is_number=True),
            Column("Elsewhere, USD", "Paid and not productive.", is_number=True),
        ),
        rows=cells,
        more=f"{grouped(more)} more runs that paid for less" if more else "",
        sql=_query(_ALL, scope),
    )


def _row(
    rows: pl.DataFrame, run_id: str, unit: _ledger.Unit, scope: Scope
) -> tuple[str, ...]:
    found = _ledger_shown.shown(_ledger.accounts(rows, scope), unit)
    lost = [one for one in found if one.category != "productive"]
    return (
        name(run_id),
        grouped(_ledger_shown.together("paid", found).time),
        _ledger_shown.of(found, "productive").said_share(),
        _ledger_shown.of(found, "unattributed").said_share(),
        grouped(_ledger_shown.together("elsewhere", lost).usd),
    )
