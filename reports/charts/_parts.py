"""Pieces that several drawings share."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import altair as alt
import polars as pl

from ingest.phrases import phrase
from reports.theme import COLOURS, DARK, INK, PAPER

#: Side of a point that a text stands on.
Align = Literal["left", "right"]

#: Height of a row with one bar. [px]
ROW: Final = 30

#: Height of a line of a name that has two. [px]
LINE_HEIGHT: Final = 12

#: Longest name beside a bar; the whole name is in the tooltip. [px]
NAME_WIDTH: Final = 150

#: A label fits into a bar from this share of the width on, also on a phone.
_INSIDE_FROM: Final = 0.4

#: Below this width there is room for the brief form of a label only. [px]
_BRIEF_BELOW: Final = 330


def names(rows: pl.DataFrame) -> pl.DataFrame:
    """Return `key` and `label` of bars, equal labels told apart by a number.

    Args:
        rows: `key` and `label`; cut names may be equal where keys are not.
    """
    again = pl.int_range(pl.len()).over("label")
    numbered = phrase("{} ({})", "label", again + 1)
    bars = rows.select("key", "label").unique("key", keep="first", maintain_order=True)
    return bars.with_columns(
        label=pl.when(again > 0).then(numbered).otherwise(pl.col("label"))
    )


def told_apart(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows whose labels differ where their keys do.

    Args:
        rows: `label`, and a `key` where more rows than one make a bar.
    """
    keyed = rows if "key" in rows.columns else rows.with_row_index("key")
    bare = keyed.drop("label")
    return bare.join(names(keyed), on="key", maintain_order="left")


def rows_axis(
    rows: pl.DataFrame, label: str = "label", *, breaks: bool = False
) -> alt.Y:
    """Return the axis of names, in the order of the rows.

    Args:
        rows: Rows with the names.
        label: Column of the names.
        breaks: Whether names have two lines, with a line break between them.
    """
    order = rows[label].unique(maintain_order=True).to_list()
    axis = alt.Axis(title=None, labelLimit=NAME_WIDTH)
    if breaks:
        axis["labelExpr"] = "split(datum.label, '\\n')"
        axis["labelLineHeight"], axis["labelOffset"] = LINE_HEIGHT, -LINE_HEIGHT / 2
    return alt.Y(f"{label}:N", sort=order, axis=axis)


def number_axis(title: str, largest: float) -> alt.Axis:
    """Return the axis of a quantity; its title holds the unit."""
    letters_from = 10_000
    form = "~s" if largest >= letters_from else ",~r"
    return alt.Axis(title=title, format=form, grid=False)


def from_zero(end: float) -> alt.Scale:
    """Return the scale of bars: it starts at zero and ends at the largest."""
    return alt.Scale(domain=[0, end or 1], nice=False)


def largest(rows: pl.DataFrame, column: str) -> float:
    """Return the largest value of a column, zero without rows."""
    found = rows[column].cast(pl.Float64).max()
    return float(found) if isinstance(found, float) else 0.0


def meanings(field: str, present: Iterable[str]) -> alt.Color:
    """Return the colours of meanings, without a legend: bars carry their names.

    What is no meaning is a colour itself.
    """
    found = list(present)
    scale = alt.Scale(domain=found, range=[COLOURS.get(one, one) for one in found])
    return alt.Color(f"{field}:N", scale=scale, legend=None)


def parts(field: str, colours: Mapping[str, str]) -> alt.Color:
    """Return the colours of parts; the page draws the legend, which then wraps."""
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color(f"{field}:N", scale=scale, legend=None)


def tooltip(tips: Sequence[tuple[str, str]]) -> list[alt.Tooltip]:
    """Return the lines of a tooltip: columns with their titles, as text."""
    return [alt.Tooltip(f"{column}:N", title=title) for column, title in tips]


def placed(rows: pl.DataFrame, start: str, end: str, top: float) -> pl.DataFrame:
    """Add where a bar's label stands: inside it, or on the side with more room.

    Args:
        rows: One bar each, with its `meaning` and `text`.
        start: Column of the bar's start.
        end: Column of the bar's end.
        top: End of the scale.
    """
    long = pl.col(end) - pl.col(start) >= _INSIDE_FROM * top
    dark = pl.col("meaning").is_in(list(DARK))
    brief = "brief" if "brief" in rows.columns else "text"
    return rows.with_columns(
        brief=pl.col(brief),
        place=pl.when(long)
        .then(pl.when(dark).then(pl.lit("inside")).otherwise(pl.lit("on light")))
        .when(pl.col(start) > top - pl.col(end))
        .then(pl.lit("left"))
        .otherwise(pl.lit("right")),
    )


def fitting_words() -> alt.ExprRef:
    """Return the expression for a row's `text`, or its `brief` form on a phone."""
    return alt.expr(f"width < {_BRIEF_BELOW} ? datum.brief : datum.text")


def labels(base: alt.Chart, start: str, end: str) -> list[alt.Chart]:
    """Return the texts of bars that `placed` has placed.

    Args:
        base: Chart of the rows, with their `text`, `brief` and `place`.
        start: Column of the bar's start.
        end: Column of the bar's end.
    """
    words = fitting_words()
    kinds: tuple[tuple[str, str, Align, int, str], ...] = (
        ("inside", start, "left", 8, PAPER),
        ("on light", start, "left", 8, INK),
        ("left", start, "right", -6, INK),
        ("right", end, "left", 6, INK),
    )
    return [
        base.transform_filter(f"datum.place === '{place}'")
        .mark_text(align=align, dx=dx, baseline="middle", color=colour, text=words)
        .encode(x=alt.X(f"{field}:Q"))
        for place, field, align, dx, colour in kinds
    ]
