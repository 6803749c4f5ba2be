"""Bars of several parts: where each starts and ends, and the words on it."""

from collections.abc import Mapping
from typing import Final

import altair as alt
import polars as pl

from reports.theme import INK, PAPER, is_dark

#: Room that the label of a part takes. [px]
_PART_LABEL: Final = 50


def stacked(rows: pl.DataFrame, by: str, colours: Mapping[str, str]) -> pl.DataFrame:
    """Add where each part starts and ends, and the colour of text on it.

    Args:
        rows: `part` and `value`, and the column of bars; bars in order.
        by: Column that tells bars apart.
        colours: Colour of each part, in the order of drawing.
    """
    order = {part: place for place, part in enumerate(colours)}
    on = {part: PAPER if is_dark(colour) else INK for part, colour in colours.items()}
    bars = rows.select(by).unique(maintain_order=True).with_row_index("bar")
    placed = pl.col("part").replace_strict(order, return_dtype=pl.Int32)
    end = pl.col("value").cum_sum().over("bar", order_by="place")
    return (
        rows.join(bars, on=by)
        .with_columns(place=placed, ink=pl.col("part").replace_strict(on))
        .sort("bar", "place")
        .with_columns(end=end, start=end - pl.col("value"))
        .with_columns(middle=(pl.col("start") + pl.col("end")) / 2)
    )


def middles(base: alt.Chart, end: float) -> alt.Chart:
    """Return the texts of parts that are wide enough for them.

    Args:
        base: Chart of the rows of `stacked`, with their `text`.
        end: End of the scale.
    """
    wide = f"width * datum.value / {end or 1} > {_PART_LABEL}"
    words = alt.expr(f"{wide} ? datum.text : ''")
    colour = alt.Color("ink:N", scale=None)
    texts: alt.Chart = base.mark_text(align="center", baseline="middle", text=words)
    return texts.encode(x="middle:Q", color=colour)


def totals(base: alt.Chart, end: float) -> alt.Chart:
    """Return the sums of bars that are too short for any text in them.

    Args:
        base: Chart of the last rows of bars, with their `total`.
        end: End of the scale.
    """
    short = f"width * datum.end / {end or 1} <= {_PART_LABEL}"
    words = alt.expr(f"{short} ? datum.total : ''")
    texts: alt.Chart = base.mark_text(
        align="left", dx=6, baseline="middle", color=INK, text=words
    )
    return texts.encode(x="end:Q")
