"""What became of the rows of each source."""

from typing import Final

import polars as pl

from reports import _sql
from reports._numbers import grouped
from reports._runs import MOST_ROWS
from reports._section import About, Chart, Scope
from reports._texts import named, said_by
from reports._words import plural
from reports.theme import COLOURS

_SQL: Final = """\
SELECT source, count(*) AS files, sum(rows_accepted)::BIGINT AS accepted,
       sum(rows_rejected)::BIGINT AS refused, sum(rows_retired)::BIGINT AS retired
FROM ingested_files
${where}GROUP BY source
ORDER BY sum(rows_read) DESC, source
LIMIT $most"""

_ABOUT: Final = About(
    definition="Accepted: in the lake. Refused: breaks a rule, kept in rejected_rows."
    " Retired: their day is only kept as rollups.",
    source="counts at ingest: read = accepted + refused + retired",
    blind_spots="Records that no table is for make no row, and are counted in"
    " records_seen alone.",
)

#: What became of rows, in the order of drawing.
_PARTS: Final = {
    "accepted": COLOURS["productive"],
    "refused": COLOURS["broken"],
    "retired": COLOURS["unknown"],
}

_TIPS: Final = (
    ("label", "source"),
    ("part", "rows"),
    ("text", "are"),
    ("files", "files"),
)


def by_source(files: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return what became of the rows of each source.

    Args:
        files: Rows of IngestedFiles.
        scope: Runs of the page.
    """
    from reports.charts import bars

    numbers = _numbers(files)
    drawn = _drawn(numbers)
    if not drawn["value"].sum():
        return []
    where = _sql.where(scope.sql(or_none=True))
    sources = plural(numbers.height, "source")
    return [
        Chart(
            name="quality-sources",
            title="What became of the rows of each source [rows]",
            summary=f"A bar for each of {sources}, cut into {', '.join(_PARTS)}.",
            spec=bars.stack(drawn, "rows read [1]", _PARTS, _TIPS),
            numbers=numbers,
            sql=_sql.filled(_SQL, where=where, most=str(MOST_ROWS)),
            about=_ABOUT,
            sample=f"{plural(files.height, 'file')}; the {sources} with the most rows",
            legend=_PARTS,
        )
    ]


def _numbers(files: pl.DataFrame) -> pl.DataFrame:
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


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    rows = numbers.with_columns(key="source", label=named("source", 30))
    parts = rows.unpivot(
        list(_PARTS),
        index=["key", "label", "files"],
        variable_name="part",
        value_name="value",
    )
    return parts.with_columns(
        text=said_by("value", grouped),
        total=said_by(pl.col("value").sum().over("key"), grouped),
    )
