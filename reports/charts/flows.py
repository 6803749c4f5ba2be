"""Lines from those on the left to those on the right, as wide as what flows."""

from collections.abc import Sequence
from typing import Final, Literal

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import INK, finished

#: Height of a node. [px]
_ROW: Final = 22

#: Width of the widest line. [px]
_WIDEST: Final = 11

#: Room for the words on each side, as shares of the distance between the nodes. [1]
_LEFT: Final = 0.5
_RIGHT: Final = 0.95

#: Room between a line and its word. [px]
_APART: Final = 8

_Weight = Literal["normal", "bold"]


def between(
    lines: pl.DataFrame,
    left: pl.DataFrame,
    right: pl.DataFrame,
    tips: Sequence[tuple[str, str]],
) -> Spec:
    """Draw who is tied to whom, each line as wide as its value.

    Args:
        lines: `from_y`, `to_y`, `value` and `meaning`, and columns of tips; the widest
            and most important last.
        left: `y` and `text` of the nodes on the left; `y` counts from zero.
        right: The same on the right, with `is_first` for the one that matters most.
        tips: Columns and titles of the tooltip.
    """
    rows = max(_reach(left), _reach(right))
    scale = alt.Scale(domain=[-0.5, rows - 0.5], nice=False, reverse=True)
    words = [
        _words(left, "right", 0.0, scale),
        _words(right.filter(~pl.col("is_first")), "left", 1.0, scale),
        _words(right.filter("is_first"), "left", 1.0, scale, "bold"),
    ]
    chart = alt.layer(_bands(lines, scale, tips), *words)
    return finished(chart.properties(width="container", height=_ROW * rows))


def _bands(
    lines: pl.DataFrame, scale: alt.Scale, tips: Sequence[tuple[str, str]]
) -> alt.Chart:
    shown = lines.with_columns(from_x=0.0, to_x=1.0)
    across = alt.Scale(domain=[-_LEFT, 1 + _RIGHT], nice=False)
    top = _parts.largest(lines, "value")
    width = alt.Scale(domain=[0, top or 1], range=[0.4, _WIDEST])
    bands: alt.Chart = (
        alt.Chart(shown)
        .mark_rule(opacity=0.75, strokeCap="round")
        .encode(
            x=alt.X("from_x:Q", scale=across, axis=None),
            x2="to_x:Q",
            y=alt.Y("from_y:Q", scale=scale, axis=None),
            y2="to_y:Q",
            strokeWidth=alt.StrokeWidth("value:Q", scale=width, legend=None),
            color=_parts.meanings("meaning", _in_use(lines)),
            tooltip=_parts.tooltip(tips),
        )
    )
    return bands


def _in_use(lines: pl.DataFrame) -> list[str]:
    return sorted(lines["meaning"].unique())


def _reach(nodes: pl.DataFrame) -> int:
    return int(_parts.largest(nodes, "y")) + 1


def _words(
    nodes: pl.DataFrame,
    align: _parts.Align,
    at: float,
    scale: alt.Scale,
    weight: _Weight = "normal",
) -> alt.Chart:
    away = -_APART if align == "right" else _APART
    placed = nodes.with_columns(at=pl.lit(at))
    words: alt.Chart = (
        alt.Chart(placed)
        .mark_text(align=align, dx=away, color=INK, fontWeight=weight)
        .encode(
            x=alt.X("at:Q", axis=None),
            y=alt.Y("y:Q", scale=scale, axis=None),
            text="text:N",
        )
    )
    return words
