"""Time stamps of samples: milliseconds in Prometheus, seconds in OpenMetrics."""

from typing import Final

import polars as pl

#: Time stamps from here on are milliseconds, below they are seconds: as milliseconds
#: this is 1973, as seconds the year 5138.
EARLIEST_MS: Final = 100_000_000_000

#: Most digits of seconds and milliseconds whose nanoseconds may fit an Int64.
_MOST: Final = r"^\+?0*(\d{1,15})(?:\.(\d*))?$"

#: A stamp as Go may write a float: 1.7078448e+09.
_POWER: Final = r"^\+?(\d)(?:\.(\d{1,15}))?[eE]\+?0*(\d{1,2})$"

_SECOND_DIGITS: Final = 9
_MS_DIGITS: Final = 6

#: Latest stamps whose nanoseconds fit an Int64. [s, ms]
_LATEST_S: Final = (2**63 - 1) // 10**_SECOND_DIGITS - 1
_LATEST_MS: Final = (2**63 - 1) // 10**_MS_DIGITS - 1


def stamp_ns(stamp: pl.Expr) -> pl.Expr:
    """Return instants of time stamps as text; null where it is none. [ns]

    Digits are never put through a float. What is before 1970 is no time of a sample.
    """
    plain = pl.when(stamp.str.contains(_POWER)).then(_spelled_out(stamp))
    text = plain.otherwise(stamp)
    whole = text.str.extract(_MOST, 1).cast(pl.Int64)
    fraction = text.str.extract(_MOST, 2).fill_null("")
    in_s = _joined(whole, fraction, _SECOND_DIGITS)
    in_ms = _joined(whole, fraction, _MS_DIGITS)
    return (
        pl.when((whole >= EARLIEST_MS) & (whole <= _LATEST_MS))
        .then(in_ms)
        .when((whole < EARLIEST_MS) & (whole <= _LATEST_S) & (in_s > 0))
        .then(in_s)
    )


def _joined(whole: pl.Expr, fraction: pl.Expr, digits: int) -> pl.Expr:
    padded = fraction.str.head(digits).str.pad_end(digits, "0")
    return whole * pl.lit(10**digits) + padded.cast(pl.Int64, strict=False)


def _spelled_out(stamp: pl.Expr) -> pl.Expr:
    digits = stamp.str.extract(_POWER, 2).fill_null("")
    power = stamp.str.extract(_POWER, 3).cast(pl.UInt32)
    mantissa = stamp.str.extract(_POWER, 1) + digits
    # too few digits are padded, up to what can be a time at all
    padded = pl.concat_str(mantissa, pl.lit("0" * _SECOND_DIGITS * 2))
    return pl.concat_str(
        padded.str.slice(0, power + 1), pl.lit("."), padded.str.slice(power + 1)
    )
