"""Our failure rates beside published ones, with their intervals."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.interrupt_rates import FEW_EVENTS, InterruptRates
from analysis.published_rates import PUBLISHED
from reports import _sql
from reports._numbers import significant
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import name, plural

#: Rows of ours that are drawn: more clusters than that are a query.
_MOST: Final = 6

_SQL: Final = """\
SELECT * FROM (
  SELECT cluster, level, count, per_1000_node_days AS rate,
         per_1000_node_days_low AS low, per_1000_node_days_high AS high
  FROM interrupt_rates
  WHERE scope = 'cluster' AND category = 'all' AND component = 'all'
    AND level IN ('incident', 'interruption')
    AND count >= $fewest AND per_1000_node_days IS NOT NULL
  ORDER BY level DESC, cluster
  LIMIT $most
)
UNION ALL
SELECT * FROM (VALUES
$published
)"""

_ABOUT: Final = About(
    definition="Events over observed node time. Incidents compare with node failures"
    " (Meta, InfiniteHBD), interruptions with job interruptions (Llama 3). Grey:"
    " published.",
    source="exact Poisson interval (Garwood 1936); "
    + ", ".join(sorted({one.source for one in PUBLISHED})),
    blind_spots="A node without logs counts as healthy. The published rates count"
    " different things, so that only large differences say much.",
)

_TIPS: Final = (("label", "who"), ("text", "rate"), ("counts", "counts"))


def overall(frames: Frames, scope: Scope, of: str = "cluster") -> pl.DataFrame:
    """Return the rates over all causes, of clusters or of runs as a whole.

    Args:
        frames: The tables.
        scope: Runs of the page.
        of: Scope of the rates.
    """
    rates = scope.of_runs(frames[InterruptRates], or_none=True).filter(
        (InterruptRates.scope.col == of)
        & (InterruptRates.category.col == "all")
        & (InterruptRates.component.col == "all")
    )
    return rates.sort("level", "cluster", "scope_id").collect()


def chart(rates: pl.DataFrame) -> list[Chart]:
    """Return our rates beside published ones; nothing below five events.

    Args:
        rates: Rows of `overall`, of clusters.
    """
    from reports.charts import points

    ours = _ours(rates)
    if ours.is_empty():
        return []
    numbers = pl.concat([ours, _published()])
    return [
        Chart(
            name="rates-peers",
            title="Failures per 1000 node-days, with 95 % intervals",
            summary=f"{plural(ours.height, 'rate')} of this lake above"
            f" {len(PUBLISHED)} published ones, each with its interval where counts"
            " are known.",
            spec=points.intervals(
                _drawn(numbers, ours), "failures per 1000 node-days [1]", _TIPS
            ),
            numbers=numbers,
            sql=_query(),
            about=_ABOUT,
            sample=f"nodes while attempts held them; at least {FEW_EVENTS} events",
        )
    ]


def _ours(rates: pl.DataFrame) -> pl.DataFrame:
    drawn = (
        pl.col("level").is_in(["incident", "interruption"])
        & (pl.col("count") >= FEW_EVENTS)
        & pl.col("per_1000_node_days").is_not_null()
    )
    ordered = rates.filter(drawn).sort(["level", "cluster"], descending=[True, False])
    return ordered.head(_MOST).select(
        "cluster",
        "level",
        "count",
        rate="per_1000_node_days",
        low="per_1000_node_days_low",
        high="per_1000_node_days_high",
    )


def _published() -> pl.DataFrame:
    rows = [(p.label, "published", None, p.rate, p.low, p.high) for p in PUBLISHED]
    text, number = pl.String, pl.Float64
    columns = ("cluster", "level", "count", "rate", "low", "high")
    types = (text, text, pl.Int64, number, number, number)
    return pl.DataFrame(
        rows, schema=dict(zip(columns, types, strict=True)), orient="row"
    )


def _query() -> str:
    return _sql.filled(
        _SQL, fewest=str(FEW_EVENTS), most=str(_MOST), published=_published_sql()
    )


def _published_sql() -> str:
    def number(value: float | None) -> str:
        return "NULL" if value is None else f"{value}"

    return ",\n".join(
        f"  ({_sql.literal(p.label)}, 'published', NULL, {p.rate},"
        f" {number(p.low)}, {number(p.high)})"
        for p in PUBLISHED
    )


def _drawn(numbers: pl.DataFrame, ours: pl.DataFrame) -> pl.DataFrame:
    mine = ours.to_dicts()
    labels = [f"{row['level']}s, {name(row['cluster'], 20)}" for row in mine]
    counts = [plural(row["count"], "event") for row in mine]
    return numbers.select(
        label=pl.Series([*labels, *[p.label for p in PUBLISHED]]),
        meaning=pl.Series(["broken"] * len(mine) + ["idle"] * len(PUBLISHED)),
        value="rate",
        low="low",
        high="high",
        text=said_by(pl.struct("rate", "low", "high"), _spoken),
        brief=said_by("rate", significant),
        counts=pl.Series([*counts, *[p.counts for p in PUBLISHED]]),
    )


def _spoken(row: dict[str, float | None]) -> str:
    rate, low, high = row["rate"] or 0.0, row["low"], row["high"]
    if low is None or high is None:
        return significant(rate)
    return f"{significant(rate)} ({significant(low)} to {significant(high)})"
