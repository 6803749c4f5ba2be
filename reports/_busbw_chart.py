"""Bandwidth of transfers over their size."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._numbers import grouped, significant, size
from reports._section import About, Chart, Scope
from reports._texts import named, said_by
from reports._words import plural

#: Kinds that are told apart at once.
_MOST_KINDS: Final = 4

#: Shades of the one colour that means communication; each kind has its shape, too.
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

_ABOUT: Final = About(
    definition="busbw: size over transfer time, corrected for the kind; median and 5 %"
    " to 95 % of all collectives whose size has the same power of two. Transfer runs"
    " from the last arrival to the last end, waiting left out.",
    source="PERFORMANCE.md of nccl-tests; 1 GB/s is 1e9 B/s",
    blind_spots="Only collectives of which every rank was seen have a transfer time.",
)

_TITLES: Final = ("size of the message [B], logarithmic", "bus bandwidth [GB/s]")

_TIPS: Final = (
    ("part", "kind"),
    ("size", "size"),
    ("middle", "median GB/s"),
    ("span", "5 % to 95 %"),
    ("count", "collectives"),
)


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
    drawn = _drawn(numbers)
    colours = dict(
        zip(drawn["part"].unique(maintain_order=True), _SHADES, strict=False)
    )
    seen = plural(int(numbers["collectives"].sum()), "collective")
    return [
        Chart(
            name="waits-busbw",
            title="Bus bandwidth over the size of the message [GB/s]",
            summary=f"{plural(numbers.height, 'median')} with lines from 5 % to 95 %.",
            spec=points.scatter(drawn, _TITLES, colours, _TIPS),
            numbers=numbers,
            sql=_query(scope),
            about=_ABOUT,
            sample=f"{seen}; the {plural(len(colours), 'kind')} seen most often",
            legend=colours,
        )
    ]


def _query(scope: Scope) -> str:
    timed = ("busbw_gbs IS NOT NULL", "bytes_total > 0", scope.sql())
    where = _sql.where(*timed).replace("\n", "\n  ").rstrip(" ")
    return _sql.filled(_SQL, where=where, most=str(_MOST_KINDS))


def _numbers(waits: pl.LazyFrame) -> pl.DataFrame:
    busbw = pl.col("busbw_gbs")
    power = 63 - pl.col("bytes_total").bitwise_leading_zeros()
    timed = waits.filter(busbw.is_not_null() & (pl.col("bytes_total") > 0)).select(
        "kind", "busbw_gbs", from_bytes=2.0**power
    )
    kinds = (
        timed.group_by("kind")
        .agg(seen=pl.len())
        .sort(["seen", "kind"], descending=[True, False])
        .head(_MOST_KINDS)
    )
    return (
        timed.join(kinds.select("kind"), on="kind")
        .group_by("kind", "from_bytes")
        .agg(
            collectives=pl.len().cast(pl.Int64),
            low_gbs=busbw.quantile(0.05, "linear"),
            busbw_gbs=busbw.quantile(0.5, "linear"),
            high_gbs=busbw.quantile(0.95, "linear"),
        )
        .sort("kind", "from_bytes")
        .collect()
    )


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    low, high = said_by("low_gbs", significant), said_by("high_gbs", significant)
    return numbers.select(
        part=named("kind"),
        x="from_bytes",
        y="busbw_gbs",
        low="low_gbs",
        high="high_gbs",
        size=said_by("from_bytes", lambda found: f"{size(int(found))} to twice that"),
        middle=said_by("busbw_gbs", significant),
        span=phrase("{} to {}", low, high),
        count=said_by("collectives", grouped),
    )
