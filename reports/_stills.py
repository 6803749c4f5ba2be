"""Charts as pictures: for paper, and for readers that run no script."""

import json
import re
from functools import lru_cache
from typing import Final
from urllib.parse import quote

import vl_convert

from reports._section import Spec
from reports.theme import CONFIG, FONT, NUMBER_LOCALE

#: Width of a picture: that of the page's column. [px]
_WIDTH: Final = 720

#: Pictures that are kept for other pages of one process: those of a few pages. [1]
_KEPT: Final = 128

#: Fonts of one width: whichever a reader has, names fit where they were measured.
_FONT: Final = "Arial, 'Liberation Sans', Helvetica, sans-serif"

#: What may stand as it is in an address that stands in an attribute of the page.
_SAFE: Final = " =/:,;()-.+@!*$[]|"

#: What Vega writes for screen readers, mice and tools, the font that every text has,
#: what is so anyway, and digits of pixels that no printer knows.
_UNSEEN: Final = re.compile(
    r' (?:class|role|aria-[a-z]+|pointer-events|font-family)="[^"]*"'
    r'| (?:opacity|stroke-opacity|fill-opacity)="1"| text-anchor="start"'
    r"|(?<=\.[0-9][0-9])[0-9]+"
)

#: Elements of a picture; texts between them stay as they are.
_ELEMENT: Final = re.compile(r"<[^>]+>")

#: Backgrounds without a colour.
_EMPTY: Final = re.compile(
    r'<path(?: d="M0,0h[0-9.]*v[0-9.]*h[-0-9.]*Z")?(?: display="none")?/>'
)


def still(spec: Spec) -> str:
    """Return a chart as a picture in a data address, that no script can act in.

    Args:
        spec: The drawing, as wide as what holds it.
    """
    fit = {"type": "fit-x", "contains": "padding"}
    return _drawn(json.dumps({**spec, "width": _WIDTH, "autosize": fit}))


@lru_cache(maxsize=_KEPT)
def _drawn(spec: str) -> str:
    svg = vl_convert.vegalite_to_svg(
        spec,
        config=json.loads(json.dumps({**CONFIG, "aria": False}).replace(FONT, _FONT)),
        allowed_base_urls=[],
        format_locale=dict(NUMBER_LOCALE),
    )
    return f"data:image/svg+xml;charset=utf-8,{quote(_lean(svg), safe=_SAFE)}"


def _lean(svg: str) -> str:
    """Return a picture without what nobody sees: half of what Vega writes."""
    lean = _ELEMENT.sub(lambda element: _UNSEEN.sub("", element[0]), svg)
    fonted = lean.replace("<svg ", f'<svg font-family="{_FONT}" ', 1)
    return _EMPTY.sub("", fonted)
