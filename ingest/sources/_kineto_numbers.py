"""Microseconds as a trace prints them, to whole nanoseconds, without a float.

Kineto prints nanoseconds as microseconds with three decimals, which a float of 64 bits
cannot hold since the epoch: it would step by 250 ns.
"""

import re
from decimal import Context, Decimal
from typing import Final

import polars as pl

#: Whole microseconds that are surely in the range of Int64 as nanoseconds. [us]
_SAFE: Final = 9_000_000_000_000_000

#: Decimals that are no finer than a nanosecond.
_DECIMALS: Final = r"^\d{1,3}$"

#: Longest number that is looked at, in characters.
_LONGEST: Final = 64

#: Digits that a calculation keeps: more than the longest number has.
_CONTEXT: Final = Context(prec=2 * _LONGEST)

#: Decimal digits of the greatest Int64, as an exponent.
_GREATEST_EXPONENT: Final = 18

_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?")


def micros_to_ns(text: pl.Series) -> pl.Series:
    """Convert the text of numbers of microseconds to nanoseconds.

    Digits below the nanosecond are cut. What is no number, or too large for 64 bits,
    is null.

    Args:
        text: Numbers as JSON prints them, or in quotes; "" where there is none. [us]

    Returns:
        Int64 values. [ns]
    """
    frame = text.rename("text").to_frame().select("text", ns=_plain(pl.col("text")))
    odd = frame.select(pl.col("ns").is_null() & (pl.col("text") != "")).to_series()
    if not odd.any():
        return frame["ns"]
    places = odd.arg_true()
    exact = [_exact(one) for one in frame["text"].gather(places)]
    return frame["ns"].scatter(places, pl.Series(exact, dtype=pl.Int64))


def _plain(text: pl.Expr) -> pl.Expr:
    """Convert numbers of up to three decimals and no exponent; others are null. [ns]"""
    parts = text.str.splitn(".", 2)
    whole, decimals = parts.struct.field("field_0"), parts.struct.field("field_1")
    digits = decimals.fill_null("0")
    below = digits.str.pad_end(3, "0").cast(pl.Int64, strict=False)
    sign = pl.when(whole.str.starts_with("-")).then(-1).otherwise(1)
    micros = whole.cast(pl.Int64, strict=False)
    is_plain = micros.is_between(-_SAFE, _SAFE) & digits.str.contains(_DECIMALS)
    return pl.when(is_plain).then(micros * 1000 + sign * below)


def _exact(text: str) -> int | None:
    """Convert any number, however it is written. [ns]"""
    text = text.strip().strip('"').strip()
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text):
        return None
    value = Decimal(text)
    if value and value.adjusted() > _GREATEST_EXPONENT:
        return None
    ns = int(value.scaleb(3, context=_CONTEXT))
    return ns if -(1 << 63) <= ns < 1 << 63 else None
