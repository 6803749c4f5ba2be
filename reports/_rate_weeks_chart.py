"""The rate of each week, with its interval."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.interrupt_rates import FEW_EVENTS, InterruptRates
from analysis.rate_changes import RateChanges
from reports import _sql
from reports._numbers import significant
from reports._rate_shown import WHOLE, Row, rate
from reports._runs import MOST_ROWS
from reports._section import About, Chart
from reports._texts import said_by
from reports._words import name, plural

_SQL: Final = """\
SELECT * FROM (
  SELECT r.scope_id AS week, r.count, r.per_1000_node_days,
         r.per_1000_node_days_low, r.per_1000_node_days_high, c.verdict
  FROM interrupt_rates AS r
  LEFT JOIN rate_changes AS c
    ON c.run_id = r.run_id AND c.level = r.level AND c.category = 'all'
   AND c.comparison = 'week' AND c.scope = 'run' AND c.part = r.scope_id
  WHERE r.run_id = $run AND r.level = 'interruption' AND r.scope = 'week'
    AND r.category = 'all' AND r.component = 'all'
    AND r.per_1000_node_days IS NOT NULL AND r.count >= $fewest
  ORDER BY week DESC
  LIMIT $most
)
ORDER BY week"""

_ABOUT: Final = About(
    definition="Unplanned interruptions over the node time observed in each ISO week"
    " (UTC); the first and the last week have the time that was observed in them.",
    source="exact Poisson interval (Garwood 1936); weeks differ where the conditional"
    " binomial test with Benjamini and Hochberg says so",
    blind_spots="Weeks of fewer than five are counts, in interrupt_rates: no interval"
    " is drawn for them.",
)

_TIPS: Final = (
    ("label", "week"),
    ("text", "per 1000 node-days"),
    ("counts", "interruptions"),
    ("verdict", "beside the rest"),
)


def chart(frames: Frames, row: Row) -> list[Chart]:
    """Return the rate of each week of a run; nothing below two weeks of five events.

    Args:
        frames: The tables.
        row: The rate that the page leads with.
    """
    from reports.charts import points

    numbers = _numbers(frames, row)
    if numbers.height <= 1:
        return []
    run = _sql.literal(row["run_id"])
    return [
        Chart(
            name="rates-weeks",
            title="Interruptions per 1000 node-days by week, with 95 % intervals",
            summary=f"{plural(numbers.height, 'week')}, a point each, with intervals.",
            spec=points.intervals(
                _drawn(numbers), "interruptions per 1000 node-days [1]", _TIPS
            ),
            numbers=numbers,
            sql=_sql.filled(_SQL, run=run, fewest=str(FEW_EVENTS), most=str(MOST_ROWS)),
            about=_ABOUT,
            sample=f"{name(row['run_id'], 30)}; the latest {numbers.height} weeks with"
            f" {FEW_EVENTS} interruptions or more",
        )
    ]


def _numbers(frames: Frames, row: Row) -> pl.DataFrame:
    of_run = pl.col("run_id") == row["run_id"]
    of_level = pl.col("level") == "interruption"
    weeks = frames[InterruptRates].filter(
        of_run,
        of_level,
        WHOLE,
        (pl.col("scope") == "week")
        & pl.col("per_1000_node_days").is_not_null()
        & (pl.col("count") >= FEW_EVENTS),
    )
    verdicts = frames[RateChanges].filter(
        of_run,
        of_level,
        (pl.col("category") == "all")
        & (pl.col("comparison") == "week")
        & (pl.col("scope") == "run"),
    )
    joined = weeks.select(
        "count",
        "per_1000_node_days",
        "per_1000_node_days_low",
        "per_1000_node_days_high",
        week="scope_id",
    ).join(verdicts.select("verdict", week="part"), on="week", how="left")
    latest = joined.sort("week", descending=True).head(MOST_ROWS).sort("week")
    return latest.select("week", pl.exclude("week", "verdict"), "verdict").collect()


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    is_named = pl.col("verdict").is_in(["rose", "fell"]).fill_null(value=False)
    whole = pl.struct(pl.all())
    return numbers.select(
        label="week",
        meaning=pl.when(is_named).then(pl.lit("broken")).otherwise(pl.lit("idle")),
        value="per_1000_node_days",
        low="per_1000_node_days_low",
        high="per_1000_node_days_high",
        text=said_by(whole, rate),
        brief=said_by("per_1000_node_days", significant),
        counts=pl.col("count").cast(pl.String),
        verdict=pl.col("verdict").str.replace_all("_", " "),
    )
