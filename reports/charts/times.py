"""Drawings over time or steps: lanes of spans, heat maps, bands."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import COLOURS, HEAT, INK, LINE, QUIET, finished

#: From this span on, times are written so. [ms]
_FORMATS: Final = (
    (200 * 86_400_000, "%Y-%m-%d"),
    (3 * 86_400_000, "%d %b"),
    (30 * 3_600_000, "%d %b %H:%M"),
    (600_000, "%H:%M"),
    (10_000, "%H:%M:%S"),
    (0, "%H:%M:%S.%L"),
)

#: With more marks than this their words would cover each other.
_MOST_WORDS: Final = 6

#: Height of a lane, without and with words above its marks. [px]
_LANE: Final = 34
_LANE_WITH_WORDS: Final = 56

#: Most pixels that a field of cells is high. [px]
_MOST_HIGH: Final = 420

#: A label so near to the edge of its drawing stands inside it. [px]
_NEAR_EDGE: Final = 24


def time_axis(from_ms: float, to_ms: float) -> alt.Axis:
    """Return the axis of a span of time, its day in the title where it is one.

    Args:
        from_ms: Start of the span. [ms]
        to_ms: End of the span. [ms]
    """
    days = {datetime.fromtimestamp(ms / 1000, UTC).date() for ms in (from_ms, to_ms)}
    form = next(form for least, form in _FORMATS if to_ms - from_ms >= least)
    only = f", {next(iter(days))}" if len(days) == 1 else ""
    return alt.Axis(
        title=f"time (UTC){only}",
        labelOverlap=True,
        labelFlush=_NEAR_EDGE,
        tickCount=5,
        format=form,
    )


def lanes(
    spans: pl.DataFrame,
    marks: pl.DataFrame,
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
) -> Spec:
    """Draw spans of time in lanes, with marks for what happened in an instant.

    Args:
        spans: `key`, `label`, `part`, `from_ms`, `to_ms` and columns of tips.
        marks: `key`, `part`, `at_ms`, `what` and columns of tips; may be empty.
        colours: Colour of each part of both.
        tips: Columns and titles of the tooltip, in both frames.
    """
    lanes_of = _parts.names(spans)
    spans, marks = (
        rows.drop("label").join(lanes_of, on="key", maintain_order="left")
        for rows in (spans, marks)
    )
    y = _parts.rows_axis(spans)
    start, end = _ends(spans, "from_ms", "to_ms")
    drawn = _spans(spans, (start, end), colours, tips).encode(y=y)
    layers = [drawn, *(_marks(marks, y, colours, tips, (start + end) / 2))]
    lane = _LANE if marks.is_empty() else _LANE_WITH_WORDS
    height = max(lane + 28, lane * spans["label"].n_unique())
    return finished(alt.layer(*layers).properties(width="container", height=height))


def _spans(
    spans: pl.DataFrame,
    ends: tuple[float, float],
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
) -> alt.Chart:
    chart = alt.Chart(spans)
    bars: alt.Chart = chart.mark_bar(height={"band": 0.42}, strokeWidth=2)
    return bars.encode(
        x=_time("from_ms", *ends),
        x2="to_ms:T",
        color=_parts.parts("part", colours),
        stroke=_instants(colours),
        tooltip=_parts.tooltip(tips),
    )


def _instants(colours: Mapping[str, str]) -> alt.Stroke:
    """Return the outline that lets a span of no length be seen."""
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Stroke("part:N", scale=scale, legend=None)


def _marks(
    marks: pl.DataFrame,
    y: alt.Y,
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
    middle: float,
) -> list[alt.Chart]:
    if marks.is_empty():
        return []
    base = alt.Chart(marks).encode(x="at_ms:T", y=y)
    points = base.mark_point(
        shape="diamond",
        size=170,
        filled=True,
        opacity=1,
        stroke="white",
        strokeWidth=1.5,
    ).encode(color=_parts.parts("part", colours), tooltip=_parts.tooltip(tips))
    if marks.height > _MOST_WORDS:
        return [points]
    late = pl.col("at_ms") > middle
    sides: tuple[tuple[pl.Expr, _parts.Align], ...] = ((late, "right"), (~late, "left"))
    words = [
        alt.Chart(side)
        .mark_text(align=align, dy=-26, baseline="middle")
        .encode(x="at_ms:T", y=y, text="what:N")
        for chosen, align in sides
        if not (side := marks.filter(chosen)).is_empty()
    ]
    return [points, *words]


def heat(rows: pl.DataFrame, titles: tuple[str, str, str], top: float) -> Spec:
    """Draw a field of cells, darker is slower.

    Args:
        rows: `key`, `label`, `from_step`, `to_step`, `value` and columns of tips;
            labels in order.
        titles: Titles of the steps, the rows and the value, with units.
        top: Value that the darkest colour stands for.
    """
    rows = _parts.told_apart(rows)
    order = rows["label"].unique(maintain_order=True).to_list()
    scale = alt.Scale(domain=[1, top], range=list(HEAT), clamp=True)
    legend = alt.Legend(
        title=titles[2], gradientLength=160, format=".2f", titleLimit=320
    )
    steps = alt.Axis(title=titles[0], format=",d", grid=False)
    named = alt.Axis(title=titles[1], labelLimit=110, labelOverlap="greedy")
    tips = (("label", "who"), ("steps", "steps"), ("text", "work over median"))
    drawn = alt.Chart(rows).mark_rect()
    chart = drawn.encode(
        x=alt.X("from_step:Q", axis=steps, scale=alt.Scale(nice=False, zero=False)),
        x2="to_step:Q",
        y=alt.Y("label:N", sort=order, axis=named),
        color=alt.Color("value:Q", scale=scale, legend=legend),
        tooltip=_parts.tooltip(tips),
    )
    height = min(_MOST_HIGH, max(120, 20 * len(order)))
    return finished(chart.properties(width="container", height=height))


def band(rows: pl.DataFrame, unit: str, tips: Sequence[tuple[str, str]]) -> Spec:
    """Draw a mean over time with the band from lowest to highest around it.

    Args:
        rows: `at_ms`, `low`, `mean`, `high` and columns of tips.
        unit: Title of the axis, with its unit.
        tips: Columns and titles of the tooltip.
    """
    axis = alt.Axis(title=unit, grid=True, gridColor=LINE, labelColor=QUIET)
    start, end = _ends(rows, "at_ms", "at_ms")
    base = alt.Chart(rows).encode(x=_time("at_ms", start, end))
    area = base.mark_area(color=COLOURS["power"], opacity=0.4).encode(
        y=alt.Y("low:Q", axis=axis, scale=alt.Scale(zero=True)), y2="high:Q"
    )
    line = base.mark_line(color=INK, strokeWidth=1.6).encode(y="mean:Q")
    dots = base.mark_point(opacity=0, size=60).encode(
        y="mean:Q", tooltip=_parts.tooltip(tips)
    )
    chart = alt.layer(area, line, dots)
    return finished(chart.properties(width="container", height=200))


def _ends(rows: pl.DataFrame, start: str, end: str) -> tuple[float, float]:
    first, last = rows.select(pl.col(start).min(), pl.col(end).max().alias("_")).row(0)
    return float(first), float(last)


def _time(field: str, from_ms: float, to_ms: float) -> alt.X:
    axis = time_axis(from_ms, to_ms)
    return alt.X(f"{field}:T", scale=alt.Scale(type="utc"), axis=axis)
