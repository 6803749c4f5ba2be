"""Numbers as text, taken exactly and converted in columns.

A number is decimal digits with a point, and an exponent where need be. Anything else
(a thousands separator, a unit, a word) is null: nobody guesses what it means. What is
converted into an integer is rounded once, to the nearest and halves away from zero;
what is converted into a float is the float nearest to the exact value.
"""

import re
from fractions import Fraction
from typing import Final

import polars as pl

from ingest._mapping_units import Scale

#: Digits after the point that columns of integers hold beside any factor: 10^18 times
#: the nanoseconds of a day is below 2^127.
_FRACTION_DIGITS: Final = 18

#: Greatest numerator and denominator that do so.
_GREATEST: Final = 10**15

#: Longest text that can be a number: no writer gives more digits. [characters]
_LONGEST: Final = 80

_COMMON: Final = rf"^([+-]?)([0-9]{{1,19}})(?:\.([0-9]{{0,{_FRACTION_DIGITS}}}))?$"
_NUMBER: Final = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$"
_EXPONENT: Final = "[eE]"
_SHIFT: Final = 10**_FRACTION_DIGITS
_TENS: Final = {Fraction(10) ** power: power for power in range(-15, 16)}


def integer(text: pl.Expr, factor: Fraction = Fraction(1)) -> pl.Expr:
    """Return numbers times a factor as Int128; null where the text is none.

    With a factor of one there is nothing to round: a number with a fraction is null.
    """
    common = _common(text, factor)
    if factor.numerator > _GREATEST or factor.denominator > _GREATEST:
        common = pl.lit(None, pl.Int128)
    usual = text.str.contains(_COMMON)
    rare = pl.when(~usual & _is_number(text)).then(text)
    slow = rare.map_elements(
        lambda found: _slow_integer(found, factor), return_dtype=pl.Int128
    )
    return pl.when(usual).then(common).otherwise(slow)


def as_int64(value: pl.Expr) -> pl.Expr:
    """Return integers as Int64; null where one does not fit."""
    return value.cast(pl.Int64, strict=False)


def real(text: pl.Expr, scale: Scale | None = None) -> pl.Expr:
    """Return numbers in another unit as Float64; null where the text is none."""
    scale = scale or Scale(Fraction(1))
    number = pl.when(_is_number(text)).then(text)
    if scale.offset or scale.factor not in _TENS:
        value = number.map_elements(
            lambda found: _slow_real(found, scale), return_dtype=pl.Float64
        )
    else:
        value = _shifted(number, scale.factor)
    return pl.when(value.is_finite()).then(value)


def _is_number(text: pl.Expr) -> pl.Expr:
    return text.str.contains(_NUMBER) & (text.str.len_bytes() <= _LONGEST)


def _common(text: pl.Expr, factor: Fraction) -> pl.Expr:
    parts = text.str.extract_groups(_COMMON).struct
    padded = parts.field("3").fill_null("").str.pad_end(_FRACTION_DIGITS, "0")
    whole = parts.field("2").cast(pl.Int128, strict=False)
    fraction = padded.cast(pl.Int128, strict=False)
    above, below = factor.numerator, factor.denominator
    size: pl.Expr
    if factor == 1:
        size = pl.when(fraction == 0).then(whole)
    else:
        product = whole * above
        rest = (product % below) * _SHIFT + fraction * above
        half = below * _SHIFT // 2
        size = product // below + (rest + half) // (below * _SHIFT)
    return pl.when(parts.field("1") == "-").then(0 - size).otherwise(size)


def _shifted(number: pl.Expr, factor: Fraction) -> pl.Expr:
    """Move the point by an exponent, so that the one rounding is that of reading."""
    power = _TENS[factor]
    plain = pl.when(~number.str.contains(_EXPONENT)).then(number)
    moved = pl.concat_str(plain, pl.lit(f"e{power}")).cast(pl.Float64, strict=False)
    rare = pl.when(number.str.contains(_EXPONENT)).then(number)
    slow = rare.map_elements(
        lambda found: _slow_real(found, Scale(factor)), return_dtype=pl.Float64
    )
    return pl.coalesce(moved, slow)


def _slow_integer(text: str, factor: Fraction) -> int | None:
    value = Fraction(_plain(text)) * factor
    if factor == 1 and value.denominator != 1:
        return None
    size = (2 * abs(value.numerator) + value.denominator) // (2 * value.denominator)
    # beyond 64 bit all is as far away, and the column holds 128
    size = min(size, 2**64)
    return -size if value < 0 else size


def _slow_real(text: str, scale: Scale) -> float | None:
    value = (Fraction(_plain(text)) + scale.offset) * scale.factor
    try:
        return float(value)
    except OverflowError:
        return None


def _plain(text: str) -> str:
    # before Python 3.12 a fraction may not end in its point
    return re.sub(r"\.(?!\d)", "", text)
