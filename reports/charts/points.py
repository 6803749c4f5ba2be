"""Points with intervals, and points over a scale."""

from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import LINE, QUIET, finished

#: Room for words beside the largest estimate, as a multiple of it.
_WITH_WORDS: Final = 1.25


def intervals(rows: pl.DataFrame, unit: str, tips: Sequence[tuple[str, str]]) -> Spec:
    """Draw estimates with their intervals, one under the other.

    Args:
        rows: `label`, `meaning`, `value`, `low`, `high` (null: no interval known),
            `text` and `brief`, in order.
        unit: Title of the axis, with its unit.
        tips: Columns and titles of the tooltip.
    """
    shown = _parts.told_apart(rows).with_columns(at=pl.max_horizontal("value", "high"))
    end = _WITH_WORDS * _parts.largest(shown, "at")
    base = alt.Chart(shown).encode(y=_parts.rows_axis(shown))
    colour = _parts.meanings("meaning", shown["meaning"].unique(maintain_order=True))
    axis = _parts.number_axis(unit, end)
    x = alt.X("low:Q", scale=_parts.from_zero(end), axis=axis)
    spans = base.mark_rule(strokeWidth=3, opacity=0.55)
    dots = base.mark_point(size=90, filled=True, opacity=1).encode(
        x="value:Q", color=colour, tooltip=_parts.tooltip(tips)
    )
    words = base.mark_text(align="left", dx=9, text=_parts.fitting_words())
    chart = alt.layer(
        spans.encode(x=x, x2="high:Q", color=colour), dots, words.encode(x="at:Q")
    )
    height = _parts.ROW * rows.height
    return finished(chart.properties(width="container", height=height))


def scatter(
    rows: pl.DataFrame,
    titles: tuple[str, str],
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
) -> Spec:
    """Draw a middle and its range over a logarithmic scale of sizes.

    Args:
        rows: `x`, `y`, `low`, `high` and `part`.
        titles: Titles of both axes, with their units; the first says it is a log.
        colours: Colour of each part.
        tips: Columns and titles of the tooltip.
    """
    sizes = alt.Scale(type="log", nice=False, padding=16)
    named = alt.Axis(title=titles[0], format="~s", labelOverlap=True, grid=False)
    x = alt.X("x:Q", scale=sizes, axis=named)
    base = alt.Chart(rows).encode(x=x, color=_parts.parts("part", colours))
    axis = alt.Axis(title=titles[1], grid=True, gridColor=LINE, labelColor=QUIET)
    low = alt.Y("low:Q", axis=axis, scale=alt.Scale(zero=True))
    spans = base.mark_rule(strokeWidth=2, opacity=0.45).encode(y=low, y2="high:Q")
    shape = alt.Shape("part:N", legend=None)
    dots = base.mark_point(size=70, filled=True, opacity=1).encode(
        y="y:Q", shape=shape, tooltip=_parts.tooltip(tips)
    )
    chart = alt.layer(spans, dots)
    return finished(chart.properties(width="container", height=230))
