"""Runs beside each other: what each paid, and which share was useful."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import polars as pl

from reports import _ledger, _sql
from reports._numbers import grouped, percent, rounding_unit
from reports._runs import MOST_ROWS
from reports._section import About, Chart, Column, Listing, Scope
from reports._texts import named, said_by
from reports._words import name, plural
from reports.dollars import rounding_unit_usd
from reports.theme import COLOURS, MEANING_OF_ACCOUNT

#: What accounts of one meaning are called together.
PARTS: Final = {
    "productive": "productive",
    "communication": "exposed communication",
    "waiting": "waiting",
    "broken": "restart, recompute, checkpoints",
    "idle": "idle",
    "unknown": "unattributed, unallocated",
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
    colours = {label: COLOURS[meaning] for meaning, label in PARTS.items()}
    runs = plural(shown.height, "run")
    return Chart(
        name="lost-time-runs",
        title="Runs side by side, as shares of what each paid for [%]",
        summary=f"A bar for each of {runs}, cut into accounts.",
        spec=bars.stack(_drawn(numbers, shown), _UNIT, colours, _TIPS, ".0%"),
        numbers=numbers,
        sql=_query(MOST_ROWS, scope),
        about=_ABOUT,
        sample=f"the {runs} that paid for the most GPU time",
        legend=colours,
    )


def _query(most: int, scope: Scope) -> str:
    where = _sql.where(scope.sql())
    return _sql.filled(_SQL, cases=cases(), most=str(most), where=where)


def _drawn(numbers: pl.DataFrame, shown: pl.DataFrame) -> pl.DataFrame:
    order = shown.select("run_id").with_row_index("place")
    return (
        numbers.join(order, on="run_id")
        .sort("place", "part")
        .select(
            "part",
            key="run_id",
            label=named("run_id"),
            value="share_ratio",
            text=said_by("share_ratio", percent),
        )
    )


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
    found = _ledger.accounts(rows, scope)
    paid = _ledger.paid(found)
    useful = _ledger.of(found, "productive")
    unknown = _ledger.of(found, "unattributed")
    step = rounding_unit(unit.of(paid.gpu_ns))
    lost = paid.usd - useful.usd
    return (
        name(run_id),
        grouped(round(unit.of(paid.gpu_ns) / step) * step),
        percent(_ledger.share(useful, paid)),
        percent(_ledger.share(unknown, paid)),
        grouped(_money(lost)),
    )


def _money(usd: Decimal) -> Decimal:
    step = rounding_unit_usd(usd)
    return round(usd / step) * step
