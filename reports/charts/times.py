"""Drawings over time or steps: lanes of spans, heat maps, bands."""

from collections.abc import Mapping, Sequence

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import COLOURS, HEAT, INK, LINE, QUIET, finished


def lanes(
    spans: pl.DataFrame,
    marks: pl.DataFrame,
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
) -> Spec:
    """Draw spans of time in lanes, with marks for what happened in an instant.

    Args:
        spans: `label`, `part`, `from_ms`, `to_ms` and columns of tips.
        marks: `label`, `part`, `at_ms`, `text` and columns of tips; may be empty.
        colours: Colour of each part of both.
        tips: Columns and titles of the tooltip, in both frames.
    """
    y = _parts.rows_axis(spans)
    shared = [alt.Tooltip(f"{column}:N", title=title) for column, title in tips]
    axis = alt.Axis(title="time (UTC)", labelOverlap=True, tickCount=5, format="")
    bars = (
        alt.Chart(spans)
        .mark_bar(height={"band": 0.5})
        .encode(
            x=alt.X("from_ms:T", scale=alt.Scale(type="utc"), axis=axis),
            x2="to_ms:T",
            y=y,
            color=_parts.parts("part", colours),
            tooltip=shared,
        )
    )
    layers: list[alt.Chart] = [bars]
    if marks.height:
        base = alt.Chart(marks).encode(x="at_ms:T", y=y)
        layers.append(
            base.mark_point(
                shape="diamond", size=150, filled=True, stroke="white", strokeWidth=1
            ).encode(color=_parts.parts("part", colours), tooltip=shared)
        )
    height = max(90, 44 * spans["label"].n_unique())
    return finished(alt.layer(*layers).properties(width="container", height=height))


def heat(rows: pl.DataFrame, titles: tuple[str, str, str], top: float) -> Spec:
    """Draw a field of cells, darker is slower.

    Args:
        rows: `label`, `from_step`, `to_step` and `value`; labels in order.
        titles: Titles of the steps, the rows and the value, with units.
        top: Value that the darkest colour stands for.
    """
    order = rows["label"].unique(maintain_order=True).to_list()
    scale = alt.Scale(domain=[1, top], range=list(HEAT), clamp=True)
    legend = alt.Legend(
        title=titles[2], gradientLength=160, format=".2f", titleLimit=320
    )
    height = min(420, max(120, 18 * len(order)))
    axis = alt.Axis(title=titles[1], labelLimit=110, labelOverlap="greedy")
    chart = (
        alt.Chart(rows)
        .mark_rect()
        .encode(
            x=alt.X(
                "from_step:Q",
                axis=alt.Axis(title=titles[0], format="d", grid=False),
                scale=alt.Scale(nice=False, zero=False),
            ),
            x2="to_step:Q",
            y=alt.Y("label:N", sort=order, axis=axis),
            color=alt.Color("value:Q", scale=scale, legend=legend),
            tooltip=[
                alt.Tooltip("label:N", title="who"),
                alt.Tooltip("from_step:Q", title="from step"),
                alt.Tooltip("to_step:Q", title="to step"),
                alt.Tooltip("value:Q", title="work over median", format=".3f"),
            ],
        )
    )
    return finished(chart.properties(width="container", height=height))


def band(rows: pl.DataFrame, unit: str, tips: Sequence[tuple[str, str]]) -> Spec:
    """Draw a mean over time with the band from lowest to highest around it.

    Args:
        rows: `at_ms`, `low`, `mean`, `high` and columns of tips.
        unit: Title of the axis, with its unit.
        tips: Columns and titles of the tooltip.
    """
    colour = COLOURS["power"]
    axis = alt.Axis(title=unit, grid=True, gridColor=LINE, labelColor=QUIET)
    time = alt.Axis(title="time (UTC)", labelOverlap=True, tickCount=5, format="")
    base = alt.Chart(rows).encode(
        x=alt.X("at_ms:T", scale=alt.Scale(type="utc"), axis=time)
    )
    area = base.mark_area(color=colour, opacity=0.35).encode(
        y=alt.Y("low:Q", axis=axis, scale=alt.Scale(zero=True)), y2="high:Q"
    )
    line = base.mark_line(color=INK, strokeWidth=1.6).encode(y="mean:Q")
    shared = [alt.Tooltip(f"{column}:N", title=title) for column, title in tips]
    dots = base.mark_point(opacity=0, size=60).encode(y="mean:Q", tooltip=shared)
    chart = alt.layer(area, line, dots)
    return finished(chart.properties(width="container", height=200))
