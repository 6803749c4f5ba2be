"""Charts as pictures: lean, and their texts to the letter."""

import re
from urllib.parse import unquote

from reports._stills import still

TEXT = '0.08812 class="x" <b> & \N{MICRO SIGN}'

SPEC = {
    "data": {"values": [{"label": TEXT, "value": 0.123456}]},
    "mark": {"type": "text"},
    "encoding": {
        "text": {"field": "label"},
        "x": {"field": "value", "type": "quantitative"},
    },
}


def test_a_picture_is_an_address_that_fits_an_attribute() -> None:
    address = still(SPEC)
    assert address.startswith("data:image/svg+xml;charset=utf-8,%3Csvg ")
    assert not set("<>\"'&#") & set(address)


def test_texts_stay_as_they_are_and_pixels_lose_digits() -> None:
    svg = unquote(still(SPEC).partition(",")[2])
    assert '0.08812 class="x" &lt;b&gt; &amp; \N{MICRO SIGN}' in svg
    places = re.findall(r'transform="translate\(([^)]+)\)"', svg)
    assert places
    assert all(
        len(part.partition(".")[2]) < 3 for at in places for part in at.split(",")
    )
    assert svg.count("font-family") == 1
    assert "aria-" not in svg
