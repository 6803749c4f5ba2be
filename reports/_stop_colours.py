"""Colours of whose an interruption is, and of its phases."""

from collections.abc import Iterable
from typing import Final

from reports.theme import COLOURS

#: Whose a stop is: shades of the colour that means broken, from ours to unknown.
CATEGORY_COLOURS: Final = {
    "hardware": "#8e2a1c",
    "network": "#bd6350",
    "facilities": "#cd8270",
    "software": "#dba294",
    "human": "#e9c6bd",
    "maintenance": "#1f252d",
    "user": "#39424f",
    "scheduler": "#6b7684",
    "unattributed": "#d3d8de",
}

#: Each phase of a stop, in every chart: what is done again as in the ledger, what is
#: broken in lighter shades.
PHASE_COLOURS: Final = {
    "hang": "#b3523d",
    "detect": "#cf8775",
    "decide": "#e9c6bd",
    "requeue": COLOURS["waiting"],
    "start": COLOURS["idle"],
    "recompute": COLOURS["broken"],
}


def colours_of(categories: Iterable[str]) -> dict[str, str]:
    """Return the colour of each category that is there, in a fixed order.

    Args:
        categories: Whose the stops are, in any order and number.
    """
    found = sorted(set(categories))
    known = {name: colour for name, colour in CATEGORY_COLOURS.items() if name in found}
    other = dict.fromkeys(found, CATEGORY_COLOURS["unattributed"])
    return known | {name: c for name, c in other.items() if name not in known}
