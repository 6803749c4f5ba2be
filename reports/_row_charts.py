"""Rows by source, and refused rows by rule."""

from typing import Final

import polars as pl

from analysis import Frames
from ingest.tables import RejectedRows
from reports import _sql
from reports._numbers import grouped
from reports._runs import MOST_ROWS
from reports._section import Chart, Scope
from reports._words import name, plural, said
from reports.theme import COLOURS

_SOURCES_SQL: Final = """\
SELECT source, count(*) AS files, sum(rows_accepted)::BIGINT AS accepted,
       sum(rows_rejected)::BIGINT AS refused, sum(rows_retired)::BIGINT AS retired
FROM ingested_files
${where}GROUP BY source
ORDER BY sum(rows_read) DESC, source
LIMIT $most"""

_RULES_SQL: Final = """\
SELECT table_name, rule, count(*) AS refused
FROM rejected_rows
WHERE file_id IN (SELECT file_id FROM ingested_files $where)
GROUP BY table_name, rule
ORDER BY refused DESC, table_name, rule
LIMIT $most"""

#: What became of rows, in the order of drawing.
_PARTS: Final = {
    "accepted": COLOURS["productive"],
    "refused": COLOURS["broken"],
    "retired": COLOURS["unknown"],
}


def by_source(files: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return what became of the rows of each source.

    Args:
        files: Rows of IngestedFiles.
        scope: Runs of the page.
    """
    from reports.charts import bars

    numbers = _sources(files)
    drawn = (
        numbers.with_columns(
            key="source",
            label=pl.col("source").map_elements(
                lambda found: name(found, 30), return_dtype=pl.String
            ),
        )
        .unpivot(
            list(_PARTS),
            index=["key", "label", "files"],
            variable_name="part",
            value_name="value",
        )
        .with_columns(
            text=pl.col("value").map_elements(grouped, return_dtype=pl.String)
        )
    )
    if not drawn["value"].sum():
        return []
    tips = (("label", "source"), ("part", "rows"), ("text", "are"), ("files", "files"))
    return [
        Chart(
            name="quality-sources",
            title="What became of the rows of each source [rows]",
            summary=f"{plural(numbers.height, 'bar')}, each cut into accepted, refused"
            " and retired.",
            spec=bars.stack(drawn, "rows read [1]", _PARTS, tips),
            numbers=numbers,
            sql=_sql.filled(
                _SOURCES_SQL,
                where=_sql.where(scope.sql(or_none=True)),
                most=str(MOST_ROWS),
            ),
            definition="Accepted: in the lake. Refused: breaks a rule, kept in"
            " rejected_rows. Retired: their day is only kept as rollups.",
            source="counts at ingest: read = accepted + refused + retired",
            sample=f"{plural(files.height, 'file')}; the"
            f" {plural(numbers.height, 'source')} with the most rows",
            blind_spots="Records that no table is for make no row, and are counted in"
            " records_seen alone.",
            legend=_PARTS,
        )
    ]


def _sources(files: pl.DataFrame) -> pl.DataFrame:
    return (
        files.group_by("source")
        .agg(
            files=pl.len().cast(pl.Int64),
            read=pl.col("rows_read").sum(),
            accepted=pl.col("rows_accepted").sum(),
            refused=pl.col("rows_rejected").sum(),
            retired=pl.col("rows_retired").sum(),
        )
        .sort(["read", "source"], descending=[True, False])
        .head(MOST_ROWS)
        .drop("read")
    )


def by_rule(frames: Frames, files: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return refused rows by rule; nothing where none was refused.

    Args:
        frames: The tables.
        files: Rows of IngestedFiles.
        scope: Runs of the page.
    """
    from reports.charts import bars

    numbers = _rules(frames, files)
    if numbers.is_empty():
        return []
    drawn = numbers.select(
        label=pl.struct("table_name", "rule").map_elements(
            lambda row: f"{name(said(row['rule']), 40)}, {name(row['table_name'], 24)}",
            return_dtype=pl.String,
        ),
        meaning=pl.lit("broken"),
        value=pl.col("refused").cast(pl.Float64),
        text=pl.col("refused").map_elements(grouped, return_dtype=pl.String),
    )
    tips = (("label", "rule and table"), ("text", "refused"))
    return [
        Chart(
            name="quality-rules",
            title="Refused rows by rule and table [rows]",
            summary=f"{plural(numbers.height, 'bar')}, the longest {drawn['text'][0]},"
            f" {drawn['label'][0]}.",
            spec=bars.ranking(drawn, "rows refused [1]", tips),
            numbers=numbers,
            sql=_sql.filled(
                _RULES_SQL,
                where=_sql.where(scope.sql(or_none=True)).strip(),
                most=str(MOST_ROWS),
            ),
            definition="The rule that a record breaks; `duplicate` lost against another"
            " file's row of the same key.",
            source="rules of the tables, see `gpuledger tables`",
            sample=f"{plural(files.height, 'file')}; the"
            f" {plural(numbers.height, 'rule')} broken most often",
            blind_spots="A record is refused by the first rule it breaks.",
        )
    ]


def _rules(frames: Frames, files: pl.DataFrame) -> pl.DataFrame:
    return (
        frames[RejectedRows]
        .join(files.lazy().select("file_id"), on="file_id", how="semi")
        .group_by("table_name", "rule")
        .agg(refused=pl.len().cast(pl.Int64))
        .sort(["refused", "table_name", "rule"], descending=[True, False, False])
        .head(MOST_ROWS)
        .collect()
    )
