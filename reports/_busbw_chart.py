"""Bandwidth of transfers over their size, with the line of each group."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._latency_shown import ORDER, SERIES, SHOWN, labels, message
from reports._numbers import duration, grouped, significant
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import plural
from reports.theme import QUIET

#: Series that are told apart at once.
_MOST_SERIES: Final = 4

#: Shades of the one colour that means communication; each series has its shape, too.
_SHADES: Final = ("#2d63ad", "#7fb0e6", "#12305c", "#5a87a8")

#: Shapes of points in words.
_POINTS: Final = {
    "circle": "circles",
    "cross": "crosses",
    "triangle": "triangles",
    "diamond": "diamonds",
}

#: Columns of the chart's numbers, in their order.
_NUMBERS: Final = (
    *SERIES,
    "bytes_total",
    "timed_count",
    "p50_ns",
    "busbw_low_gbs",
    "busbw_gbs",
    "busbw_high_gbs",
    "line_busbw_low_gbs",
    "line_busbw_gbs",
    "line_busbw_high_gbs",
)

_SQL: Final = """\
WITH shown AS (
  SELECT $series
  FROM latency_anatomy
  ${where}  ORDER BY $order
  LIMIT $most
)
SELECT $numbers
FROM latency_sizes
JOIN shown ON $same
WHERE busbw_gbs > 0
ORDER BY $sorted"""

_ABOUT: Final = About(
    definition="busbw: size over transfer time, corrected for the kind; median and 5 %"
    " to 95 % of the times at each size. Line: alpha + bytes / beta, as busbw, with"
    " both at the ends of their 95 % intervals; no band where one has no end. Alpha is"
    " told by the first sizes, beta by the last: protocols between them are slower than"
    " both.",
    source="PERFORMANCE.md of nccl-tests; Hockney 1994; slopes of Theil 1950 and Sen"
    " 1968; 1 GB/s is 1e9 B/s",
    blind_spots="Only collectives of which every rank was seen have a transfer time; a"
    " source without starts tells the shortest time of a rank. Reductions in switches"
    " (NVLS, SHARP) exceed the rate of a link, rightly.",
)

_TITLES: Final = (
    "size of the message [B], logarithmic",
    "bus bandwidth [GB/s], logarithmic",
)

_TIPS: Final = (
    ("part", "transfers"),
    ("size", "size"),
    ("time", "median time"),
    ("middle", "median GB/s"),
    ("span", "5 % to 95 %"),
    ("fitted", "line GB/s"),
    ("count", "timed"),
)


def chart(series: pl.DataFrame, sizes: pl.LazyFrame, scope: Scope) -> list[Chart]:
    """Return bus bandwidth over size; nothing where none is known.

    Args:
        series: Series that are shown, in their order.
        sizes: Rows of LatencySizes.
        scope: Runs of the page.
    """
    from reports.charts import fits

    top = series.head(_MOST_SERIES)
    numbers = _numbers(top, sizes)
    if numbers.is_empty():
        return []
    drawn = _drawn(numbers, top)
    if not drawn["line"].count():
        return []  # lone points: the table has them
    parts = drawn["part"].unique(maintain_order=True)
    colours = dict(zip(parts, _SHADES, strict=False))
    lines = drawn.drop_nulls("line")["part"].n_unique()
    seen = plural(int(numbers["timed_count"].sum()), "transfer")
    of_all = f"{len(parts)} of {series.height} series, those with a line first"
    return [
        Chart(
            name="latency-busbw",
            title="Bus bandwidth over the size of the message [GB/s]",
            summary=f"{plural(numbers.height, 'median')}, {plural(lines, 'line')} with"
            " the band of its interval.",
            spec=fits.lined(drawn, _TITLES, colours, _TIPS),
            numbers=numbers,
            sql=_query(scope),
            about=_ABOUT,
            sample=f"{seen}; {of_all}",
            legend=_legend(colours),
        )
    ]


def _legend(colours: dict[str, str]) -> dict[str, str]:
    """Return the parts with the shape of their points, and what the lines are."""
    from reports.charts import fits

    points = {
        f"{part} ({_POINTS[shape]})": colour
        for (part, colour), shape in zip(colours.items(), fits.SHAPES, strict=False)
    }
    return {**points, "line: alpha + bytes / beta, fitted, with its band": QUIET}


def _query(scope: Scope) -> str:
    where = _sql.where(*SHOWN, scope.sql()).replace("\n", "\n  ").rstrip(" ")
    same = "\n  AND ".join(
        f"latency_sizes.{column} IS NOT DISTINCT FROM shown.{column}"
        for column in SERIES
    )
    nulls = {"ranks", "in_place"}
    in_order = [
        f"{c} NULLS LAST" if c in nulls else c for c in (*SERIES, "bytes_total")
    ]
    return _sql.filled(
        _SQL,
        series=", ".join(SERIES),
        where=where,
        order=ORDER,
        most=str(_MOST_SERIES),
        numbers=",\n       ".join(f"latency_sizes.{column}" for column in _NUMBERS),
        same=same,
        sorted=", ".join(f"latency_sizes.{column}" for column in in_order),
    )


def _numbers(top: pl.DataFrame, sizes: pl.LazyFrame) -> pl.DataFrame:
    keys = top.lazy().select(SERIES)
    rows = sizes.join(keys, on=list(SERIES), how="semi", nulls_equal=True)
    known = rows.filter(pl.col("busbw_gbs") > 0).select(_NUMBERS)
    return known.sort(*SERIES, "bytes_total", nulls_last=True).collect()


def _drawn(numbers: pl.DataFrame, top: pl.DataFrame) -> pl.DataFrame:
    named = top.select(SERIES).with_columns(part=pl.Series(labels(top)))
    rows = named.join(numbers, on=list(SERIES), nulls_equal=True, maintain_order="left")
    low, high = (
        said_by("busbw_low_gbs", significant),
        said_by("busbw_high_gbs", significant),
    )
    return rows.select(
        "part",
        x="bytes_total",
        y="busbw_gbs",
        low="busbw_low_gbs",
        high="busbw_high_gbs",
        line="line_busbw_gbs",
        line_low="line_busbw_low_gbs",
        line_high="line_busbw_high_gbs",
        size=said_by("bytes_total", message),
        time=said_by("p50_ns", duration),
        middle=said_by("busbw_gbs", significant),
        span=phrase("{} to {}", low, high),
        fitted=said_by("line_busbw_gbs", significant).fill_null("none"),
        count=said_by("timed_count", grouped),
    )
