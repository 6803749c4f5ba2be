"""Time stamps of samples: milliseconds in Prometheus, seconds in OpenMetrics."""

import re
from decimal import Decimal
from typing import Final

import polars as pl

#: Time stamps from here on are milliseconds, below they are seconds: as milliseconds
#: this is 1973, as seconds the year 5138.
EARLIEST_MS: Final = 100_000_000_000

#: A stamp of no more digits than a time may have whose nanoseconds fit an Int64.
_PLAIN: Final = r"^\+?0*([0-9]{1,15})(?:\.([0-9]*))?$"

#: A stamp as Go may write a float: 1.7078448e+09.
_POWER: Final = re.compile(r"\+?[0-9](?:\.[0-9]{1,30})?[eE]\+?[0-9]{1,2}")

_SECOND_DIGITS: Final = 9
_MS_DIGITS: Final = 6

#: Latest stamps whose nanoseconds fit an Int64. [s, ms]
_LATEST_S: Final = (2**63 - 1) // 10**_SECOND_DIGITS - 1
_LATEST_MS: Final = (2**63 - 1) // 10**_MS_DIGITS - 1


def stamp_ns(stamps: pl.Series) -> pl.Series:
    """Return instants of time stamps as text; null where it is none. [ns]

    Digits are never put through a float. What is before 1970 is no time of a sample.
    """
    texts = stamps.alias("stamp")
    if texts.str.contains("e", literal=True).any() or (
        texts.str.contains("E", literal=True).any()
    ):
        texts = _spelled_out(texts)
    whole = pl.col("whole")
    parts = texts.to_frame().select(
        whole=pl.col("stamp").str.extract(_PLAIN, 1).cast(pl.Int64, strict=False),
        fraction=pl.col("stamp").str.extract(_PLAIN, 2).fill_null(""),
    )
    in_s = pl.when(whole <= _LATEST_S).then(_joined(_SECOND_DIGITS))
    in_ms = pl.when(whole <= _LATEST_MS).then(_joined(_MS_DIGITS))
    return parts.select(
        pl.when(whole >= EARLIEST_MS).then(in_ms).when(in_s > 0).then(in_s)
    ).to_series()


def _joined(digits: int) -> pl.Expr:
    padded = pl.col("fraction").str.head(digits).str.pad_end(digits, "0")
    scale = pl.lit(10**digits, pl.Int64)
    return pl.col("whole") * scale + padded.cast(pl.Int64, strict=False)


def _spelled_out(texts: pl.Series) -> pl.Series:
    """Write stamps with an exponent as those without; each different one once."""
    different = texts.unique().drop_nulls().to_list()
    spelled = [_digits(text) for text in different]
    return texts.replace_strict(
        different, spelled, default=None, return_dtype=pl.String
    )


def _digits(text: str) -> str:
    return f"{Decimal(text):f}" if _POWER.fullmatch(text) else text
