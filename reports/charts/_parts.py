"""Pieces that several drawings share."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import altair as alt
import polars as pl

from reports.theme import COLOURS, DARK, INK, PAPER

#: Side of a point that a text stands on.
Align = Literal["left", "right"]

#: Height of a row with one bar. [px]
ROW: Final = 30

#: Longest name beside a bar; the whole name is in the tooltip. [px]
NAME_WIDTH: Final = 150

#: A label fits into a bar from this share of the width on, also on a phone.
_INSIDE_FROM: Final = 0.62


def rows_axis(rows: pl.DataFrame, label: str = "label") -> alt.Y:
    """Return the axis of names, in the order of the rows."""
    order = rows[label].unique(maintain_order=True).to_list()
    axis = alt.Axis(title=None, labelLimit=NAME_WIDTH)
    return alt.Y(f"{label}:N", sort=order, axis=axis)


def number_axis(title: str, largest: float, **extra: Any) -> alt.Axis:
    """Return the axis of a quantity; its title holds the unit."""
    letters_from = 10_000
    form = "~s" if largest >= letters_from else "~g"
    return alt.Axis(title=title, format=form, **extra)


def from_zero(largest: float) -> alt.Scale:
    """Return the scale of bars: it starts at zero and ends at the largest."""
    return alt.Scale(domain=[0, largest or 1], nice=False)


def meanings(field: str, present: Sequence[str]) -> alt.Color:
    """Return the colours of meanings, without a legend: bars carry their names."""
    scale = alt.Scale(domain=list(present), range=[COLOURS[m] for m in present])
    return alt.Color(f"{field}:N", scale=scale, legend=None)


def parts(field: str, colours: Mapping[str, str]) -> alt.Color:
    """Return the colours of the parts of stacked bars, with a legend above."""
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    legend = alt.Legend(columns=0)
    return alt.Color(f"{field}:N", scale=scale, legend=legend, title=None)


def placed(rows: pl.DataFrame, start: str, end: str, largest: float) -> pl.DataFrame:
    """Add where a bar's label stands: inside it, or on the side with more room.

    Args:
        rows: One bar each, with its `meaning`.
        start: Column of the bar's start.
        end: Column of the bar's end.
        largest: End of the scale.
    """
    long = pl.col(end) - pl.col(start) >= _INSIDE_FROM * largest
    dark = pl.col("meaning").is_in(list(DARK))
    return rows.with_columns(
        place=pl.when(long)
        .then(pl.when(dark).then(pl.lit("inside")).otherwise(pl.lit("on light")))
        .when(pl.col(start) > largest - pl.col(end))
        .then(pl.lit("left"))
        .otherwise(pl.lit("right"))
    )


def labels(base: alt.Chart, start: str, end: str) -> list[alt.Chart]:
    """Return the texts of bars that `placed` has placed.

    Args:
        base: Chart of the rows, with their `text` and `place`.
        start: Column of the bar's start.
        end: Column of the bar's end.
    """
    kinds: tuple[tuple[str, str, Align, int, str], ...] = (
        ("inside", start, "left", 8, PAPER),
        ("on light", start, "left", 8, INK),
        ("left", start, "right", -6, INK),
        ("right", end, "left", 6, INK),
    )
    return [
        base.transform_filter(f"datum.place === '{place}'")
        .mark_text(align=align, dx=dx, baseline="middle", color=colour)
        .encode(x=alt.X(f"{field}:Q"), text="text:N")
        for place, field, align, dx, colour in kinds
    ]
