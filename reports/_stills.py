"""Charts as pictures: for paper, and for readers that run no script."""

import base64
import json
from typing import Final

import vl_convert

from reports._section import Spec
from reports.theme import CONFIG, FONT, NUMBER_LOCALE

#: Width of a picture: that of the page's column. [px]
_WIDTH: Final = 720

#: Fonts of one width: whichever a reader has, names fit where they were measured.
_FONT: Final = "Arial, 'Liberation Sans', Helvetica, sans-serif"


def still(spec: Spec) -> str:
    """Return a chart as a picture in a data address, that no script can act in.

    Args:
        spec: The drawing, as wide as what holds it.
    """
    svg = vl_convert.vegalite_to_svg(
        {**spec, "width": _WIDTH, "autosize": {"type": "fit-x", "contains": "padding"}},
        config=json.loads(json.dumps({**CONFIG, "aria": False}).replace(FONT, _FONT)),
        allowed_base_urls=[],
        format_locale=dict(NUMBER_LOCALE),
    )
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
