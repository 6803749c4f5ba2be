"""Points with intervals."""

from collections.abc import Sequence
from typing import Final

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import finished

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
