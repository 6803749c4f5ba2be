"""Microseconds as a trace prints them, to whole nanoseconds, without a float.

Kineto prints nanoseconds as microseconds with three decimals, which a float of 64 bits
cannot hold since the epoch: it would step by 250 ns.
"""

from typing import Final

import polars as pl

#: Microseconds with a decimal for each nanosecond; what is finer rounds half to even.
_MICROS: Final = pl.Decimal(38, 3)


def micros_to_ns(text: pl.Series) -> pl.Series:
    """Convert the text of numbers of microseconds to nanoseconds.

    Args:
        text: Numbers as JSON prints them, or in quotes; "" where there is none. [us]

    Returns:
        Int64 values, null for what is no number or does not fit. [ns]
    """
    ns = _to_ns(text)
    if ns.null_count():
        quoted = text.str.strip_chars('" ')
        return ns.fill_null(_to_ns(quoted))
    return ns


def _to_ns(text: pl.Series) -> pl.Series:
    thousandths = text.cast(_MICROS, strict=False).to_physical()
    return thousandths.cast(pl.Int64, strict=False)
