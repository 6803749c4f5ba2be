"""Zones: only those in which every time stamp can be placed."""

from datetime import datetime, timedelta

import polars as pl
import pytest

from ingest.errors import SettingError
from ingest.times import naive_to_ns, parse_zone


@pytest.mark.parametrize(
    "name",
    ["localtime", "right/UTC", "posix/Europe/Berlin", "Factory", "posixrules", "a\0b"],
)
def test_a_zone_that_cannot_place_stamps_is_refused(name: str) -> None:
    with pytest.raises(SettingError, match="expected an IANA name"):
        parse_zone(name)


@pytest.mark.parametrize(
    ("name", "hours"),
    [("Europe/Berlin", 1), ("America/New_York", -5), ("Etc/UTC", 0), ("+01:00", 1)],
)
def test_a_zone_that_is_taken_places_stamps(name: str, hours: int) -> None:
    # GIVEN noon of a winter's day, which is so many hours earlier in UTC
    stamps = pl.DataFrame({"at": [datetime(2026, 1, 2, 12)]})  # noqa: DTZ001
    placed = stamps.select(naive_to_ns(pl.col("at"), parse_zone(name))).item()
    noon = stamps.select(pl.col("at").dt.epoch("ns")).item()
    assert placed == noon - timedelta(hours=hours) // timedelta(microseconds=1) * 1_000
