"""Bars of stages cut into phases, each beside a mark of what was expected."""

from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts, _stacks
from reports.theme import INK, PAPER, finished

#: Share of a row that a bar takes, and the mark beside it.
_BAND: Final = 0.72
_MARK: Final = 0.9

#: Room beyond the longest bar, so that the last number of the axis fits a phone.
_ROOM: Final = 1.06


def phases(
    rows: pl.DataFrame,
    unit: str,
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
) -> Spec:
    """Draw one bar for each label, cut into parts, and a mark of what was expected.

    Args:
        rows: `key`, `label`, `part`, `value`, `text` and `expected` (null where there
            is nothing to expect), and columns of tips; shares of one.
        unit: Title of the axis, with its unit.
        colours: Colour of each part, in the order of drawing.
        tips: Columns and titles of the tooltip.
    """
    shown = _stacks.stacked(_parts.told_apart(rows), "label", colours)
    longest = max(_parts.largest(shown, column) for column in ("end", "expected"))
    largest = longest * _ROOM
    axis = _parts.number_axis(unit, largest)
    axis["format"] = ".0%"
    base = alt.Chart(shown).encode(y=_parts.rows_axis(shown))
    bars = base.mark_bar(height={"band": _BAND}, stroke=PAPER, strokeWidth=1).encode(
        x=alt.X("start:Q", scale=_parts.from_zero(largest), axis=axis),
        x2="end:Q",
        color=_parts.parts("part", colours),
        tooltip=_parts.tooltip(tips),
    )
    expected = shown.drop_nulls("expected").unique("key", maintain_order=True)
    marks = (
        alt.Chart(expected)
        .mark_tick(color=INK, thickness=3, height={"band": _MARK})
        .encode(x="expected:Q", y=_parts.rows_axis(shown))
    )
    texts = _stacks.middles(base, largest)
    height = _parts.ROW * shown["label"].n_unique()
    chart = alt.layer(bars, texts, marks)
    return finished(chart.properties(width="container", height=height))
