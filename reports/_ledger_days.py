"""The accounts day by day."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.lost_time import LostTime
from reports import _ledger, _sql
from reports._ledger import Unit
from reports._ledger_runs import PARTS, cases
from reports._numbers import compact
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import plural
from reports.theme import COLOURS, MEANING_OF_ACCOUNT

#: Columns that are still told apart on a phone; with more days, months are drawn.
_MOST_DAYS: Final = 62

#: A single column compares with nothing.
_FEWEST_DAYS: Final = 2

_ABOUT: Final = About(
    definition="Accounts of one meaning together, in the UTC day that the time fell"
    " into.",
    source="the ledger, see How each number is made",
    blind_spots="A day without a column was not paid for, or no file tells. Traces that"
    " count time from a moment of their own have no day.",
)

#: Earliest day that a calendar can have told: see `CLOCKS_FROM_NS`.
_FIRST_DAY: Final = "2000-01-01"

_SQL: Final = """\
SELECT left(day, $length) AS day, CASE $cases END AS part,
       sum(gpu_ns) / $ns AS gpu_time
FROM lost_time
${where}GROUP BY ALL
HAVING sum(gpu_ns) > 0
ORDER BY day, part"""


def chart(frames: Frames, scope: Scope) -> list[Chart]:
    """Return the accounts day by day, where there are at least two days."""
    from reports.charts import bars

    days = _days(frames, scope)
    count = days["day"].n_unique()
    if count < _FEWEST_DAYS:
        return []
    each, length = ("day", 10) if count <= _MOST_DAYS else ("month", 7)
    unit = _ledger.unit_for(int(days["gpu_ns"].sum()))
    numbers = _numbers(days, length, unit.ns)
    columns = plural(numbers["day"].n_unique(), each)
    colours = {label: COLOURS[meaning] for meaning, label in PARTS.items()}
    return [
        Chart(
            name="lost-time-days",
            title=f"Each {each}, in {unit.name}",
            summary=f"A column for each of {columns} (UTC), cut into accounts.",
            spec=bars.days(_drawn(numbers, unit), unit.title, colours),
            numbers=numbers,
            sql=_query(length, unit, scope),
            about=_ABOUT,
            sample=f"{columns} with time that was paid for",
            legend=colours,
        )
    ]


def _query(length: int, unit: Unit, scope: Scope) -> str:
    return _sql.filled(
        _SQL,
        length=str(length),
        cases=cases(),
        ns=f"{unit.ns:.1e}",
        where=_sql.where(f"day >= '{_FIRST_DAY}'", scope.sql()),
    )


def _drawn(numbers: pl.DataFrame, unit: Unit) -> pl.DataFrame:
    return numbers.select(
        "day",
        "part",
        value="gpu_time",
        text=said_by("gpu_time", lambda time: f"{compact(time)} {unit.letter}"),
    )


def _days(frames: Frames, scope: Scope) -> pl.DataFrame:
    return (
        scope.of_runs(frames[LostTime])
        .filter(LostTime.gpu_ns.col > 0, LostTime.day.col >= _FIRST_DAY)
        .group_by(LostTime.day.col, LostTime.category.col)
        .agg(LostTime.gpu_ns.col.cast(pl.Int128).sum())
        .sort("day", "category")
        .collect()
    )


def _numbers(days: pl.DataFrame, length: int, unit_ns: int) -> pl.DataFrame:
    parts = {a: PARTS[m] for a, m in MEANING_OF_ACCOUNT.items()}
    return (
        days.with_columns(
            day=pl.col("day").str.head(length),
            part=pl.col("category").replace_strict(parts),
        )
        .group_by("day", "part")
        .agg(gpu_time=pl.col("gpu_ns").sum().cast(pl.Float64) / unit_ns)
        .sort("day", "part")
    )
