"""Naive time stamps, zones and exact nanoseconds."""

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import cache
from typing import Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import polars as pl
from polars.exceptions import PolarsError

from ingest.errors import SettingError

#: Nanoseconds in a second. [ns]
SECOND_NS: Final = 1_000_000_000

#: Nanoseconds in an hour. [ns]
HOUR_NS: Final = 3_600 * SECOND_NS

#: Nanoseconds in a day. [ns]
DAY_NS: Final = 86_400 * SECOND_NS

_OFFSET = re.compile(r"([+-])([0-9]{2}):?([0-9]{2})")


#: Which of two instants a stamp is that daylight saving repeats.
Repeated = Literal["earliest", "latest"]


def parse_zone(text: str) -> tzinfo:
    """Return the zone of an IANA name (Europe/Berlin) or an offset (+01:00).

    Raises:
        SettingError: If the text is neither.
    """
    if text.upper() in {"UTC", "Z"}:
        return UTC
    if match := _OFFSET.fullmatch(text):
        sign, hours, minutes = match.groups()
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        if offset < timedelta(days=1):
            return timezone(offset if sign == "+" else -offset)
    try:
        return _named(text)
    except (ZoneInfoNotFoundError, ValueError, OSError, PolarsError) as error:
        message = (
            f"zone {text!r}: expected an IANA name such as Europe/Berlin or an offset"
            " such as +01:00; correct --zone or `zone` in the run card"
        )
        raise SettingError(message) from error


@cache
def _named(name: str) -> ZoneInfo:
    """Return a zone that Polars has too: it keeps a list of names of its own."""
    zone = ZoneInfo(name)
    pl.Series([datetime(1970, 1, 1)]).dt.replace_time_zone(name)  # noqa: DTZ001
    return zone


def naive_to_ns(
    stamps: pl.Expr,
    zone: tzinfo,
    repeated: Repeated = "earliest",
) -> pl.Expr:
    """Return instants since the epoch of naive Datetime stamps in a zone. [ns]

    A stamp that daylight saving skips is null. One that it repeats is taken as the
    first of the two, as journals and the schedulers' own tools do, unless told else.
    """
    if isinstance(zone, ZoneInfo):
        placed = stamps.dt.replace_time_zone(
            zone.key, ambiguous=repeated, non_existent="null"
        )
        return placed.dt.convert_time_zone("UTC").dt.epoch("ns")
    offset = zone.utcoffset(None) or timedelta(0)
    shift = (offset.days * 86_400 + offset.seconds) * SECOND_NS
    return stamps.dt.epoch("ns") - shift


def midnight_ns(day: str) -> int:
    """Return when a UTC day, as YYYY-MM-DD, begins. [ns]

    Raises:
        ValueError: If the text is no day.
    """
    begin = datetime.combine(date.fromisoformat(day), time(), tzinfo=UTC)
    return int(begin.timestamp()) * SECOND_NS


def day_name(time_ns: int) -> str:
    """Return the UTC day of an instant, as YYYY-MM-DD."""
    return f"{datetime.fromtimestamp(time_ns // SECOND_NS, UTC):%Y-%m-%d}"


def day_of(time_ns: pl.Expr) -> pl.Expr:
    """Return the UTC day of an instant, as YYYY-MM-DD; null where it is null."""
    return pl.from_epoch(time_ns // SECOND_NS, time_unit="s").dt.strftime("%Y-%m-%d")
