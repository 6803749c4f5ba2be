"""Drawings of feeds: where along the steps something went wrong."""

from collections.abc import Sequence
from typing import Final

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import COLOURS, LINE, finished

#: Height of a row of marks. [px]
_ROW: Final = 34


def marks(
    rows: pl.DataFrame, ends: tuple[int, int], tips: Sequence[tuple[str, str]]
) -> Spec:
    """Draw marks along the steps of a run, a row for each kind.

    Args:
        rows: `label` and `step`, and columns of tips.
        ends: First and last step of the run.
        tips: Columns and titles of the tooltip.
    """
    axis = alt.Axis(title="step", format=",d", grid=True, gridColor=LINE, tickCount=5)
    scale = alt.Scale(domain=list(ends), nice=False, zero=False, padding=12)
    base = alt.Chart(rows).encode(
        x=alt.X("step:Q", axis=axis, scale=scale),
        y=_parts.rows_axis(rows),
        tooltip=_parts.tooltip(tips),
    )
    points = base.mark_point(
        shape="diamond", size=150, filled=True, opacity=1, color=COLOURS["broken"]
    )
    height = 16 + _ROW * rows["label"].n_unique()
    return finished(points.properties(width="container", height=height))
