"""A cost over what one can choose: parts on top of each other, ends and points."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import INK, LINE, PAPER, QUIET, finished

#: Words stand on a rim of paper, so that lines below do not cross them.
_LOOKS: Final[tuple[dict[str, Any], ...]] = (
    {"color": PAPER, "stroke": PAPER, "strokeWidth": 4, "strokeJoin": "round"},
    {"color": INK},
)

Align = Literal["left", "center", "right"]

_HEIGHT: Final = 280

#: How high words stand above their point, of the first and of the second. [px]
_ABOVE: Final = (-10, -26)

#: Lengths of time that a person would mark on an axis. [s]
_MARKS: Final = (
    *(0.001, 0.01, 0.1, 1, 3, 10, 30),
    *(60, 180, 600, 1800, 3600, 10_800, 36_000),
    *(86_400, 259_200, 864_000, 2_592_000),
)

#: The same in words.
_SPOKEN: Final = (
    "datum.value < 1 ? format(datum.value * 1000, '~g') + ' ms'"
    " : datum.value < 60 ? format(datum.value, '~g') + ' s'"
    " : datum.value < 3600 ? format(datum.value / 60, '~g') + ' min'"
    " : datum.value < 86400 ? format(datum.value / 3600, '~g') + ' h'"
    " : format(datum.value / 86400, '~g') + ' d'"
)


def layered(
    rows: pl.DataFrame,
    points: pl.DataFrame,
    titles: tuple[str, str],
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
) -> Spec:
    """Draw what each choice costs, its ends dashed, and the choices that were made.

    Args:
        rows: `x` (time in seconds, positive), `part`, `start` and `end` of each part,
            and `low` and `high`, null where an end is not known. [%]
        points: `x`, `y`, `zero`, `label`, the `side` of its words and their `place`
            (0 or 1: the second stands higher), and columns of tips.
        titles: Titles of both axes with their units; the first says that it is a log.
        colours: Colour of each part, in the order of drawing.
        tips: Columns and titles of the tooltip of points.
    """
    base = alt.Chart(rows).encode(x=_times(rows, titles[0]))
    top = max(_parts.largest(rows, "end"), _parts.largest(rows, "high"))
    y = alt.Y(
        "start:Q",
        scale=_parts.from_zero(min(1.04 * top, 100.0)),
        axis=alt.Axis(title=titles[1], grid=True, gridColor=LINE, labelColor=QUIET),
    )
    areas = base.mark_area(opacity=0.9, line=False).encode(
        y=y, y2="end:Q", color=_parts.parts("part", colours)
    )
    ends = [
        base.transform_filter(f"isValid(datum.{end})")
        .mark_line(strokeDash=[4, 4], strokeWidth=1.4, color=INK)
        .encode(y=f"{end}:Q")
        for end in ("low", "high")
        if rows[end].count()
    ]
    layers = alt.layer(areas, *ends, *_points(points, tips))
    return finished(layers.properties(width="container", height=_HEIGHT))


def _points(points: pl.DataFrame, tips: Sequence[tuple[str, str]]) -> list[alt.Chart]:
    """Return the choices with a line down to the axis and their words."""
    base = alt.Chart(points).encode(x="x:Q")
    rules = base.mark_rule(color=INK, strokeWidth=1).encode(y="y:Q", y2="zero:Q")
    dots = base.mark_point(filled=True, size=80, color=INK, opacity=1).encode(
        y="y:Q", tooltip=_parts.tooltip(tips)
    )
    sides: tuple[tuple[str, Align, int], ...] = (
        ("left", "right", -4),
        ("right", "left", 4),
    )
    words = [
        base.transform_filter(f"datum.side === '{side}' && datum.place === {place}")
        .mark_text(align=align, dx=dx, dy=dy, fontWeight="bold", **look)
        .encode(y="y:Q", text="label:N")
        for side, align, dx in sides
        for place, dy in enumerate(_ABOVE)
        for look in _LOOKS
    ]
    return [rules, dots, *words]


def _times(rows: pl.DataFrame, title: str) -> alt.X:
    """Return the axis of lengths of time, at those a person would say."""
    ends = rows.select(least=pl.col("x").min(), most=pl.col("x").max()).row(0)
    values = [mark for mark in _MARKS if ends[0] <= mark <= ends[1]]
    axis = alt.Axis(
        title=title,
        values=values,
        labelExpr=_SPOKEN,
        labelOverlap=True,
        grid=False,
        ticks=True,
    )
    scale = alt.Scale(type="log", nice=False, domain=list(ends))
    return alt.X("x:Q", scale=scale, axis=axis)
