"""Bandwidth of transfers over their size."""

from typing import Final

import polars as pl

from reports import _sql
from reports._numbers import grouped, significant, size
from reports._section import Chart, Scope
from reports._words import name, plural

#: Kinds that are told apart at once.
_MOST_KINDS: Final = 4

#: Shades of the one colour that means communication, and a shape each.
_SHADES: Final = ("#2d63ad", "#7fb0e6", "#12305c", "#5a87a8")

_SQL: Final = """\
WITH timed AS (
  SELECT kind, busbw_gbs, pow(2, length(bin(bytes_total)) - 1) AS from_bytes
  FROM collective_waits
  ${where}), kinds AS (
  SELECT kind FROM timed GROUP BY kind ORDER BY count(*) DESC, kind LIMIT $most
)
SELECT kind, from_bytes, count(*) AS collectives,
       quantile_cont(busbw_gbs, 0.05) AS low_gbs,
       quantile_cont(busbw_gbs, 0.5) AS busbw_gbs,
       quantile_cont(busbw_gbs, 0.95) AS high_gbs
FROM timed JOIN kinds USING (kind)
GROUP BY kind, from_bytes
ORDER BY kind, from_bytes"""


def chart(waits: pl.LazyFrame, scope: Scope) -> list[Chart]:
    """Return bus bandwidth over size; nothing where no transfer was timed.

    Args:
        waits: Rows of CollectiveWaits.
        scope: Runs of the page.
    """
    from reports.charts import points

    numbers = _numbers(waits)
    if numbers.is_empty():
        return []
    drawn = numbers.select(
        part=pl.col("kind").map_elements(name, return_dtype=pl.String),
        x="from_bytes",
        y="busbw_gbs",
        low="low_gbs",
        high="high_gbs",
        size=pl.col("from_bytes").map_elements(
            lambda found: f"{size(int(found))} to twice that", return_dtype=pl.String
        ),
        middle=_spoken("busbw_gbs"),
        span=_spoken("low_gbs") + pl.lit(" to ") + _spoken("high_gbs"),
        count=pl.col("collectives").map_elements(grouped, return_dtype=pl.String),
    )
    kinds = drawn["part"].unique(maintain_order=True)
    colours = dict(zip(kinds, _SHADES, strict=False))
    titles = ("size of the message [B], logarithmic", "bus bandwidth [GB/s]")
    tips = (
        ("part", "kind"),
        ("size", "size"),
        ("middle", "median GB/s"),
        ("span", "5 % to 95 %"),
        ("count", "collectives"),
    )
    total = int(numbers["collectives"].sum())
    return [
        Chart(
            name="waits-busbw",
            title="Bus bandwidth over the size of the message [GB/s]",
            summary=f"{plural(numbers.height, 'point')} with their ranges; the highest"
            f" median is {significant(float(str(numbers['busbw_gbs'].max())))} GB/s.",
            spec=points.scatter(drawn, titles, colours, tips),
            numbers=numbers,
            sql=_query(scope),
            definition="busbw: size over transfer time, corrected for the kind; median"
            " and 5 % to 95 % of all collectives whose size has the same power of two."
            " Transfer runs from the last arrival to the last end, waiting left out.",
            source="PERFORMANCE.md of nccl-tests; 1 GB/s is 1e9 B/s",
            sample=f"{plural(total, 'collective')}; the {plural(len(kinds), 'kind')}"
            " seen most often",
            blind_spots="Only collectives of which every rank was seen have a transfer"
            " time.",
            legend=colours,
        )
    ]


def _query(scope: Scope) -> str:
    conditions = _sql.where("busbw_gbs IS NOT NULL", "bytes_total > 0", scope.sql())
    return _sql.filled(
        _SQL, where=conditions.replace("\n  AND", "\n    AND"), most=str(_MOST_KINDS)
    )


def _numbers(waits: pl.LazyFrame) -> pl.DataFrame:
    timed = waits.filter(
        pl.col("busbw_gbs").is_not_null() & (pl.col("bytes_total") > 0)
    ).select(
        "kind",
        "busbw_gbs",
        from_bytes=2.0 ** (63 - pl.col("bytes_total").bitwise_leading_zeros()),
    )
    kinds = (
        timed.group_by("kind")
        .agg(seen=pl.len())
        .sort(["seen", "kind"], descending=[True, False])
        .head(_MOST_KINDS)
    )
    quantile = pl.col("busbw_gbs").quantile
    return (
        timed.join(kinds.select("kind"), on="kind")
        .group_by("kind", "from_bytes")
        .agg(
            collectives=pl.len().cast(pl.Int64),
            low_gbs=quantile(0.05, "linear"),
            busbw_gbs=quantile(0.5, "linear"),
            high_gbs=quantile(0.95, "linear"),
        )
        .select("kind", "from_bytes", "collectives", "low_gbs", "busbw_gbs", "high_gbs")
        .sort("kind", "from_bytes")
        .collect()
    )


def _spoken(column: str) -> pl.Expr:
    return pl.col(column).map_elements(significant, return_dtype=pl.String)
