"""Time stamps inside lines of text, to exact nanoseconds."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

import polars as pl

from ingest.times import SECOND_NS, Repeated, naive_to_ns

#: ISO 8601: date, time, fraction after a point or a comma, offset. Years are those
#: whose nanoseconds fit 64 bits.
ISO_STAMP: Final = (
    r"((?:19[7-9]|20[0-9]|21[0-9])[0-9]-[0-9]{2}-[0-9]{2})[T ]"
    r"([0-9]{2}:[0-9]{2}:[0-9]{2})"
    r"(?:[.,]([0-9]{1,9}))?(?: ?(Z|[+-][0-9]{2}:?[0-9]{2}))?"
)

#: Stamp of glog: severity, month and day, time, fraction; neither year nor zone. In
#: PyTorch's own (c10/util/Logging.cpp) a month before October has one digit.
GLOG_STAMP: Final = r"\b[IWEF]([0-9]{3,4}) ([0-9]{2}:[0-9]{2}:[0-9]{2})\.([0-9]{1,9}) "

#: Days that a clock may be ahead of the file's own date: zones reach 14 hours.
_AHEAD: Final = timedelta(days=1)

#: Years to look back for a 29 February: 1900 was none, and 8 years span it.
_LEAP_REACH: Final = 8


def iso_ns(text: pl.Expr, zone: tzinfo, repeated: Repeated = "earliest") -> pl.Expr:
    """Return the instant of the first ISO stamp in a text; null where none is. [ns]

    Args:
        text: The text.
        zone: Zone of stamps that have no offset.
        repeated: Which of the two it is where daylight saving repeats a stamp.
    """
    parts = text.str.extract_groups(ISO_STAMP)
    day, time, fraction, offset = (parts.struct[i] for i in range(4))
    stamp = pl.concat_str(day, time, separator=" ")
    naive = stamp.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)
    whole = (
        pl.when(offset.is_null())
        .then(naive_to_ns(naive, zone, repeated))
        .otherwise(naive.dt.epoch("ns") - offset_ns(offset))
    )
    return whole + fraction_ns(fraction)


def is_naive(text: pl.Expr) -> pl.Expr:
    """Whether the first ISO stamp in a text has no offset; false where none is."""
    parts = text.str.extract_groups(ISO_STAMP)
    return parts.struct[0].is_not_null() & parts.struct[3].is_null()


def glog_ns(text: pl.Expr, zone: tzinfo, modified_ns: int, year: int | None) -> pl.Expr:
    """Return the instant of the first glog stamp in a text. [ns]

    Where the year is not known it is the latest in which the day exists and is not
    after the day on which the file was last written.

    Args:
        text: The text.
        zone: Zone of the stamps.
        modified_ns: When the file was last written. [ns]
        year: Year of the stamps, where it is known.
    """
    parts = text.str.extract_groups(GLOG_STAMP)
    latest = datetime.fromtimestamp(modified_ns // SECOND_NS, UTC) + _AHEAD
    until = latest.astimezone(zone).replace(tzinfo=None)
    years = [year] if year else range(until.year, until.year - _LEAP_REACH - 1, -1)
    day = parts.struct[0].str.pad_start(4, "0")
    candidates = []
    for one in years:
        stamp = pl.concat_str(pl.lit(f"{one:04d}"), day, pl.lit(" "), parts.struct[1])
        naive = stamp.str.to_datetime("%Y%m%d %H:%M:%S", strict=False)
        candidates.append(naive if year else pl.when(naive <= until).then(naive))
    placed = naive_to_ns(pl.coalesce(candidates), zone)
    return placed + fraction_ns(parts.struct[2])


def fraction_ns(digits: pl.Expr) -> pl.Expr:
    """Return the decimals of a second as integer nanoseconds. [ns]"""
    return digits.fill_null("0").str.pad_end(9, "0").cast(pl.Int64)


def decimal_ns(text: pl.Expr, unit_ns: int) -> pl.Expr:
    """Return a decimal number of a unit as nanoseconds, rounded down; else null. [ns]

    Args:
        text: Digits with or without a point, as 3156.5.
        unit_ns: Length of the unit, a power of ten of ns. [ns]
    """
    places = len(str(unit_ns)) - 1
    parts = text.str.extract_groups(r"^([0-9]{1,12})(?:\.([0-9]*))?$")
    digits = parts.struct[1].fill_null("").str.pad_end(places, "0").str.head(places)
    below = digits.cast(pl.Int64) if places else pl.lit(0, pl.Int64)
    return parts.struct[0].cast(pl.Int64) * unit_ns + below


def offset_ns(offset: pl.Expr) -> pl.Expr:
    """Return how far east of UTC an offset is (Z, UTC, +01:00, -0330). [ns]"""
    text = offset.replace({"Z": "+00:00", " UTC": "+00:00"})
    minutes = text.str.slice(1, 2).cast(pl.Int64) * 60 + text.str.tail(2).cast(pl.Int64)
    east = pl.when(text.str.starts_with("-")).then(-minutes).otherwise(minutes)
    return east * 60 * SECOND_NS
