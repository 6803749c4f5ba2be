"""Slow GPUs and groups: a ranking and a table."""

from typing import TYPE_CHECKING, Final

import polars as pl

from reports import _ledger, _sql
from reports._numbers import compact, grouped, percent
from reports._runs import MOST_ROWS
from reports._section import Chart, Column, Listing, Scope
from reports._words import name, plural, said
from reports.dollars import dollars

if TYPE_CHECKING:
    from decimal import Decimal

_KINDS: Final = {"gpu": "GPU", "dp_rank": "Replica"}

_SQL: Final = """\
SELECT run_id, scope, scope_id, slowdown_ratio, first_step, last_step
FROM straggler_ranks
${where}ORDER BY lost_gpu_ns DESC, run_id, scope_id
LIMIT $most"""

_LISTING_SQL: Final = """\
SELECT * FROM straggler_ranks
${where}ORDER BY lost_gpu_ns DESC, run_id, scope_id"""


def who(row: dict[str, object]) -> str:
    """Return what a row of StragglerRanks flags, in words."""
    scope = str(row["scope"])
    return f"{_KINDS.get(scope, scope.capitalize())} {name(str(row['scope_id']))}"


def ranking(slow: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return the slowdowns, the dearest first; nothing where nobody was slow.

    Args:
        slow: Rows of StragglerRanks, the dearest first.
        scope: Runs of the page.
    """
    from reports.charts import bars

    if slow.is_empty():
        return []
    top = slow.head(MOST_ROWS)
    slower = [ratio - 1 for ratio in top["slowdown_ratio"]]
    drawn = pl.DataFrame(
        {
            "label": [who(row) for row in top.to_dicts()],
            "meaning": "waiting",
            "value": [100 * ratio for ratio in slower],
            "text": [percent(ratio) for ratio in slower],
            "run": [name(run_id) for run_id in top["run_id"]],
        }
    )
    tips = (("label", "who"), ("run", "run"), ("text", "slower by"))
    return [
        Chart(
            name="stragglers-slowdown",
            title="How much slower than their peers [%]",
            summary=f"{plural(top.height, 'bar')}, the longest at"
            f" {percent(max(slower))}.",
            spec=bars.ranking(drawn, "slower than peers [%]", tips),
            numbers=top.select(
                "run_id",
                "scope",
                "scope_id",
                "slowdown_ratio",
                "first_step",
                "last_step",
            ),
            sql=_sql.filled(_SQL, most=str(MOST_ROWS), where=_sql.where(scope.sql())),
            definition="Slowdown: own work over the median of the peers, median over"
            " the steps of the spell; the bar is slowdown minus one.",
            source="minimum effect of 1 %, gate of max(2 %, 5 robust sd), q-values"
            " after Benjamini and Hochberg (1995)",
            sample=f"{plural(slow.height, 'slow GPU or group', 'slow GPUs or groups')},"
            f" {top.height} drawn, the dearest first",
            blind_spots="A source that sees only some waits shows all members of a"
            " slow group alike.",
        )
    ]


def listing(slow: pl.DataFrame, scope: Scope) -> Listing:
    """Return the dearest ten with their cost and cause.

    Args:
        slow: Rows of StragglerRanks, the dearest first.
        scope: Runs and prices of the page.
    """
    shown = slow.head(MOST_ROWS)
    more = slow.height - shown.height
    unit = _ledger.unit_for(int(slow["lost_gpu_ns"].cast(pl.Int128).sum()))
    return Listing(
        title="Slow GPUs and groups, the dearest first",
        columns=(
            Column("Who"),
            Column("Run"),
            Column(
                "Slower",
                "Own work over its peers' median, less one.",
                is_number=True,
            ),
            Column("Steps", "First to last step of the spell.", is_number=True),
            Column(unit.name, "GPU time that a repair would save.", is_number=True),
            Column("USD", is_number=True),
            Column("Cause"),
            Column("Evidence"),
        ),
        rows=[_row(row, unit, scope) for row in shown.to_dicts()],
        more=plural(more, "more slow one") if more else "",
        sql=_sql.filled(_LISTING_SQL, where=_sql.where(scope.sql())),
    )


def _row(row: dict[str, object], unit: _ledger.Unit, scope: Scope) -> tuple[str, ...]:
    lost = int(str(row["lost_gpu_ns"]))
    usd: Decimal = dollars(lost, scope.price(str(row["run_id"])))
    first, last = int(str(row["first_step"])), int(str(row["last_step"]))
    return (
        who(row),
        name(str(row["run_id"]), 30),
        percent(float(str(row["slowdown_ratio"])) - 1),
        f"{grouped(first)} to {grouped(last)}",
        compact(unit.of(lost)),
        compact(usd),
        said(str(row["cause"])),
        name(str(row["evidence"] or ""), 120),
    )
