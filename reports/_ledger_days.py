"""The accounts day by day."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.lost_time import LostTime
from reports import _ledger, _ledger_runs, _sql
from reports._numbers import compact
from reports._section import Chart, Scope
from reports._words import plural
from reports.theme import COLOURS, MEANING_OF_ACCOUNT

#: Columns that are still told apart on a phone; with more days, months are drawn.
_MOST_DAYS: Final = 62

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
    if days.is_empty() or days["day"].n_unique() < 2:  # noqa: PLR2004 - nothing to see
        return []
    length = 10 if days["day"].n_unique() <= _MOST_DAYS else 7
    unit = _ledger.unit_for(int(days["gpu_ns"].sum()))
    numbers = _numbers(days, length, unit.ns)
    parts = _ledger_runs.PARTS
    colours = {label: COLOURS[meaning] for meaning, label in parts.items()}
    drawn = numbers.rename({"gpu_time": "value"}).with_columns(
        text=pl.col("value").map_elements(
            lambda time: f"{compact(time)} {unit.letter}", return_dtype=pl.String
        )
    )
    count = numbers["day"].n_unique()
    each = "day" if length == 10 else "month"  # noqa: PLR2004 - YYYY-MM-DD
    return [
        Chart(
            name="lost-time-days",
            title=f"Each {each}, in {unit.name}",
            summary=f"{plural(count, 'column')}, one for each {each} (UTC), cut into"
            " accounts.",
            spec=bars.days(drawn, unit.title, colours),
            numbers=numbers,
            sql=_sql.filled(
                _SQL,
                length=str(length),
                cases=_ledger_runs.cases(),
                ns=f"{unit.ns:.1e}",
                where=_sql.where(scope.sql()),
            ),
            definition="Accounts of one meaning together, in the UTC day that the time"
            " fell into.",
            source="the ledger, see How each number is made",
            sample=f"{plural(count, each)} with time that was paid for",
            blind_spots="A day without a column was not paid for, or no file tells.",
            legend=colours,
        )
    ]


def _days(frames: Frames, scope: Scope) -> pl.DataFrame:
    return (
        scope.of_runs(frames[LostTime])
        .filter(LostTime.gpu_ns.col > 0)
        .group_by(LostTime.day.col, LostTime.category.col)
        .agg(LostTime.gpu_ns.col.cast(pl.Int128).sum())
        .sort("day", "category")
        .collect()
    )


def _numbers(days: pl.DataFrame, length: int, unit_ns: int) -> pl.DataFrame:
    parts = {a: _ledger_runs.PARTS[m] for a, m in MEANING_OF_ACCOUNT.items()}
    return (
        days.with_columns(
            day=pl.col("day").str.head(length),
            part=pl.col("category").replace_strict(parts),
        )
        .group_by("day", "part")
        .agg(gpu_time=pl.col("gpu_ns").sum().cast(pl.Float64) / unit_ns)
        .sort("day", "part")
    )
