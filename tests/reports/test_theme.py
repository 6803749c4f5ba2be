"""Colours that stay apart: for colour-blind readers, in grey print, under text."""

import itertools
import math

import pytest

from reports.theme import (
    COLOURS,
    COPIES,
    HIDDEN,
    INK,
    MEANING_OF_ACCOUNT,
    PAPER,
    QUIET,
    is_dark,
    luminance,
)

#: Simulated colour blindness, complete (Machado, Oliveira and Fernandes 2009).
BLINDNESS = {
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}

Triple = tuple[float, float, float]


def linear(colour: str) -> Triple:
    """Linear red, green and blue of a colour."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
    )
    return r, g, b


def seen(colour: str, kind: str) -> Triple:
    """CIE Lab of a colour as it is seen with a kind of colour blindness."""
    rgb = linear(colour)
    r, g, b = (
        min(1.0, max(0.0, sum(w * c for w, c in zip(row, rgb, strict=True))))
        for row in BLINDNESS[kind]
    )
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def contrast(one: str, other: str) -> float:
    """Contrast of two colours, as WCAG 2 defines it."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("kind", BLINDNESS)
def test_any_two_meanings_differ(kind: str) -> None:
    # a difference of 2.3 is just seen; 10 is seen at a glance, in small bars, too
    for one, other in itertools.combinations(COLOURS, 2):
        distance = math.dist(seen(COLOURS[one], kind), seen(COLOURS[other], kind))
        assert distance > 10, (one, other)


def test_meanings_that_share_a_bar_differ_in_grey_print() -> None:
    shared = set(COLOURS) - {"paid"}
    light = sorted(seen(COLOURS[name], "none")[0] for name in shared)
    assert all(above - below > 5 for below, above in itertools.pairwise(light))


@pytest.mark.parametrize("colour", [*COLOURS.values(), HIDDEN, COPIES])
def test_text_on_a_colour_has_enough_contrast(colour: str) -> None:
    assert contrast(colour, PAPER if is_dark(colour) else INK) >= 4.5


@pytest.mark.parametrize("colour", [INK, QUIET])
def test_text_on_paper_has_enough_contrast(colour: str) -> None:
    assert contrast(colour, PAPER) >= 4.5
    assert contrast(colour, "#f6f7f9") >= 4.5


def test_black_and_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_every_account_has_a_meaning_with_a_colour() -> None:
    assert set(MEANING_OF_ACCOUNT.values()) <= set(COLOURS)
