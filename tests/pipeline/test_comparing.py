"""Days that a page can be compared from: those that the lake tells of."""

from typing import TYPE_CHECKING, Any, cast

import polars as pl
import pytest

from ingest.errors import SettingError
from pipeline.comparing import baseline_of

if TYPE_CHECKING:
    from ingest.lake import Snapshot


class Days:
    """A lake that was paid for on some days."""

    def __init__(self, *days: str) -> None:
        self._days = days

    def scan(self, _: Any) -> pl.LazyFrame:
        return pl.LazyFrame(
            {"run_id": ["r"] * len(self._days), "day": list(self._days)},
            schema={"run_id": pl.String, "day": pl.String},
        )


def since(text: str, *days: str) -> str:
    return baseline_of(text, cast("Snapshot", Days(*days)), ("r",)).since


@pytest.mark.parametrize("day", ["2026-03-02", "2026-03-03"])
def test_days_after_the_first_divide_the_time(day: str) -> None:
    days = ["1970-01-01", "2026-03-01", "2026-03-03"]
    assert since(day, *days) == day


@pytest.mark.parametrize("day", ["2026-03-01", "2026-03-04", "1999-01-01"])
def test_other_days_divide_nothing_and_the_message_says_which_would(day: str) -> None:
    with pytest.raises(SettingError, match="tells of 2026-03-01 to 2026-03-03"):
        since(day, "2026-03-03", "2026-03-01")


def test_times_of_no_calendar_have_no_day() -> None:
    with pytest.raises(SettingError, match="nothing in the lake has a day"):
        since("2026-03-01", "1970-01-01")
