"""Which sources cover which time: gaps are hours without data."""

from typing import Final

import polars as pl

from analysis import Frames
from ingest.tables import IngestedFiles
from reports import _sql
from reports._numbers import period
from reports._runs import NS_PER_DAY
from reports._section import Chart, Scope
from reports._words import name, plural
from reports.theme import COLOURS

#: Lanes that are read at once.
_MOST: Final = 12

_SQL: Final = """\
WITH timed AS (
  SELECT source, first_ns, last_ns
  FROM ingested_files
  ${where}), shown AS (
  SELECT source FROM timed GROUP BY source ORDER BY count(*) DESC, source LIMIT $most
)
SELECT source, first_ns // $day AS day_number, min(first_ns) AS from_ns,
       max(last_ns) AS to_ns, count(*) AS files
FROM timed JOIN shown USING (source)
GROUP BY source, day_number
ORDER BY source, day_number"""


def chart(frames: Frames, scope: Scope) -> list[Chart]:
    """Return a lane for each source, a bar for each UTC day that files begin in."""
    from reports.charts import times

    numbers = _numbers(frames, scope)
    if numbers.is_empty():
        return []
    drawn = numbers.select(
        key="source",
        label=pl.col("source").map_elements(
            lambda found: name(found, 30), return_dtype=pl.String
        ),
        part=pl.lit("telemetry"),
        from_ms=pl.col("from_ns") / 1e6,
        to_ms=pl.col("to_ns") / 1e6,
        files="files",
        when=pl.struct("from_ns", "to_ns").map_elements(
            lambda row: period(row["from_ns"], row["to_ns"]), return_dtype=pl.String
        ),
    )
    tips = (("label", "source"), ("when", "when"), ("files", "files"))
    sources = drawn["label"].n_unique()
    files = int(numbers["files"].sum())
    return [
        Chart(
            name="unknown-coverage",
            title="Which time each source covers (UTC)",
            summary=f"{plural(sources, 'lane')}, one for each source, with bars from"
            " the first to the last time in its files of a day.",
            spec=times.lanes(
                drawn, drawn.clear(), {"telemetry": COLOURS["communication"]}, tips
            ),
            numbers=numbers,
            sql=_sql.filled(
                _SQL,
                where=_sql.where(
                    "first_ns IS NOT NULL AND last_ns IS NOT NULL",
                    scope.sql(or_none=True),
                ).replace("\n  AND", "\n    AND"),
                most=str(_MOST),
                day=str(NS_PER_DAY),
            ),
            definition="From the earliest to the latest time in the files of a source"
            " that begin in the same UTC day.",
            source="times in the files themselves",
            sample=f"{plural(files, 'file')} with times, {plural(sources, 'source')}",
            blind_spots="Gaps between the files of one day are not drawn.",
        )
    ]


def _numbers(frames: Frames, scope: Scope) -> pl.DataFrame:
    timed = (
        scope.of_runs(frames[IngestedFiles], or_none=True)
        .select("source", "first_ns", "last_ns")
        .drop_nulls()
    )
    shown = (
        timed.group_by("source")
        .agg(seen=pl.len())
        .sort(["seen", "source"], descending=[True, False])
        .head(_MOST)
        .select("source")
    )
    return (
        timed.join(shown, on="source")
        .group_by("source", day_number=pl.col("first_ns") // NS_PER_DAY)
        .agg(
            from_ns=pl.col("first_ns").min(),
            to_ns=pl.col("last_ns").max(),
            files=pl.len().cast(pl.Int64),
        )
        .sort("source", "day_number")
        .collect()
    )
