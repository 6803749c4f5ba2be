"""Bars: a waterfall, a ranking, a stack, columns of days, a strip."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts, _stacks
from reports.theme import LINE, QUIET, finished


def waterfall(rows: pl.DataFrame, unit: str) -> Spec:
    """Draw what was paid, what each account took from it, and what is left.

    Args:
        rows: `label`, `meaning`, `start`, `end`, `text` and `brief` of each bar, in
            order.
        unit: Title of the axis, with its unit.
    """
    largest = _parts.largest(rows, "end")
    shown = _parts.placed(rows, "start", "end", largest)
    base = alt.Chart(shown).encode(y=_parts.rows_axis(shown))
    bars = base.mark_bar(height={"band": 0.66}).encode(
        x=_bar_axis("start", unit, largest),
        x2="end:Q",
        color=_meanings(shown),
        tooltip=_parts.tooltip((("label", "account"), ("text", "is"))),
    )
    return _sized(alt.layer(bars, *_parts.labels(base, "start", "end")), shown)


def ranking(rows: pl.DataFrame, unit: str, tips: Sequence[tuple[str, str]]) -> Spec:
    """Draw one bar for each row, from zero, its value written on it.

    Args:
        rows: `label` (of two lines with a line break), `meaning`, `value` and `text`,
            in order, and columns of tips.
        unit: Title of the axis, with its unit.
        tips: Columns and titles of the tooltip.
    """
    largest = _parts.largest(rows, "value")
    shown = _parts.placed(
        _parts.told_apart(rows).with_columns(zero=0.0), "zero", "value", largest
    )
    breaks = bool(shown["label"].str.contains("\n", literal=True).any())
    base = alt.Chart(shown).encode(y=_parts.rows_axis(shown, breaks=breaks))
    bars = base.mark_bar(height={"band": 0.66}).encode(
        x=_bar_axis("value", unit, largest),
        color=_meanings(shown),
        tooltip=_parts.tooltip(tips),
    )
    return _sized(alt.layer(bars, *_parts.labels(base, "zero", "value")), shown)


def stack(
    rows: pl.DataFrame,
    unit: str,
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
    form: str = "",
) -> Spec:
    """Draw one bar for each label, cut into parts that stand in a fixed order.

    Args:
        rows: `key`, `label`, `part`, `value` and `text`, and columns of tips; `total`
            in words where short bars are to carry it.
        unit: Title of the axis, with its unit.
        colours: Colour of each part, in the order of drawing.
        tips: Columns and titles of the tooltip.
        form: Format of the axis; by size where empty.
    """
    shown = _stacks.stacked(_parts.told_apart(rows), "label", colours)
    largest = _parts.largest(shown, "end")
    base = alt.Chart(shown).encode(y=_parts.rows_axis(shown))
    x = _bar_axis("start", unit, largest, form)
    bars = base.mark_bar(height={"band": 0.72}, stroke="white", strokeWidth=1).encode(
        x=x,
        x2="end:Q",
        color=_parts.parts("part", colours),
        tooltip=_parts.tooltip(tips),
    )
    texts = [_stacks.middles(base, largest), *_totals(shown, largest)]
    return _sized(alt.layer(bars, *texts), shown)


def _totals(shown: pl.DataFrame, largest: float) -> list[alt.Chart]:
    if "total" not in shown.columns:
        return []
    last = shown.unique("key", keep="last", maintain_order=True)
    return [_stacks.totals(alt.Chart(last).encode(y=_parts.rows_axis(shown)), largest)]


def days(rows: pl.DataFrame, unit: str, colours: Mapping[str, str]) -> Spec:
    """Draw one column for each day, cut into parts.

    Args:
        rows: `day`, `part`, `value` and `text`.
        unit: Title of the axis, with its unit.
        colours: Colour of each part, in the order of drawing.
    """
    shown = _stacks.stacked(rows, "day", colours)
    axis = _parts.number_axis(unit, _parts.largest(shown, "end"))
    axis["grid"], axis["gridColor"], axis["labelColor"] = True, LINE, QUIET
    named = alt.Axis(
        title="day (UTC)", labelAngle=0, labelOverlap="greedy", grid=False, zindex=1
    )
    chart = alt.Chart(shown).mark_bar(stroke="white", strokeWidth=1)
    drawn = chart.encode(
        x=alt.X("day:O", axis=named, scale=alt.Scale(paddingInner=0.2)),
        y=alt.Y("start:Q", axis=axis),
        y2="end:Q",
        color=_parts.parts("part", colours),
        tooltip=_parts.tooltip((("day", "day"), ("part", "part"), ("text", "is"))),
    )
    return finished(drawn.properties(width="container", height=200))


def strip(rows: pl.DataFrame, colours: Mapping[str, str]) -> Spec:
    """Draw one bar that is everything, cut into its parts.

    Args:
        rows: `part`, `start`, `end` (shares of one) and `text`, in order.
        colours: Colour of each part.
    """
    bars = alt.Chart(rows).mark_bar(height=38, stroke="white", strokeWidth=1)
    drawn = bars.encode(
        x=alt.X("start:Q", axis=None, scale=alt.Scale(domain=[0, 1], nice=False)),
        x2="end:Q",
        color=_parts.parts("part", colours),
        tooltip=_parts.tooltip((("part", "part"), ("text", "is"))),
    )
    return finished(drawn.properties(width="container", height=40))


def _bar_axis(field: str, unit: str, largest: float, form: str = "") -> alt.X:
    axis = _parts.number_axis(unit, largest)
    if form:
        axis["format"] = form
    return alt.X(f"{field}:Q", scale=_parts.from_zero(largest), axis=axis)


def _meanings(rows: pl.DataFrame) -> alt.Color:
    present = rows["meaning"].unique(maintain_order=True).to_list()
    return _parts.meanings("meaning", present)


def _sized(chart: Any, rows: pl.DataFrame) -> Spec:
    height = _parts.ROW * rows["label"].n_unique()
    return finished(chart.properties(width="container", height=height))
