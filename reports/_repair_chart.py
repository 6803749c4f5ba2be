"""Repairs ranked by dollars: what each saves alone, beside all of them together."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import polars as pl

from reports import _repair_answers, _sql
from reports._numbers import THIN, duration, grouped
from reports._runs import MOST_ROWS
from reports._section import About, Chart, Scope
from reports._words import name, plural, said
from reports.dollars import dollars, in_words, price_sql
from reports.theme import Meaning

_SQL: Final = """\
WITH answered AS (
  SELECT *, row_number() OVER (
    PARTITION BY run_id, repair ORDER BY steps DESC, method) AS road
  FROM whatif
  ${where})
SELECT run_id, repair, method, is_bound OR scope = 'everything' AS is_bound,
       saved_gpu_ns::DOUBLE * $price / 3.6e12 AS usd,
       saved_low_gpu_ns::DOUBLE * $price / 3.6e12 AS usd_low,
       saved_high_gpu_ns::DOUBLE * $price / 3.6e12 AS usd_high
FROM answered
WHERE road = 1 AND is_reliable AND is_beyond_noise AND repair <> 'communication'
ORDER BY usd DESC, run_id, repair
LIMIT $most"""

_ABOUT: Final = About(
    definition="Simulated time of the steps seen, less that with the repair, times the"
    " ranks that wait for each other, times the price. A pale bar is nothing to be had"
    " as it stands: an upper bound, which holds if its cause went away wholly, or"
    " `everything typical`, all operations at what is usual of their kind, slow ones"
    " included. The dark line is the interval of 95 % by how"
    " blocks of steps scatter. Savings below what healthy ranks scatter are not shown.",
    source="replay of traced operations after arXiv 2505.05713; from a step log, the"
    " slowest rank ends a step: with ranks at their peers' median, the slowest of what"
    " is left does",
    blind_spots="Savings do not add: what one repair frees, the next slowest takes."
    " Each holds while all else stays as it was. `everything typical` is no bound: it"
    " also slows what is faster than typical, and a single repair can save more. From"
    " a step log, communication is taken to last as long as before, and waits to"
    " overlap no work."
    " Steps that were done twice count twice here, and once in the accounts of the"
    " ledger.",
)

#: Communication that takes no time: nobody can have it. Hidden, it is drawn.
_FREE: Final = "communication"

_TIPS: Final = (
    ("repair", "repair"),
    ("run", "run"),
    ("text", "saves"),
    ("step", "of a step"),
    ("ranks", "ranks"),
    ("method", "told by"),
    ("assumes", "assumes"),
)

_MEANINGS: Final[Mapping[str, Meaning]] = {
    "communication": "communication",
    "link": "communication",
    "data": "stalled",
    "checkpoint": "stalled",
    "clocks": "power",
    "joint": "paid",
    "everything": "paid",
    "kind": "idle",
    "gc": "idle",
}


def chart(rows: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return the ranking; nothing where no repair is worth it.

    Args:
        rows: Rows of `_repair_answers.answered`.
        scope: Runs and prices of the page.
    """
    from reports.charts import savings

    shown = _ranked(rows, scope)
    if shown.is_empty():
        return []
    top = shown.head(MOST_ROWS)
    several = top["run_id"].n_unique() > 1
    drawn = pl.DataFrame([_drawn(row, several=several) for row in top.to_dicts()])
    return [
        Chart(
            name="first-steps-repairs",
            title="What repairs would save in the steps seen [USD, % of their time]",
            summary=f"{plural(top.height, 'bar')}, the first {drawn['text'][0]},"
            f" {drawn['repair'][0]}.",
            spec=savings.savings(drawn, "saving [USD]", _TIPS),
            numbers=top.select(
                *("run_id", "repair", "method", "is_bound"),
                *("usd", "usd_low", "usd_high"),
            ),
            sql=_sql.filled(
                _SQL,
                price=price_sql(scope.prices),
                most=str(MOST_ROWS),
                where=_sql.where("method <> 'none'", scope.sql()).strip(),
            ),
            about=_ABOUT,
            sample=_sample(top, shown.height - top.height),
        )
    ]


def _sample(top: pl.DataFrame, more: int) -> str:
    steps, held = (int(str(top[column].max())) for column in ("steps", "ranks_held"))
    rest = f"; {plural(more, 'more repair')} would save less" if more else ""
    return f"up to {plural(steps, 'step')} of {plural(held, 'rank')}{rest}"


def _ranked(rows: pl.DataFrame, scope: Scope) -> pl.DataFrame:
    is_free = pl.col("repair") == _FREE
    sure = rows.filter("is_reliable", "is_beyond_noise", ~is_free)
    amounts = {
        "usd": "saved_gpu_ns",
        "usd_low": "saved_low_gpu_ns",
        "usd_high": "saved_high_gpu_ns",
    }
    priced = sure.with_columns(
        pl.Series(told, _usd(sure, column, scope), pl.Float64)
        for told, column in amounts.items()
    ).with_columns(is_bound=pl.col("is_bound") | (pl.col("scope") == "everything"))
    return priced.sort(["usd", "run_id", "repair"], descending=[True, False, False])


def _usd(rows: pl.DataFrame, column: str, scope: Scope) -> list[float | None]:
    return [
        None if gpu_ns is None else float(dollars(int(gpu_ns), scope.price(run)))
        for run, gpu_ns in rows.select("run_id", column).iter_rows()
    ]


def _drawn(row: Mapping[str, Any], *, several: bool) -> dict[str, Any]:
    amount = in_words(Decimal(str(row["usd"])))
    is_most = row["is_bound"] and row["scope"] != "everything"
    bound = f"\N{LESS-THAN OR EQUAL TO}{THIN}" if is_most else ""
    label, ratio = _repair_answers.called(row["repair"]), row["slowdown_ratio"]
    share = f" ({100 * (1 - 1 / ratio):.1f}{THIN}%)" if ratio else ""
    return {
        "label": f"{label}\n{name(row['run_id'], 20)}" if several else label,
        "repair": label,
        "meaning": _MEANINGS.get(row["scope"], "waiting"),
        "value": row["usd"],
        "low": None if row["usd_low"] is None else max(row["usd_low"], 0.0),
        "high": row["usd_high"],
        "is_bound": row["is_bound"],
        "text": f"{bound}{amount}{share}",
        "brief": f"{bound}{amount}",
        "run": name(row["run_id"]),
        "step": f"{duration(row['saved_step_ns'])} in {grouped(row['steps'])} steps",
        "ranks": name(row["ranks"] or "all"),
        "method": said(row["method"]),
        "assumes": name(row["assumption"] or "", 300),
    }
