"""Stamps of power tools as naive times, and numbers of seconds as exact instants."""

from typing import Final

import polars as pl

from ingest.sources._power.rows import QUALITY, TIME_NS, stamped
from ingest.sources._source import Reading

_ASCTIME: Final = (
    r"^[A-Z][a-z]{2} +([A-Z][a-z]{2}) +"
    r"([0-9]{1,2} [0-9]{2}:[0-9]{2}:[0-9]{2} 20[0-9]{2})$"
)

#: Seconds since the epoch from September 2001 on: with a fraction, or in whole milli-,
#: micro- or nanoseconds, whose further digits are one.
_EPOCH: Final = r"^([0-9]{10})(?:\.([0-9]{1,9})[0-9]*|([0-9]{3}|[0-9]{6}|[0-9]{9}))?$"

#: A stamp that tells its distance from UTC.
_ZONED: Final = (
    r"^20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"(?:\.[0-9]{1,9})?[+-][0-9]{2}:?[0-9]{2}$"
)
_ZONED_FORMAT: Final = "%Y-%m-%d %H:%M:%S%.f%z"

#: Whether a stamp needed the zone.
NAIVE: Final = "naive"


def asctime(stamp: pl.Expr) -> pl.Expr:
    """Return a stamp such as `Fri Aug  4 11:44:30 2023` as a naive time."""
    parts = stamp.str.extract_groups(_ASCTIME)
    text = pl.concat_str(parts.struct[0], parts.struct[1], separator=" ")
    return text.str.to_datetime("%b %d %H:%M:%S %Y", strict=False, time_unit="ns")


def epoch_ns(seconds: pl.Expr) -> pl.Expr:
    """Return seconds since the epoch, as decimal text, as an instant. [ns]

    The digits are taken as they are: no float is on the way. Null where the text is
    none, or is a time before 2001, as monotonic clocks show.
    """
    parts = seconds.str.extract_groups(_EPOCH)
    digits = pl.coalesce(parts.struct[1], parts.struct[2], pl.lit(""))
    whole = pl.concat_str(parts.struct[0], digits.str.pad_end(9, "0"))
    return whole.cast(pl.Int64, strict=False)


def instant(stamp: pl.Expr, reading: Reading) -> list[pl.Expr]:
    """Return time, its quality and NAIVE of stamps of any spelling.

    The time is null where a stamp is none.

    Args:
        stamp: Seconds since the epoch, or date and time with or without a zone.
        reading: What tells the zone of stamps without one.
    """
    spelled = stamp.str.strip_chars("[](),: ").str.replace_all("/", "-", literal=True)
    plain = spelled.str.replace("T", " ", literal=True).str.replace(" ?Z$", "+00:00")
    zoned = pl.when(plain.str.contains(_ZONED)).then(plain)
    placed = zoned.str.to_datetime(
        _ZONED_FORMAT, strict=False, time_unit="ns", time_zone="UTC"
    ).dt.epoch("ns")
    sure = pl.coalesce(epoch_ns(spelled), placed)
    local, quality = stamped(plain, reading)
    return [
        pl.coalesce(sure, local).alias(TIME_NS),
        pl.when(sure.is_null()).then(quality).otherwise(pl.lit("exact")).alias(QUALITY),
        (sure.is_null() & local.is_not_null()).alias(NAIVE),
    ]
