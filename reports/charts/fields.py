"""Fields of cells in rows and columns, darker is slower."""

from typing import Final

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import HEAT, INK, PAPER, finished, is_dark

#: Height of a row of cells, at least and at most. [px]
_LOWEST: Final = 14
_HIGHEST: Final = 44

#: Most pixels that a field is high. [px]
_MOST_HIGH: Final = 420

#: A cell carries its number where it is this wide. [px]
_TEXT_WIDTH: Final = 38

#: More cells than this carry no numbers.
_MOST_TEXTS: Final = 128


def field(rows: pl.DataFrame, titles: tuple[str, str, str], top: float) -> Spec:
    """Draw a cell for each row and column, its number in it where there is room.

    Args:
        rows: `column`, `row`, `value`, `text`, `tip`; in order of row, then column.
        titles: Titles of columns, rows and value, with units.
        top: Value that the darkest colour stands for.
    """
    columns, lines = (rows[by].unique(maintain_order=True) for by in ("column", "row"))
    scale = alt.Scale(domain=[1, top], range=list(HEAT), clamp=True)
    legend = alt.Legend(
        title=titles[2], gradientLength=160, format=".2f", titleLimit=320
    )
    across = alt.Axis(
        title=titles[0], labelAngle=0, labelOverlap="greedy", labelSeparation=8
    )
    down = alt.Axis(title=titles[1], labelOverlap="greedy")
    base = alt.Chart(rows).encode(
        x=alt.X("column:N", sort=columns.to_list(), axis=across),
        y=alt.Y("row:N", sort=lines.to_list(), axis=down),
    )
    cells = base.mark_rect(stroke=PAPER, strokeWidth=1).encode(
        color=alt.Color("value:Q", scale=scale, legend=legend),
        tooltip=_parts.tooltip((("tip", "who"), ("text", titles[2]))),
    )
    texts = [] if rows.height > _MOST_TEXTS else [_texts(rows, base, len(columns), top)]
    height = max(_LOWEST, min(_HIGHEST, _MOST_HIGH // len(lines))) * len(lines)
    chart = alt.layer(cells, *texts).properties(
        width="container", height=min(_MOST_HIGH, max(60, height))
    )
    return finished(chart)


def _texts(rows: pl.DataFrame, base: alt.Chart, columns: int, top: float) -> alt.Chart:
    """Return the numbers of cells, white on dark ones."""
    dark = next(place for place, colour in enumerate(HEAT) if is_dark(colour))
    least = 1 + (top - 1) * (dark - 0.5) / (len(HEAT) - 1)
    words = alt.expr(f"width / {columns} > {_TEXT_WIDTH} ? datum.text : ''")
    colour = alt.condition(f"datum.value > {least}", alt.value(PAPER), alt.value(INK))
    texts: alt.Chart = base.mark_text(baseline="middle", text=words)
    return texts.encode(color=colour)
