"""Our failure rates beside published ones, with their intervals."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.interrupt_rates import InterruptRates
from reports import _sql
from reports._numbers import significant
from reports._published import PUBLISHED
from reports._section import Chart, Scope
from reports._words import name, plural

#: Fewer events than this are counted, and make no rate.
FEWEST_FOR_RATE: Final = 5

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

_COLUMNS: Final = ("cluster", "level", "count", "rate", "low", "high")


def overall(frames: Frames, scope: Scope) -> pl.DataFrame:
    """Return the rates over all causes, of clusters as a whole.

    Args:
        frames: The tables.
        scope: Runs of the page.
    """
    rates = scope.of_runs(frames[InterruptRates], or_none=True).filter(
        (InterruptRates.scope.col == "cluster")
        & (InterruptRates.category.col == "all")
        & (InterruptRates.component.col == "all")
    )
    return rates.sort("level", "cluster").collect()


def chart(rates: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return our rates beside published ones; nothing below five events.

    Args:
        rates: Rows of `overall`.
        scope: Runs of the page.
    """
    from reports.charts import points

    ours = _ours(rates)
    if ours.is_empty():
        return []
    numbers = pl.concat([ours, _published()])
    drawn = numbers.select(
        label=pl.Series(_labels(ours)),
        meaning=pl.Series(["broken"] * ours.height + ["idle"] * len(PUBLISHED)),
        value="rate",
        low="low",
        high="high",
        text=pl.struct("rate", "low", "high").map_elements(
            _spoken, return_dtype=pl.String
        ),
        brief=pl.col("rate").map_elements(significant, return_dtype=pl.String),
        counts=pl.Series(_counts(ours)),
    )
    tips = (("label", "who"), ("text", "rate"), ("counts", "counts"))
    sources = sorted({one.source for one in PUBLISHED})
    return [
        Chart(
            name="interruptions-rates",
            title="Failures per 1000 node-days, with 95 % intervals",
            summary=f"{plural(ours.height, 'rate')} of this lake above"
            f" {len(PUBLISHED)} published ones, each with its interval where counts"
            " are known.",
            spec=points.intervals(drawn, "failures per 1000 node-days [1]", tips),
            numbers=numbers,
            sql=_sql.filled(
                _SQL,
                fewest=str(FEWEST_FOR_RATE),
                most=str(_MOST),
                published=_published_sql(),
            ),
            definition="Events over observed node time. Incidents compare with node"
            " failures (Meta, InfiniteHBD), interruptions with job interruptions"
            " (Llama 3). Grey: published.",
            source=f"exact Poisson interval (Garwood 1936); {', '.join(sources)}",
            sample="nodes while attempts held them; at least 5 events",
            blind_spots="A node without logs counts as healthy. The published rates"
            " count different things, so that only large differences say much.",
        )
    ]


def _ours(rates: pl.DataFrame) -> pl.DataFrame:
    return (
        rates.filter(
            pl.col("level").is_in(["incident", "interruption"])
            & (pl.col("count") >= FEWEST_FOR_RATE)
            & pl.col("per_1000_node_days").is_not_null()
        )
        .sort(["level", "cluster"], descending=[True, False])
        .head(_MOST)
        .select(
            "cluster",
            "level",
            "count",
            rate="per_1000_node_days",
            low="per_1000_node_days_low",
            high="per_1000_node_days_high",
        )
    )


def _published() -> pl.DataFrame:
    rows = [(p.label, "published", None, p.rate, p.low, p.high) for p in PUBLISHED]
    types = [pl.String, pl.String, pl.Int64, pl.Float64, pl.Float64, pl.Float64]
    schema = dict(zip(_COLUMNS, types, strict=True))
    return pl.DataFrame(rows, schema=schema, orient="row")


def _published_sql() -> str:
    def number(value: float | None) -> str:
        return "NULL" if value is None else f"{value}"

    return ",\n".join(
        f"  ({_sql.literal(p.label)}, 'published', NULL, {p.rate},"
        f" {number(p.low)}, {number(p.high)})"
        for p in PUBLISHED
    )


def _labels(ours: pl.DataFrame) -> list[str]:
    mine = [f"{r['level']}s, {name(r['cluster'], 20)}" for r in ours.to_dicts()]
    return [*mine, *[p.label for p in PUBLISHED]]


def _counts(ours: pl.DataFrame) -> list[str]:
    mine = [plural(count, "event") for count in ours["count"]]
    return [*mine, *[p.counts for p in PUBLISHED]]


def _spoken(row: dict[str, float | None]) -> str:
    rate, low, high = row["rate"] or 0.0, row["low"], row["high"]
    if low is None or high is None:
        return significant(rate)
    return f"{significant(rate)} ({significant(low)} to {significant(high)})"
