"""Refused rows by the rule that they break."""

from typing import Final

import polars as pl

from analysis import Frames
from ingest.tables import RejectedRows
from reports import _sql
from reports._numbers import grouped
from reports._runs import MOST_ROWS
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import name, plural, said

_SQL: Final = """\
SELECT table_name, rule, count(*) AS refused
FROM rejected_rows
WHERE file_id IN (SELECT file_id FROM ingested_files $where)
GROUP BY table_name, rule
ORDER BY refused DESC, table_name, rule
LIMIT $most"""

_ABOUT: Final = About(
    definition="The rule that a record breaks; a duplicate lost against another file's"
    " row of the same key.",
    source="rules of the tables, see gpuledger tables",
    blind_spots="A record is refused by the first rule it breaks.",
)

_TIPS: Final = (("rule", "rule"), ("table", "table"), ("text", "refused"))


def chart(frames: Frames, files: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return refused rows by rule; nothing where none was refused.

    Args:
        frames: The tables.
        files: Rows of IngestedFiles.
        scope: Runs of the page.
    """
    from reports.charts import bars

    numbers = _numbers(frames, files)
    if numbers.is_empty():
        return []
    drawn = _drawn(numbers)
    where = _sql.where(scope.sql(or_none=True)).strip()
    rules = plural(numbers.height, "rule")
    return [
        Chart(
            name="quality-rules",
            title="Refused rows by rule and table [rows]",
            summary=f"{plural(numbers.height, 'bar')}, the longest {drawn['text'][0]},"
            f" {drawn['label'][0]}.",
            spec=bars.ranking(drawn, "rows refused [1]", _TIPS),
            numbers=numbers,
            sql=_sql.filled(_SQL, where=where, most=str(MOST_ROWS)),
            about=_ABOUT,
            sample=f"{plural(files.height, 'file')}; the {rules} broken most often",
        )
    ]


def _numbers(frames: Frames, files: pl.DataFrame) -> pl.DataFrame:
    return (
        frames[RejectedRows]
        .join(files.lazy().select("file_id"), on="file_id", how="semi")
        .group_by("table_name", "rule")
        .agg(refused=pl.len().cast(pl.Int64))
        .sort(["refused", "table_name", "rule"], descending=[True, False, False])
        .head(MOST_ROWS)
        .collect()
    )


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    rule = said_by("rule", lambda found: name(said(found)))
    table = said_by("table_name", name)
    return numbers.select(
        label=rule,
        rule=rule,
        table=table,
        meaning=pl.lit("broken"),
        value=pl.col("refused").cast(pl.Float64),
        text=said_by("refused", grouped),
    )
