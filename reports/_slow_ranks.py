"""Slow GPUs and groups: a ranking and a table."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import polars as pl

from reports import _ledger, _sql
from reports._numbers import compact, grouped, percent
from reports._runs import MOST_ROWS
from reports._section import About, Chart, Column, Listing, Scope
from reports._texts import named, said_by
from reports._words import name, plural, said
from reports.dollars import dollars, figure

if TYPE_CHECKING:
    from decimal import Decimal

#: Steps of a block where no threshold says so. [1]
_BLOCK_STEPS: Final = 10

_KINDS: Final = {"gpu": "GPU", "dp_rank": "replica"}

_SQL: Final = """\
SELECT run_id, scope, scope_id, slowdown_ratio, first_step, last_step
FROM straggler_ranks
${where}ORDER BY lost_gpu_ns DESC, run_id, scope_id, first_step
LIMIT $most"""

_DRAWN: Final = (
    "run_id",
    "scope",
    "scope_id",
    "slowdown_ratio",
    "first_step",
    "last_step",
)

_ABOUT: Final = About(
    definition="Slowdown: own work over the median of the peers, median over the steps"
    " of the spell; the bar is slowdown minus one.",
    source="minimum effect of 1 %, gate of max(2 %, 5 robust sd), q-values after"
    " Benjamini and Hochberg (1995)",
    blind_spots="A source that sees only some waits shows all members of a slow group"
    " alike.",
)

_TIPS: Final = (
    ("label", "who"),
    ("identity", "identity"),
    ("run", "run"),
    ("text", "slower by"),
)

_LISTING_SQL: Final = """\
SELECT * FROM straggler_ranks
${where}ORDER BY lost_gpu_ns DESC, run_id, scope_id, first_step"""


def fewest_steps(scope: Scope) -> int:
    """Return how many steps a test takes: the third block has begun. [1]"""
    block = scope.provenance.thresholds.get("straggler_block_steps", _BLOCK_STEPS)
    return 2 * int(block) + 1


def who(row: Mapping[str, object], *, at_start: bool = True) -> str:
    """Return what a row of StragglerRanks flags, in words.

    Args:
        row: The row.
        at_start: Whether a sentence starts with it.
    """
    scope = str(row["scope"])
    if scope == "gpu" and row["rank"] is not None:
        on = f" on {name(str(row['host']), 30)}" if row["host"] else ""
        found = f"rank {row['rank']}{on}"
    elif scope == "gpu" and row["host"]:
        identity = name(str(row["scope_id"]), 16)
        found = f"a GPU on {name(str(row['host']), 30)} ({identity})"
    else:
        found = f"{_KINDS.get(scope, scope)} {name(str(row['scope_id']))}"
    return found[0].upper() + found[1:] if at_start else found


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
    drawn = _drawn(top)
    found = plural(slow.height, "slow spell", "slow spells")
    return [
        Chart(
            name="stragglers-slowdown",
            title="How much slower than their peers [%]",
            summary=f"{plural(top.height, 'bar')}, the first at {drawn['text'][0]}.",
            spec=bars.ranking(drawn, "slower than peers [%]", _TIPS),
            numbers=top.select(_DRAWN),
            sql=_sql.filled(_SQL, most=str(MOST_ROWS), where=_sql.where(scope.sql())),
            about=_ABOUT,
            sample=f"{found}, {top.height} drawn, the dearest first",
        )
    ]


def _drawn(top: pl.DataFrame) -> pl.DataFrame:
    slower = pl.col("slowdown_ratio") - 1
    return top.select(
        label=pl.Series([who(row) for row in top.to_dicts()]),
        meaning=pl.lit("waiting"),
        value=100 * slower,
        text=said_by(slower, percent),
        run=named("run_id"),
        identity=named("scope_id"),
    )


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
            Column("Identity", "UUID of the GPU, else what the source calls it."),
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
        more=plural(more, "more slow spell") if more else "",
        sql=_sql.filled(_LISTING_SQL, where=_sql.where(scope.sql())),
    )


def _row(row: dict[str, object], unit: _ledger.Unit, scope: Scope) -> tuple[str, ...]:
    lost = int(str(row["lost_gpu_ns"]))
    usd: Decimal = dollars(lost, scope.price(str(row["run_id"])))
    first, last = int(str(row["first_step"])), int(str(row["last_step"]))
    return (
        who(row),
        name(str(row["scope_id"]), 44),
        percent(float(str(row["slowdown_ratio"])) - 1),
        f"{grouped(first)} to {grouped(last)}",
        compact(unit.of(lost)),
        figure(usd),
        said(str(row["cause"])),
        name(str(row["evidence"] or ""), 400),
    )
