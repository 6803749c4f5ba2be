"""Time stamps as text, as instants since the Unix epoch."""

import warnings
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final, Literal

import polars as pl
from polars.exceptions import PolarsError

from ingest.phrases import phrase
from ingest.times import SECOND_NS, naive_to_ns

#: Which of two instants a stamp is that daylight saving repeats.
Repeated = Literal["earliest", "latest"]

#: Name of the format that ISO 8601 describes: a date, a time of day and an offset, the
#: latter two where they are told.
ISO: Final = "iso8601"

#: Years whose nanoseconds fit 64 bit, whole years only.
_YEARS: Final = (1678, 2261)

#: What a format must tell again of a stamp that was written in it.
_EXAMPLE: Final = datetime(2001, 2, 3, 14, 5, tzinfo=UTC)

#: Directives that cannot be used: the name of a zone is passed over, and a number of
#: seconds is in no zone.
_MISLEADING: Final = ("%Z", "%s")

_FRACTIONS: Final = (
    "fractions of a second are %.f behind the seconds, as in '%H:%M:%S%.f', and %3f,"
    " %6f or %9f of as many digits behind another sign"
)
_UNKNOWN: Final = (
    "a directive in it is none, or %I stands without %p; write it as in"
    " '%Y-%m-%d %H:%M:%S%.f'"
)

_ISO: Final = (
    r"^([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[Tt ]([0-9]{2}:[0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,30}))?)?"
    r" ?(?:([Zz]|UTC)|([+-])([0-9]{2}):?([0-9]{2})?)?)?$"
)


@dataclass(frozen=True, slots=True)
class Instants:
    """Instants, and whether their zone had to be known.

    Attributes:
        value: Instants; null where the text is none. [ns]
        naive: Whether a text tells no offset of its own.
    """

    value: pl.Expr
    naive: pl.Expr


def of_iso(text: pl.Expr, zone: tzinfo, repeated: Repeated) -> Instants:
    """Return the instants of ISO 8601 stamps; those without an offset are in a zone."""
    parts = text.str.extract_groups(_ISO).struct
    clock = phrase(
        "{} {}:{}",
        parts.field("1"),
        parts.field("2").fill_null("00:00"),
        parts.field("3").fill_null("00"),
    )
    stamps = _parsed(clock, "%Y-%m-%d %H:%M:%S")
    digits = parts.field("4").fill_null("").str.pad_end(9, "0").str.head(9)
    minutes = (
        parts.field("7").cast(pl.Int64) * 60
        + parts.field("8").fill_null("0").cast(pl.Int64)
    ) * pl.when(parts.field("6") == "-").then(-1).otherwise(1)
    offset = pl.when(parts.field("5").is_not_null()).then(0).otherwise(minutes)
    there = stamps.dt.epoch("ns") - offset * 60 * SECOND_NS
    here = naive_to_ns(stamps, zone, repeated)
    naive = offset.is_null()
    return Instants(
        pl.when(naive).then(here).otherwise(there) + digits.cast(pl.Int64), naive
    )


def of_format(text: pl.Expr, form: str, zone: tzinfo, repeated: Repeated) -> Instants:
    """Return the instants of stamps in a format, as strptime knows it."""
    stamps = _parsed(text, form)
    if "%z" in form or "%:z" in form:
        return Instants(stamps.dt.epoch("ns"), pl.lit(value=False))
    return Instants(naive_to_ns(stamps, zone, repeated), pl.lit(value=True))


def _parsed(text: pl.Expr, form: str) -> pl.Expr:
    """Return stamps; null where the text is none or no 64 bit hold its nanoseconds."""
    rough = text.str.to_datetime(form, strict=False, time_unit="us")
    stamps = rough
    if "f" in form:
        stamps = text.str.to_datetime(form, strict=False, time_unit="ns")
    return pl.when(rough.dt.year().is_between(*_YEARS)).then(stamps)


def fault_of(form: str) -> str | None:
    """Return what is wrong with a format; None where it can be used."""
    if any(word in form for word in _MISLEADING):
        return f"{' and '.join(_MISLEADING)} cannot be used; an offset is %z"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            written = pl.Series([_EXAMPLE]).dt.strftime(form)
            read = written.str.to_datetime(form, strict=False, time_unit="us")
    except Warning:
        return _FRACTIONS
    except (PolarsError, pl.exceptions.PanicException):
        return _UNKNOWN
    found = read.item()
    if found is None or found.date() != _EXAMPLE.date():
        return "it must tell the year, the month and the day"
    return None


def instant(stamp: str, zone: tzinfo) -> int | None:
    """Return the instant of one ISO 8601 stamp; None where it is none. [ns]"""
    frame = pl.DataFrame({"stamp": [stamp]})
    found = frame.select(of_iso(pl.col("stamp"), zone, "earliest").value).item()
    return None if found is None else int(found)


def is_naive(stamp: str) -> bool:
    """Return whether an ISO 8601 stamp tells no offset of its own."""
    frame = pl.DataFrame({"stamp": [stamp]})
    naive = of_iso(pl.col("stamp"), UTC, "earliest").naive
    return bool(frame.select(naive).item())
