"""Which sources cover which time: gaps are hours without data."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.placing import CLOCKS_FROM_NS
from ingest.tables import IngestedFiles
from reports import _sql
from reports._numbers import period
from reports._runs import NS_PER_DAY
from reports._section import About, Chart, Scope
from reports._texts import named, said_by
from reports._words import plural
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

_ABOUT: Final = About(
    definition="From the earliest to the latest time in the files of a source that"
    " begin in the same UTC day.",
    source="times in the files themselves",
    blind_spots="Gaps between the files of one day are not drawn, nor are files that"
    " count time from a moment of their own.",
)

_TIPS: Final = (("label", "source"), ("when", "when"), ("files", "files"))


def chart(frames: Frames, scope: Scope) -> list[Chart]:
    """Return a lane for each source, a bar for each UTC day that files begin in."""
    from reports.charts import times

    numbers = _numbers(frames, scope)
    if numbers.is_empty():
        return []
    drawn = _drawn(numbers)
    sources = plural(drawn["key"].n_unique(), "source")
    files = plural(int(numbers["files"].sum()), "file")
    colours = {"telemetry": COLOURS["communication"]}
    return [
        Chart(
            name="unknown-coverage",
            title="Which time each source covers (UTC)",
            summary=f"A lane for each of {sources}, with bars from the first to the"
            " last time in its files of a day.",
            spec=times.lanes(drawn, drawn.clear(), colours, _TIPS),
            numbers=numbers,
            sql=_query(scope),
            about=_ABOUT,
            sample=f"{files} with times, {sources}",
        )
    ]


def _query(scope: Scope) -> str:
    dated = (f"first_ns >= {CLOCKS_FROM_NS}", "last_ns IS NOT NULL")
    where = _sql.where(*dated, scope.sql(or_none=True)).replace("\n", "\n  ")
    return _sql.filled(
        _SQL, where=where.rstrip(" "), most=str(_MOST), day=str(NS_PER_DAY)
    )


def _numbers(frames: Frames, scope: Scope) -> pl.DataFrame:
    files = scope.of_runs(frames[IngestedFiles], or_none=True)
    timed = (
        files.select("source", "first_ns", "last_ns")
        .drop_nulls()
        .filter(IngestedFiles.first_ns.col >= CLOCKS_FROM_NS)
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


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    return numbers.select(
        key="source",
        label=named("source", 30),
        part=pl.lit("telemetry"),
        from_ms=pl.col("from_ns") / 1e6,
        to_ms=pl.col("to_ns") / 1e6,
        files="files",
        when=said_by(
            pl.struct("from_ns", "to_ns"),
            lambda row: period(row["from_ns"], row["to_ns"]),
        ),
    )
