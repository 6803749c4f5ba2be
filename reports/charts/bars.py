"""Bars: a waterfall, a ranking, a stack."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import INK, LINE, QUIET, finished


def waterfall(rows: pl.DataFrame, unit: str) -> Spec:
    """Draw what was paid, what each account took from it, and what is left.

    Args:
        rows: `label`, `meaning`, `start`, `end` and `text` of each bar, in order.
        unit: Title of the axis, with its unit.
    """
    largest = _largest(rows, "end")
    shown = _parts.placed(rows, "start", "end", largest)
    base = alt.Chart(shown).encode(y=_parts.rows_axis(shown))
    x = alt.X(
        "start:Q",
        scale=_parts.from_zero(largest),
        axis=_parts.number_axis(unit, largest),
    )
    tips = [alt.Tooltip("label:N", title="account"), alt.Tooltip("text:N", title="is")]
    bars = base.mark_bar(height={"band": 0.66}).encode(
        x=x, x2="end:Q", color=_meanings(shown), tooltip=tips
    )
    return _sized(alt.layer(bars, *_parts.labels(base, "start", "end")), shown)


def ranking(
    rows: pl.DataFrame, unit: str, tips: Sequence[tuple[str, str]], mark: float = 0.0
) -> Spec:
    """Draw one bar for each row, from zero, its value written on it.

    Args:
        rows: `label`, `meaning`, `value` and `text`, in order, and columns of tips.
        unit: Title of the axis, with its unit.
        tips: Columns and titles of the tooltip.
        mark: A value to draw a line at; zero draws none.
    """
    largest = max(_largest(rows, "value"), mark)
    shown = _parts.placed(rows.with_columns(zero=0.0), "zero", "value", largest)
    base = alt.Chart(shown).encode(y=_parts.rows_axis(shown))
    axis = _parts.number_axis(unit, largest)
    bars = base.mark_bar(height={"band": 0.66}).encode(
        x=alt.X("value:Q", scale=_parts.from_zero(largest), axis=axis),
        color=_meanings(shown),
        tooltip=[alt.Tooltip(f"{column}:N", title=title) for column, title in tips],
    )
    layers = [bars, *_parts.labels(base, "zero", "value")]
    if mark:
        line = alt.Chart(pl.DataFrame({"mark": [mark]})).mark_rule(
            color=INK, strokeDash=[4, 3]
        )
        layers.append(line.encode(x="mark:Q"))
    return _sized(alt.layer(*layers), shown)


def stack(
    rows: pl.DataFrame,
    unit: str,
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
    form: str = "",
) -> Spec:
    """Draw one bar for each label, cut into parts that stand in a fixed order.

    Args:
        rows: `label`, `part` and `value`, and columns of tips.
        unit: Title of the axis, with its unit.
        colours: Colour of each part, in the order of drawing.
        tips: Columns and titles of the tooltip.
        form: Format of the axis; by size where empty.
    """
    ranks = {part: i for i, part in enumerate(colours)}
    shown = rows.with_columns(
        order=pl.col("part").replace_strict(ranks, return_dtype=pl.Int32)
    )
    sums = shown.group_by("label").agg(pl.col("value").sum())
    largest = _largest(sums, "value")
    axis = _parts.number_axis(unit, largest)
    if form:
        axis = alt.Axis(title=unit, format=form)
    bars = alt.Chart(shown).mark_bar(
        height={"band": 0.72}, stroke="white", strokeWidth=1
    )
    return _sized(
        bars.encode(
            x=alt.X("value:Q", scale=_parts.from_zero(largest), axis=axis),
            y=_parts.rows_axis(shown),
            color=_parts.parts("part", colours),
            order="order:Q",
            tooltip=[alt.Tooltip(f"{column}:N", title=title) for column, title in tips],
        ),
        shown,
    )


def days(rows: pl.DataFrame, unit: str, colours: Mapping[str, str]) -> Spec:
    """Draw one column for each day, cut into parts.

    Args:
        rows: `day`, `part` and `value`.
        unit: Title of the axis, with its unit.
        colours: Colour of each part, in the order of drawing.
    """
    ranks = {part: i for i, part in enumerate(colours)}
    shown = rows.with_columns(
        order=pl.col("part").replace_strict(ranks, return_dtype=pl.Int32)
    )
    sums = shown.group_by("day").agg(pl.col("value").sum())
    axis = _parts.number_axis(unit, _largest(sums, "value"), grid=True, gridColor=LINE)
    days_axis = alt.Axis(
        title="day (UTC)", labelAngle=0, labelOverlap="greedy", labelColor=QUIET
    )
    chart = alt.Chart(shown).mark_bar(stroke="white", strokeWidth=1)
    drawn = chart.encode(
        x=alt.X("day:O", axis=days_axis),
        y=alt.Y("value:Q", axis=axis),
        color=_parts.parts("part", colours),
        order="order:Q",
        tooltip=[
            alt.Tooltip("day:N"),
            alt.Tooltip("part:N"),
            alt.Tooltip("value:Q", format=".3~s", title=unit),
        ],
    )
    return finished(drawn.properties(width="container", height=200))


def strip(rows: pl.DataFrame, colours: Mapping[str, str]) -> Spec:
    """Draw one bar that is everything, cut into its parts.

    Args:
        rows: `part`, `start`, `end` (shares of one) and `text`, in order.
        colours: Colour of each part.
    """
    base = alt.Chart(rows)
    bars = base.mark_bar(height=34, stroke="white", strokeWidth=1).encode(
        x=alt.X("start:Q", axis=None, scale=alt.Scale(domain=[0, 1], nice=False)),
        x2="end:Q",
        color=_parts.parts("part", colours),
        tooltip=[alt.Tooltip("part:N"), alt.Tooltip("text:N", title="is")],
    )
    return finished(bars.properties(width="container", height=36))


def _meanings(rows: pl.DataFrame) -> alt.Color:
    return _parts.meanings(
        "meaning", rows["meaning"].unique(maintain_order=True).to_list()
    )


def _largest(rows: pl.DataFrame, column: str) -> float:
    return float(rows[column].cast(pl.Float64).max() or 0.0)  # type: ignore[arg-type]


def _sized(chart: Any, rows: pl.DataFrame) -> Spec:
    height = _parts.ROW * rows["label"].n_unique()
    return finished(chart.properties(width="container", height=height))
