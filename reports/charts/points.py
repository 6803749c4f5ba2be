"""Points with intervals, and points over a scale."""

from collections.abc import Mapping, Sequence

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import LINE, QUIET, finished


def intervals(rows: pl.DataFrame, unit: str, tips: Sequence[tuple[str, str]]) -> Spec:
    """Draw estimates with their intervals, one under the other.

    Args:
        rows: `label`, `meaning`, `value`, `low`, `high` (null: no interval known),
            `text` and `brief`, in order.
        unit: Title of the axis, with its unit.
        tips: Columns and titles of the tooltip.
    """
    ends = rows.select(pl.max_horizontal("value", "high")).to_series().cast(pl.Float64)
    largest = 1.25 * float(ends.max() or 1.0)  # type: ignore[arg-type]
    shown = _parts.told_apart(rows)
    base = alt.Chart(shown).encode(y=_parts.rows_axis(shown))
    colour = _parts.meanings(
        "meaning", rows["meaning"].unique(maintain_order=True).to_list()
    )
    x = alt.X(
        "low:Q",
        scale=_parts.from_zero(largest),
        axis=_parts.number_axis(unit, largest),
    )
    spans = base.mark_rule(strokeWidth=3, opacity=0.55).encode(
        x=x, x2="high:Q", color=colour
    )
    dots = base.mark_point(size=90, filled=True, opacity=1).encode(
        x="value:Q",
        color=colour,
        tooltip=_parts.tooltip(tips),
    )
    words = base.transform_calculate(
        at="max(isValid(datum.high) ? datum.high : 0, datum.value)"
    ).mark_text(align="left", dx=9, text=_parts.fitting_words())
    texts = words.encode(x="at:Q")
    height = _parts.ROW * rows.height
    return finished(
        alt.layer(spans, dots, texts).properties(width="container", height=height)
    )


def scatter(
    rows: pl.DataFrame,
    titles: tuple[str, str],
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
) -> Spec:
    """Draw a middle and its range over a logarithmic scale of sizes.

    Args:
        rows: `x`, `y`, `low`, `high` and `part`.
        titles: Titles of both axes, with their units; the first says it is a log.
        colours: Colour of each part.
        tips: Columns and titles of the tooltip.
    """
    base = alt.Chart(rows).encode(
        x=alt.X(
            "x:Q",
            scale=alt.Scale(type="log", nice=False, padding=16),
            axis=alt.Axis(title=titles[0], format="~s", labelOverlap=True, grid=False),
        ),
        color=_parts.parts("part", colours),
    )
    axis = alt.Axis(title=titles[1], grid=True, gridColor=LINE, labelColor=QUIET)
    spans = base.mark_rule(strokeWidth=2, opacity=0.45).encode(
        y=alt.Y("low:Q", axis=axis, scale=alt.Scale(zero=True)), y2="high:Q"
    )
    dots = base.mark_point(size=70, filled=True, opacity=1).encode(
        y="y:Q",
        shape=alt.Shape("part:N", legend=None),
        tooltip=_parts.tooltip(tips),
    )
    chart = alt.layer(spans, dots)
    return finished(chart.properties(width="container", height=230))
