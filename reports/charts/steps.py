"""Drawings over the steps of a run."""

from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import LINE, QUIET, finished

#: With more steps than this, ranges are areas and no longer lines of their own.
_MOST_RANGES: Final = 40

#: Steps that are written under the axis.
_MOST_TICKS: Final = 6

#: Room beside the first and the last step. [px]
_PADDING: Final = 16


def ranges(
    rows: pl.DataFrame,
    title: str,
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
) -> Spec:
    """Draw a share of each step, its middle and its range, for several parts.

    Args:
        rows: `part`, `step`, `low`, `middle` and `high`, and columns of tips.
        title: Title of the share, with its unit.
        colours: Colour of each part.
        tips: Columns and titles of the tooltip.
    """
    few = rows["step"].n_unique() <= _MOST_RANGES
    steps = alt.Axis(
        title="step", format=",d", values=_ticks(rows), labelOverlap=True, grid=False
    )
    scale = alt.Scale(nice=False, zero=False, padding=_PADDING)
    x = alt.X("step:Q", axis=steps, scale=scale)
    base = alt.Chart(rows).encode(x=x, color=_parts.parts("part", colours))
    axis = alt.Axis(
        title=title, format=".0%", grid=True, gridColor=LINE, labelColor=QUIET
    )
    low = alt.Y("low:Q", axis=axis, scale=alt.Scale(zero=True))
    mark = (
        base.mark_rule(strokeWidth=2, opacity=0.45)
        if few
        else base.mark_area(opacity=0.22)
    )
    line = base.mark_line(strokeWidth=1.6).encode(y="middle:Q")
    shape = alt.Shape("part:N", legend=None)
    dots = base.mark_point(size=60 if few else 20, filled=True, opacity=1).encode(
        y="middle:Q", shape=shape, tooltip=_parts.tooltip(tips)
    )
    chart = alt.layer(mark.encode(y=low, y2="high:Q"), line, dots)
    return finished(chart.properties(width="container", height=230))


def _ticks(rows: pl.DataFrame) -> list[int]:
    """Return steps to write under the axis: all where they are few, always the last."""
    seen = rows["step"].unique().sort(descending=True)
    return sorted(seen.gather_every(-(-len(seen) // _MOST_TICKS)).to_list())
