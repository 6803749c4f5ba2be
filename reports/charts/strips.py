"""Drawings of a run step by step, with what happened to it above."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import altair as alt
import polars as pl

from reports._section import Spec
from reports.charts import _parts
from reports.theme import COLOURS, HEAT, INK, LINE, QUIET, finished

#: Steps of ticks, times a power of ten, and most of them.
_ROUND: Final = (1, 2, 5, 10)
_MOST_TICKS: Final = 4

#: Height of the lines, and of each lane of a spell above them. [px]
_LINES: Final = 180
_LANE: Final = 24

#: Words above a lane stand so far above its bar. [px]
_WORDS_ABOVE: Final = -9


def strip(
    steps: pl.DataFrame,
    spells: pl.DataFrame,
    title: str,
    top: float,
    tips: tuple[Sequence[tuple[str, str]], Sequence[tuple[str, str]]],
) -> Spec:
    """Draw what the slowest and the typical rank took, with spells of who was slow.

    Args:
        steps: `step`, `typical`, `slowest`, `is_above` (longer than it is drawn) and
            columns of tips; in order.
        spells: `from_step`, `to_step`, `lane` (from zero), `label`, `is_late` (its
            words end with it) and columns of tips; may be empty.
        title: Title of the lengths, with their unit.
        top: Largest length that is drawn as long as it is.
        tips: Columns and titles of the tooltips of steps and of spells.
    """
    lanes = int(str(spells["lane"].max() or 0)) + 1 if spells.height else 0
    lane = top * _LANE / _LINES
    height = top + lane * (lanes + 0.2 * bool(lanes))
    scale = alt.Scale(domain=[0, height], nice=False, clamp=True)
    axis = alt.Axis(
        title=title,
        values=_ticks(top),
        grid=True,
        gridColor=LINE,
        labelColor=QUIET,
        titleAnchor="start",
    )
    placed = spells.with_columns(at=top + lane * (pl.col("lane") + 0.35))
    layers = [
        *_bands(placed, top, lane),
        *_lines(steps, alt.Y("slowest:Q", axis=axis, scale=scale), tips[0]),
        *_words(placed, tips[1]),
    ]
    pixels = _LINES + _LANE * lanes
    return finished(alt.layer(*layers).properties(width="container", height=pixels))


def _ticks(top: float) -> list[float]:
    """Return round numbers from zero on, up to the top of the lines."""
    if top <= 0:
        return [0]
    power = 10 ** math.floor(math.log10(top / _MOST_TICKS))
    step = next(power * n for n in _ROUND if top / (power * n) <= _MOST_TICKS)
    return [n * step for n in range(int(top / step) + 1)]


def _x(field: str) -> alt.X:
    axis = alt.Axis(title="step", format=",d", grid=False, labelOverlap=True)
    return alt.X(f"{field}:Q", axis=axis, scale=alt.Scale(nice=False, zero=False))


def _lines(
    steps: pl.DataFrame, y: alt.Y, tips: Sequence[tuple[str, str]]
) -> list[alt.Chart]:
    base = alt.Chart(steps).encode(x=_x("step"))
    wait = base.mark_area(color=COLOURS["waiting"], opacity=0.45, interpolate="linear")
    slowest = base.mark_line(color=INK, strokeWidth=1.4)
    typical = base.mark_line(color=COLOURS["productive"], strokeWidth=1.4)
    above = base.transform_filter("datum.is_above").mark_point(
        shape="triangle-up", filled=True, color=INK, size=44, opacity=1
    )
    dots = base.mark_point(opacity=0, size=60)
    return [
        wait.encode(y=y, y2="typical:Q"),
        typical.encode(y="typical:Q"),
        slowest.encode(y="slowest:Q"),
        above.encode(y="slowest:Q"),
        dots.encode(y="slowest:Q", tooltip=_parts.tooltip(tips)),
    ]


def _bands(spells: pl.DataFrame, top: float, lane: float) -> list[alt.Chart]:
    """Return a bar for each spell in its lane, and a frame about its lines.

    It has no fill: that between the lines is what others wait.
    """
    if spells.is_empty():
        return []
    base = alt.Chart(spells.with_columns(floor=pl.lit(0.0), edge=pl.lit(top)))
    across = base.encode(x=_x("from_step"), x2="to_step:Q")
    shade = across.mark_rect(
        fillOpacity=0, stroke=HEAT[3], strokeWidth=1.2, strokeDash=[4, 3]
    )
    bars = alt.Chart(spells.with_columns(end=pl.col("at") + lane * 0.16)).encode(
        x=_x("from_step"), x2="to_step:Q"
    )
    return [
        shade.encode(y="floor:Q", y2="edge:Q"),
        bars.mark_rect(color=HEAT[3]).encode(y="at:Q", y2="end:Q"),
    ]


def _words(spells: pl.DataFrame, tips: Sequence[tuple[str, str]]) -> list[alt.Chart]:
    sides: Mapping[bool, tuple[_parts.Align, str]] = {
        False: ("left", "from_step"),
        True: ("right", "to_step"),
    }
    words = []
    for is_late, (align, at) in sides.items():
        side = spells.filter(pl.col("is_late") == is_late)
        if side.height:
            text = alt.Chart(side).mark_text(
                align=align, baseline="middle", dy=_WORDS_ABOVE
            )
            words.append(
                text.encode(
                    x=_x(at), y="at:Q", text="label:N", tooltip=_parts.tooltip(tips)
                )
            )
    return words
