"""Points over a logarithmic scale, with the line that was fitted to them."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor, log10
from typing import Final

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import LINE, QUIET, finished

_HEIGHT: Final = 260

#: Shape of each part, in the order of its colours, so that equal points differ.
SHAPES: Final = ("circle", "cross", "triangle", "diamond")

#: Dashes of the line of each part: equal lines show both. [px]
_DASHES: Final = ([1, 0], [7, 5], [2, 3], [10, 3])

#: Up to so many decades lines at 2 and 5 leave room for words between them. [1]
_MOST_DECADES: Final = 4


def lined(
    rows: pl.DataFrame,
    titles: tuple[str, str],
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
) -> Spec:
    """Draw points and their ranges with a line and its band, both scales logarithmic.

    Args:
        rows: `part`, `x`, `y`, `low` and `high`, all positive, and `line`, `line_low`
            and `line_high`, null where there is none.
        titles: Titles of both axes, with their units; both say that they are logs.
        colours: Colour of each part.
        tips: Columns and titles of the tooltip.
    """
    base = alt.Chart(rows).encode(
        x=_sizes(titles[0]), color=_parts.parts("part", colours)
    )
    y = _bandwidths(rows, titles[1])
    fitted = base.transform_filter("isValid(datum.line)")
    band = fitted.mark_area(opacity=0.22).encode(y=y("line_low"), y2="line_high:Q")
    dashes = alt.Scale(domain=list(colours), range=list(_DASHES[: len(colours)]))
    line = fitted.mark_line(strokeWidth=1.5).encode(
        y=y("line"), strokeDash=alt.StrokeDash("part:N", scale=dashes, legend=None)
    )
    lines = [band, line] if rows["line"].count() else []
    spans = base.mark_rule(strokeWidth=2, opacity=0.45).encode(y=y("low"), y2="high:Q")
    shapes = alt.Scale(domain=list(colours), range=list(SHAPES[: len(colours)]))
    dots = base.mark_point(size=48, filled=False, strokeWidth=1.6, opacity=1).encode(
        y=y("y"),
        shape=alt.Shape("part:N", scale=shapes, legend=None),
        tooltip=_parts.tooltip(tips),
    )
    layers = alt.layer(*lines, spans, dots)
    return finished(layers.properties(width="container", height=_HEIGHT))


def _sizes(title: str) -> alt.X:
    axis = alt.Axis(title=title, format="~s", labelOverlap=True, grid=False)
    return alt.X("x:Q", scale=alt.Scale(type="log", nice=False, padding=16), axis=axis)


def _bandwidths(rows: pl.DataFrame, title: str) -> Callable[[str], alt.Y]:
    """Return what makes the vertical place of a column."""
    values = _round_values(rows)
    axis = alt.Axis(
        title=title,
        format="~g",
        values=values,
        grid=True,
        gridColor=LINE,
        labelColor=QUIET,
        labelOverlap=True,
    )
    ends = [float(str(end)) for end in _ends(rows)]
    top = max([*values, *ends])
    scale = alt.Scale(type="log", nice=False, padding=10, domain=[min(ends), top])
    return lambda column: alt.Y(f"{column}:Q", axis=axis, scale=scale)


def _round_values(rows: pl.DataFrame) -> list[float]:
    """Return the lines across: powers of ten, with 2 and 5 where there are few.

    The last is the first above all points, so that the largest stands between two.
    """
    least, most = (float(str(found)) for found in _ends(rows))
    powers = range(floor(log10(least)), ceil(log10(most)) + 1)
    digits = (1,) if len(powers) > _MOST_DECADES else (1, 2, 5)
    values = [digit * 10.0**power for power in powers for digit in digits]
    above = [value for value in values if value > most][:1]
    return [value for value in values if least <= value <= most] + above


def _ends(rows: pl.DataFrame) -> tuple[object, object]:
    """Return the least and the greatest of points and lines. [GB/s]"""
    ends = rows.select(
        pl.min_horizontal("low", "line_low").min().alias("least"),
        pl.max_horizontal("high", "line_high").max().alias("most"),
    )
    least, most = ends.row(0)
    return least, most
