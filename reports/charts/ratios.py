"""Quotients as bars from zero, beside the one that they should be."""

from collections.abc import Sequence
from typing import Final

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import INK, finished

#: Room for words beside the longest bar, as a multiple of it.
_WITH_WORDS: Final = 1.6


def beside_one(rows: pl.DataFrame, unit: str, tips: Sequence[tuple[str, str]]) -> Spec:
    """Draw one bar for each quotient, from zero, and a dashed line at one.

    Args:
        rows: `label`, `meaning`, `value`, `text` and `brief`, in order, and columns of
            tips.
        unit: Title of the axis, with its unit; it says what one means.
        tips: Columns and titles of the tooltip.
    """
    shown = _parts.told_apart(rows).with_columns(
        at=pl.max_horizontal("value", pl.lit(1.0))
    )
    end = _WITH_WORDS * max(_parts.largest(shown, "value"), 1.0)
    base = alt.Chart(shown).encode(y=_parts.rows_axis(shown))
    x = alt.X(
        "value:Q",
        scale=_parts.from_zero(end),
        axis=_parts.number_axis(unit, end),
    )
    bars = base.mark_bar(height={"band": 0.66}).encode(
        x=x,
        color=_parts.meanings("meaning", shown["meaning"].unique(maintain_order=True)),
        tooltip=_parts.tooltip(tips),
    )
    words = base.mark_text(
        align="left", dx=7, baseline="middle", text=_parts.fitting_words()
    ).encode(x="at:Q")
    one = alt.Chart(pl.DataFrame({"one": [1.0]})).mark_rule(
        color=INK, strokeDash=[4, 3], strokeWidth=1.5
    )
    chart = alt.layer(bars, words, one.encode(x="one:Q"))
    height = _parts.ROW * rows.height
    return finished(chart.properties(width="container", height=height))
