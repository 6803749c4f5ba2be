"""Graphs: who waits for whom, in rows."""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import QUIET, finished

#: Height of a row of nodes. [px]
_ROW: Final = 86

#: Area of a node and of the head of an arrow. [px^2]
_NODE: Final = 900
_HEAD: Final = 70

#: How far below its node the head of an arrow stands, in rows. [1]
_BELOW: Final = 0.27


def rows_of_nodes(
    nodes: pl.DataFrame,
    arrows: pl.DataFrame,
    words: Sequence[str],
    tips: Sequence[tuple[str, str]],
) -> Spec:
    """Draw nodes in rows, with arrows from each row to the one above.

    Args:
        nodes: `x` (0 to 1), `y` (row, from 0), `label`, `meaning`, `ink` and columns of
            tips.
        arrows: `x` and `y` of where each begins, `x2` and `y2` of where it ends.
        words: What stands above each row.
        tips: Columns and titles of the tooltip.
    """
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, 1], nice=False))
    last = max(len(words) - 1, 0)
    scale = alt.Scale(domain=[-0.62, last + 0.4], nice=False, reverse=True)
    y = alt.Y("y:Q", axis=None, scale=scale)
    below = arrows.with_columns(y2=pl.col("y2") + _BELOW)
    lines = alt.Chart(below).mark_rule(color=QUIET, opacity=0.55, strokeWidth=1)
    ends = below.select(x="x2", y="y2").unique(maintain_order=True)
    heads = alt.Chart(ends).mark_point(
        shape="triangle-up", filled=True, size=_HEAD, color=QUIET, opacity=1
    )
    base = alt.Chart(nodes).encode(x=x, y=y)
    present = nodes["meaning"].unique(maintain_order=True).to_list()
    dots = base.mark_point(shape="circle", filled=True, size=_NODE, opacity=1).encode(
        color=_parts.meanings("meaning", present), tooltip=_parts.tooltip(tips)
    )
    names = base.mark_text(fontSize=12, fontWeight="bold").encode(
        text="label:N", color=alt.Color("ink:N", scale=None)
    )
    chart = alt.layer(
        lines.encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
        heads.encode(x=x, y=y),
        dots,
        names,
        _captions(words, x, y),
    )
    return finished(chart.properties(width="container", height=_ROW * len(words) + 20))


def _captions(words: Sequence[str], x: Any, y: Any) -> alt.Chart:
    rows = pl.DataFrame(
        {
            "x": [0.0] * len(words),
            "y": [float(row) - 0.44 for row in range(len(words))],
            "words": list(words),
        }
    )
    texts: alt.Chart = alt.Chart(rows).mark_text(align="left", color=QUIET, dx=2)
    return texts.encode(x=x, y=y, text="words:N")
