"""Pairs of points: what was before, and what is now."""

from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import INK, LINE, QUIET, finished

#: Room for words beside the farthest point, as a multiple of it.
_WITH_WORDS: Final = 1.5


def moved(
    rows: pl.DataFrame,
    unit: str,
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
) -> Spec:
    """Draw where each row was, its noise around that, and where it is now.

    Args:
        rows: `label`, `before`, `now`, `low` and `high` (the noise around before; null
            where it is not known), `part` (a key of colours), `text` and `brief`.
        unit: Title of the axis, with its unit.
        colours: Colour of each verdict.
        tips: Columns and titles of the tooltip.
    """
    shown = _parts.told_apart(rows).with_columns(
        at=pl.max_horizontal("before", "now", "high")
    )
    end = _WITH_WORDS * _parts.largest(shown, "at")
    base = alt.Chart(shown).encode(y=_parts.rows_axis(shown))
    axis = _parts.number_axis(unit, end)
    x = alt.X("before:Q", scale=_parts.from_zero(end), axis=axis)
    noise = base.mark_bar(height=12, color=LINE).encode(
        x=alt.X("low:Q", scale=_parts.from_zero(end), axis=axis), x2="high:Q"
    )
    ways = base.mark_rule(strokeWidth=2, color=QUIET).encode(x=x, x2="now:Q")
    old = base.mark_point(size=70, filled=True, fill="white", stroke=INK).encode(x=x)
    colour = _parts.parts("part", colours)
    new = base.mark_point(size=90, filled=True, opacity=1).encode(
        x="now:Q", color=colour, tooltip=_parts.tooltip(tips)
    )
    words = base.mark_text(align="left", dx=9, text=_parts.fitting_words())
    chart = alt.layer(noise, ways, old, new, words.encode(x="at:Q"))
    height = _parts.ROW * rows.height
    return finished(chart.properties(width="container", height=height))
