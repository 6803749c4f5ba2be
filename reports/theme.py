"""One look for every chart: a colour for each meaning, one Altair theme."""

from collections.abc import Mapping
from typing import Any, Final, Literal

Meaning = Literal[
    "paid",
    "productive",
    "waiting",
    "stalled",
    "communication",
    "broken",
    "power",
    "idle",
    "unknown",
]

#: One colour per meaning. Any two differ for people who see no red, green or blue,
#: and in lightness, so that they stay apart in grey print (a test holds both).
COLOURS: Final[Mapping[str, str]] = {
    "paid": "#39424f",
    "productive": "#1f7f6f",
    "waiting": "#e8a93a",
    "stalled": "#e0c294",
    "communication": "#2d63ad",
    "broken": "#8e2a1c",
    "power": "#a27cb8",
    "idle": "#9aa4b0",
    "unknown": "#d3d8de",
}

#: Communication that compute hides: the same green, lighter.
HIDDEN: Final = "#84c2b6"

#: Copies that nothing hides: darker than idle.
COPIES: Final = "#6b7684"

#: Text, quiet text and lines; text is at 4.5:1 on white and on paper.
INK: Final = "#1b2431"
QUIET: Final = "#55606e"
LINE: Final = "#dfe3e8"
PAPER: Final = "#ffffff"

#: From as fast as its peers to slow: one hue, darker is slower.
HEAT: Final = ("#f4f1ea", "#f2d79b", "#e8a93a", "#b86a1c", "#6e2f10")

#: Parts of a colour up to here are linear in sRGB.
_LINEAR_UP_TO: Final = 0.04045

#: Luminance up to which white text has 4.5:1. [1]
_DARK_UP_TO: Final = 1.05 / 4.5 - 0.05


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as WCAG 2 defines it. [1]

    Args:
        colour: Six hexadecimal digits after a hash.
    """
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= _LINEAR_UP_TO else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def is_dark(colour: str) -> bool:
    """Whether white text can be read on a colour; else ink can."""
    return luminance(colour) <= _DARK_UP_TO


#: Meanings whose colour carries white text.
DARK: Final = frozenset(name for name, colour in COLOURS.items() if is_dark(colour))

FONT: Final = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial,"
    " 'Liberation Sans', sans-serif"
)

#: Account of the ledger to its meaning on the page.
MEANING_OF_ACCOUNT: Final[Mapping[str, Meaning]] = {
    "productive": "productive",
    "exposed_communication": "communication",
    "straggler_wait": "waiting",
    "pipeline_bubble": "waiting",
    "data_stall": "stalled",
    "checkpoint_stall": "stalled",
    "idle": "idle",
    "recompute": "broken",
    "restart": "broken",
    "unallocated": "idle",
    "unattributed": "unknown",
}

#: Groups of digits are set apart by thin spaces in every chart.
NUMBER_LOCALE: Final[Mapping[str, Any]] = {
    "decimal": ".",
    "thousands": "\N{NARROW NO-BREAK SPACE}",
    "grouping": [3],
    "currency": ["", ""],
}

_AXIS: Final[Mapping[str, Any]] = {
    "labelColor": QUIET,
    "titleColor": QUIET,
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "labelFont": FONT,
    "titleFont": FONT,
    "gridColor": LINE,
    "domainColor": LINE,
    "tickColor": LINE,
    "titlePadding": 10,
    "labelPadding": 6,
}

#: What every chart is drawn with, given once to the page.
CONFIG: Final[Mapping[str, Any]] = {
    "font": FONT,
    "background": None,
    "padding": 2,
    "view": {"stroke": None},
    "axis": _AXIS,
    "axisY": {"grid": False, "ticks": False, "domain": False, "labelColor": INK},
    "axisX": {"ticks": False, "labelFlush": True, "tickCount": 5},
    "legend": {
        "orient": "top",
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titleColor": QUIET,
        "labelColor": INK,
        "offset": 8,
    },
    "text": {"font": FONT, "fontSize": 12, "color": INK},
    "bar": {"cornerRadius": 1},
    "rule": {"color": QUIET},
}


def finished(chart: Any) -> dict[str, Any]:
    """Return an Altair chart as a plain spec without a look of its own.

    Args:
        chart: The drawing; its rows are at most a few thousand.
    """
    spec: dict[str, Any] = chart.to_dict()
    for extra in ("config", "$schema"):
        spec.pop(extra, None)
    return spec
