"""How long it goes well between stops, beside a constant rate."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.interruption_gaps import InterruptionGaps
from reports import _sql
from reports._numbers import THIN, percent, significant
from reports._rate_shown import Row, of_row, where_row
from reports._section import About, Chart
from reports._texts import said_by
from reports._words import name, plural
from reports.theme import COLOURS, INK

#: Steps from which a curve says more than its numbers.
_LEAST: Final = 5

#: Most points that are drawn; between them the curve falls by less than a pixel.
_MOST: Final = 1_000

_SQL: Final = """\
SELECT CAST(gap_ns AS DOUBLE) / 3.6e12 AS hours, at_risk_count, ended_count,
       survival_ratio, low_survival_ratio, high_survival_ratio, exponential_ratio
FROM interruption_gaps
WHERE $row
ORDER BY gap_ns"""

_ABOUT: Final = About(
    definition="Share of gaps between unplanned interruptions that last longer, in time"
    " that the run was up. Dashed: the same at a constant rate, exp(-gap / MTBF). Band:"
    " 95 %.",
    source="Kaplan and Meier 1958; Greenwood's interval on the log-log scale; the gap"
    " since the last stop is not over",
    blind_spots="Standing still between attempts is no part of a gap. A mean of short"
    " and long spells looks like neither.",
)

#: Columns of shares: before any time has passed, all gaps last.
_ALL: Final = (
    "survival_ratio",
    "low_survival_ratio",
    "high_survival_ratio",
    "exponential_ratio",
)

_COLOURS: Final = {"seen": COLOURS["broken"], "constant rate": INK}

_TIPS: Final = (
    ("gap", "gap"),
    ("lasting", "last longer"),
    ("constant", "at a constant rate"),
    ("at_risk_count", "gaps that long"),
)


def chart(frames: Frames, row: Row) -> list[Chart]:
    """Return the survival curve of a run; nothing below five steps.

    Args:
        frames: The tables.
        row: The rate that the page leads with.
    """
    from reports.charts import survivals

    numbers = _numbers(frames, row)
    if numbers.height < _LEAST:
        return []
    stops = int(numbers["ended_count"].sum())
    return [
        Chart(
            name="rates-gaps",
            title="Time between interruptions [share of gaps that last longer]",
            summary=f"A curve that falls from all gaps to"
            f" {percent(numbers['survival_ratio'][-1])} over"
            f" {significant(numbers['hours'][-1])} h, beside that of a constant rate.",
            spec=survivals.falling(
                _drawn(numbers),
                ("time between interruptions [h]", "gaps that last longer [%]"),
                _COLOURS,
                _TIPS,
            ),
            numbers=numbers,
            sql=_sql.filled(_SQL, row=where_row(row)),
            about=_ABOUT,
            sample=f"{plural(stops, 'interruption')} of {name(row['run_id'], 30)}",
            legend=_COLOURS,
        )
    ]


def _numbers(frames: Frames, row: Row) -> pl.DataFrame:
    rows = of_row(frames[InterruptionGaps], row).sort("gap_ns")
    return rows.select(
        hours=pl.col("gap_ns").cast(pl.Float64) / 3.6e12,
        at_risk_count="at_risk_count",
        ended_count="ended_count",
        survival_ratio="survival_ratio",
        low_survival_ratio="low_survival_ratio",
        high_survival_ratio="high_survival_ratio",
        exponential_ratio="exponential_ratio",
    ).collect()


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    every = -(-numbers.height // _MOST)
    last = pl.int_range(pl.len()) == pl.len() - 1
    thinned = numbers.filter((pl.int_range(pl.len()) % every == 0) | last)
    first = pl.DataFrame({"hours": 0.0} | dict.fromkeys(_ALL, 1.0))
    rows = pl.concat([first, thinned], how="diagonal")
    return rows.select(
        "at_risk_count",
        x="hours",
        share="survival_ratio",
        low=pl.col("low_survival_ratio"),
        high=pl.col("high_survival_ratio"),
        line="exponential_ratio",
        gap=said_by("hours", lambda hours: f"{significant(hours)}{THIN}h"),
        lasting=said_by("survival_ratio", percent),
        constant=said_by("exponential_ratio", percent),
    )
