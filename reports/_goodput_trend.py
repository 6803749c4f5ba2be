"""The share of useful time, day by day."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.goodput_days import GoodputDays
from reports import _sql
from reports._numbers import percent
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import plural
from reports.theme import COLOURS

#: Parts of a day's paid time, with the SQL of each and its meaning, in drawing order.
_PARTS: Final = (
    ("in steps that counted", "training_gpu_ns", "productive"),
    ("checkpoint stall", "checkpoint_stall_gpu_ns", "stalled"),
    ("done again or restart", "recompute_gpu_ns + restart_gpu_ns", "broken"),
    ("spare or in repair", "unallocated_gpu_ns", "idle"),
    ("not known", "unattributed_gpu_ns", "unknown"),
)

#: Columns that are still told apart on a phone; with more days, months are drawn.
_MOST_DAYS: Final = 62

#: A single column compares with nothing.
_FEWEST: Final = 2

#: Earliest day that a calendar can have told.
_FIRST_DAY: Final = "2000-01-01"

_ABOUT: Final = About(
    definition="Of the GPU time that was paid for in a UTC day, the part in steps that"
    " counted, whatever they were made of, and what became of the rest. A step across"
    " midnight counts for both days.",
    source="the ledger, see How each number is made",
    blind_spots="A step that was done again is lost on the day it was first done, and"
    " that only shows when it is done again: the last day may still look too good.",
)

_SQL: Final = """\
SELECT day, part, part_ns / sum(part_ns) OVER (PARTITION BY day) AS share
FROM (
  SELECT left(day, $length) AS day, part, sum(part_ns)::DOUBLE AS part_ns
  FROM (
$parts
  )
  ${where}GROUP BY ALL
)
WHERE part_ns > 0
ORDER BY day, part"""

_PART: Final = """\
    SELECT run_id, day, $label AS part, $names AS part_ns
    FROM goodput_days"""


def charts(frames: Frames, scope: Scope) -> list[Chart]:
    """Return the shares of each day, where there are at least two days."""
    from reports.charts import bars

    days = _days(frames, scope)
    count = days["day"].n_unique()
    if count < _FEWEST:
        return []
    each, length = ("day", 10) if count <= _MOST_DAYS else ("month", 7)
    numbers = _numbers(days, length)
    colours = {label: COLOURS[meaning] for label, _, meaning in _PARTS}
    columns = plural(numbers["day"].n_unique(), each)
    return [
        Chart(
            name="goodput-days",
            title=f"Share of the paid time of each {each}",
            summary=f"A column for each of {columns} (UTC): the lowest part is the time"
            " in steps that counted.",
            spec=bars.days(_drawn(numbers), "share of paid GPU time [%]", colours),
            numbers=numbers,
            sql=_query(length, scope),
            about=_ABOUT,
            sample=f"{columns} with time that was paid for",
            legend=colours,
        )
    ]


def _days(frames: Frames, scope: Scope) -> pl.DataFrame:
    columns = [name for _, names, _ in _PARTS for name in names.split(" + ")]
    return (
        scope.of_runs(frames[GoodputDays])
        .filter(GoodputDays.day.col >= _FIRST_DAY)
        .with_columns(pl.col(columns).cast(pl.Int128))
        .select("day", *columns)
        .collect()
    )


def _numbers(days: pl.DataFrame, length: int) -> pl.DataFrame:
    sums = {label: pl.sum_horizontal(names.split(" + ")) for label, names, _ in _PARTS}
    long = (
        days.select(pl.col("day").str.head(length), **sums)
        .unpivot(list(sums), index="day", variable_name="part", value_name="ns")
        .group_by("day", "part")
        .agg(pl.col("ns").sum())
    )
    whole = pl.col("ns").sum().over("day").cast(pl.Float64)
    return (
        long.with_columns(share=pl.col("ns").cast(pl.Float64) / whole)
        .filter(pl.col("ns") > 0)
        .select("day", "part", "share")
        .sort("day", "part")
    )


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    return numbers.select(
        "day", "part", value=pl.col("share") * 100, text=said_by("share", percent)
    )


def _query(length: int, scope: Scope) -> str:
    parts = [
        _sql.filled(_PART, label=_sql.literal(label), names=names)
        for label, names, _ in _PARTS
    ]
    return _sql.filled(
        _SQL,
        length=str(length),
        parts="\n    UNION ALL\n".join(parts),
        where=_sql.where(f"day >= '{_FIRST_DAY}'", scope.sql()),
    )
