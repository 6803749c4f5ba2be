"""Interruptions counted by day: for runs that stop too often to draw each stop."""

from typing import Final

import polars as pl

from reports import _sql
from reports._section import About, Chart, Scope
from reports._stop_colours import colours_of
from reports._texts import said_by
from reports._words import plural

#: Columns that are still told apart on a phone; with more days, months are drawn.
_MOST_DAYS: Final = 62

_SQL: Final = """\
SELECT left(strftime(make_timestamp(decided_ns // 1000), '%Y-%m-%d'), $length) AS day,
       category, count(*) AS stops
FROM interruptions
${where}GROUP BY ALL
ORDER BY day, category"""

_ABOUT: Final = About(
    definition="Unplanned interruptions by the UTC day that the attempt ended in, and"
    " by whose they are.",
    source="attribution as in arXiv 2410.21680",
    blind_spots="A run that hangs without an end is not counted until it ends.",
)


def chart(stops: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return a column for each day, cut by whose the interruptions are.

    Args:
        stops: Rows of Interruptions.
        scope: Runs of the page.
    """
    from reports.charts import bars

    days = _counted(stops, 10)
    if days.is_empty():
        return []
    is_long = days["day"].n_unique() > _MOST_DAYS
    each, length = ("month", 7) if is_long else ("day", 10)
    numbers = _counted(stops, length)
    colours = colours_of(numbers["category"])
    columns = plural(numbers["day"].n_unique(), each)
    return [
        Chart(
            name="interruptions-days",
            title=f"Unplanned interruptions of each {each} [1]",
            summary=f"A column for each of {columns} (UTC), cut by whose they are.",
            spec=bars.days(_drawn(numbers), "interruptions [1]", colours),
            numbers=numbers,
            sql=_query(length, scope),
            about=_ABOUT,
            sample=f"{plural(int(numbers['stops'].sum()), 'interruption')} in"
            f" {columns}",
            legend=colours,
        )
    ]


def _query(length: int, scope: Scope) -> str:
    where = _sql.where("NOT planned", "decided_ns IS NOT NULL", scope.sql())
    return _sql.filled(_SQL, length=str(length), where=where)


def _counted(stops: pl.DataFrame, length: int) -> pl.DataFrame:
    ended = stops.filter(~pl.col("planned")).drop_nulls("decided_ns")
    day = pl.from_epoch("decided_ns", time_unit="ns").dt.strftime("%Y-%m-%d")
    return (
        ended.group_by("category", day=day.str.head(length))
        .agg(stops=pl.len().cast(pl.Int64))
        .select("day", "category", "stops")
        .sort("day", "category")
    )


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    return numbers.select(
        "day",
        part="category",
        value=pl.col("stops").cast(pl.Float64),
        text=said_by("stops", lambda count: plural(count, "interruption")),
    )
