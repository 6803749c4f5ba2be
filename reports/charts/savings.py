"""Savings with their intervals, beside upper bounds."""

from collections.abc import Sequence
from typing import Final

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import INK, finished

#: Room for words beside the longest bar, as a multiple of it.
_WITH_WORDS: Final = 1.65

#: Bars of upper bounds are paler than those of estimates.
_BOUND: Final = 0.35


def savings(rows: pl.DataFrame, unit: str, tips: Sequence[tuple[str, str]]) -> Spec:
    """Draw one bar for each saving, from zero, with its interval; bounds are pale.

    Args:
        rows: `label` (in lines where it breaks), `meaning`, `value`, `low` and `high`
            (null: not known), `is_bound`, `text` and `brief`, in order, and columns of
            tips.
        unit: Title of the axis, with its unit.
        tips: Columns and titles of the tooltip.
    """
    shown = _parts.told_apart(rows).with_columns(
        at=pl.max_horizontal("value", "high"),
        weight=pl.when("is_bound").then(pl.lit(_BOUND)).otherwise(pl.lit(1.0)),
    )
    breaks = bool(shown["label"].str.contains("\n", literal=True).any())
    end = _WITH_WORDS * _parts.largest(shown, "at")
    base = alt.Chart(shown).encode(y=_parts.rows_axis(shown, breaks=breaks))
    axis = _parts.number_axis(unit, end)
    x = alt.X("value:Q", scale=_parts.from_zero(end), axis=axis)
    bars = base.mark_bar(height={"band": 0.66}).encode(
        x=x,
        color=_parts.meanings("meaning", shown["meaning"].unique(maintain_order=True)),
        opacity=alt.Opacity("weight:Q", scale=None),
        tooltip=_parts.tooltip(tips),
    )
    spans = base.mark_rule(strokeWidth=2, color=INK).encode(x="low:Q", x2="high:Q")
    words = base.mark_text(
        align="left", dx=7, baseline="middle", text=_parts.fitting_words()
    )
    chart = alt.layer(bars, spans, words.encode(x="at:Q"))
    height = _parts.ROW * rows.height
    return finished(chart.properties(width="container", height=height))
