"""A share that falls over time, step by step, beside a smooth one."""

from collections.abc import Mapping, Sequence

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import LINE, QUIET, finished


def falling(
    rows: pl.DataFrame,
    titles: tuple[str, str],
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
) -> Spec:
    """Draw steps with their band, and the line that they are held against.

    Args:
        rows: `x`, `share`, `low` and `high` (null: not known), `line` and columns of
            tips, in order of `x`.
        titles: Titles of both axes, with their units.
        colours: Colours of the steps and of the line, in this order.
        tips: Columns and titles of the tooltip.
    """
    end = _parts.largest(rows, "x")
    axis = _parts.number_axis(titles[0], end)
    x = alt.X("x:Q", scale=_parts.from_zero(end), axis=axis)
    shares = alt.Axis(
        title=titles[1], format=".0%", grid=True, gridColor=LINE, labelColor=QUIET
    )
    y = alt.Scale(domain=[0, 1])
    base = alt.Chart(rows).encode(x=x)
    steps, line = colours.values()
    band = base.mark_area(opacity=0.18, color=steps, interpolate="step-after").encode(
        y=alt.Y("low:Q", scale=y, axis=shares), y2="high:Q"
    )
    curve = base.mark_line(color=steps, strokeWidth=2, interpolate="step-after").encode(
        y=alt.Y("share:Q", scale=y, axis=shares)
    )
    smooth = base.mark_line(color=line, strokeWidth=1.6, strokeDash=[6, 4]).encode(
        y=alt.Y("line:Q", scale=y, axis=shares)
    )
    points = base.mark_point(opacity=0, size=60).encode(
        y=alt.Y("share:Q", scale=y, axis=shares), tooltip=_parts.tooltip(tips)
    )
    layers = alt.layer(band, curve, smooth, points)
    return finished(layers.properties(width="container", height=240))
