"""Power over time, with what was done at that time in a strip above it."""

from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts, times
from reports.theme import COLOURS, INK, LINE, QUIET, finished

#: Height of the strip, and of the drawing below it. [px]
_STRIP: Final = 12
_HEIGHT: Final = 230


def phased(
    rows: pl.DataFrame,
    spans: pl.DataFrame,
    unit: str,
    colours: Mapping[str, str],
    tips: Sequence[tuple[str, str]],
) -> Spec:
    """Draw power with the band from lowest to highest, and phases in a strip on top.

    Args:
        rows: `at_ms`, `low`, `mean`, `high` (null where not known) and columns of tips.
        spans: `from_ms`, `to_ms` and `phase`, in order.
        unit: Title of the axis, with its unit.
        colours: Colour of each phase.
        tips: Columns and titles of the tooltip.
    """
    start = float(rows["at_ms"][0])
    end = max(float(rows["at_ms"][-1]), float(spans["to_ms"][-1]))
    axis = times.time_axis(start, end)
    scale = alt.Scale(type="utc", nice=False)
    x = alt.X("at_ms:T", scale=scale, axis=axis)
    largest = _parts.largest(rows, "high")
    y_axis = alt.Axis(title=unit, grid=True, gridColor=LINE, labelColor=QUIET)
    # the strip stands above the highest power
    y_scale = alt.Scale(domain=[0, (largest or 1) * 1.12], nice=False)
    base = alt.Chart(rows).encode(x=x)
    area = base.mark_area(color=COLOURS["power"], opacity=0.4).encode(
        y=alt.Y("low:Q", axis=y_axis, scale=y_scale), y2="high:Q"
    )
    line = base.mark_line(color=INK, strokeWidth=1.4).encode(y="mean:Q")
    dots = base.mark_point(opacity=0, size=50).encode(
        y="mean:Q", tooltip=_parts.tooltip(tips)
    )
    strip = (
        alt.Chart(spans)
        .mark_rect(clip=True)
        .encode(
            x=alt.X("from_ms:T"),
            x2="to_ms:T",
            y=alt.value(0),
            y2=alt.value(_STRIP),
            color=_parts.parts("phase", colours),
            tooltip=_parts.tooltip((("phase", "mostly"),)),
        )
    )
    chart = alt.layer(area, line, dots, strip)
    return finished(chart.properties(width="container", height=_HEIGHT))
