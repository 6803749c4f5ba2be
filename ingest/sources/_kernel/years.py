"""The year of syslog time stamps, which carry none.

In a file that is in order, a month that falls from one line to the next means that a
New Year lies between. A line in which the kernel sets the clock tells its year; where
there is none, the last line of each node is dated by the day on which the file was last
written. The others follow from it.
"""

import calendar
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

import polars as pl

from ingest.times import SECOND_NS

MONTHS: Final = tuple(calendar.month_abbr[1:])

#: Start of a line of syslog (RFC 3164): month, day, time, fraction, node.
SYSLOG_START: Final = (
    rf"^(?:<[0-9]{{1,3}}>)?({'|'.join(MONTHS)}) +([0-9]{{1,2}}) "
    r"([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))? (\S+)"
)

#: Days by which lines may be out of order without a New Year between them: nodes that
#: send late after a network fault, not logs that are pasted together.
DISORDER_DAYS: Final = 7

#: Days of a year in which every month has 31, so that month and day give a number.
_LONG_YEAR: Final = 12 * 31

#: Days that a clock may be ahead of the file's own date: zones reach 14 hours.
_AHEAD: Final = timedelta(days=1)

#: Years to look back for a 29 February: 1900 was none, and 8 years span it.
_LEAP_REACH: Final = 8

#: What the kernel says as it starts: year and month, in UTC.
_CLOCK: Final = (
    r"setting system clock to ((?:19[7-9]|20[0-9]|21[0-9])[0-9])-([0-9]{2})-"
)

_CARRY: Final = {"host": pl.String, "day": pl.Int32, "turn": pl.Int32}
_FEBRUARY_29: Final = 1 * 31 + 29


class YearWalk:
    """Counts the New Years that each node's lines have passed, block by block."""

    def __init__(self) -> None:
        """Start before the first line."""
        self._last = pl.DataFrame(schema=_CARRY)
        self._leaps = pl.DataFrame(schema={"host": pl.String, "turn": pl.Int32})
        self._told: dict[str, int] = {}

    def advance(self, lines: pl.DataFrame) -> pl.DataFrame:
        """Return `number`, `host` and `turn` (New Years passed) of the dated lines.

        Args:
            lines: Columns `number` and `line`, in the order of the file.
        """
        groups = (
            pl.col("line")
            .str.extract_groups(SYSLOG_START)
            .struct.rename_fields(["month", "date", "time", "fraction", "host"])
        )
        dated = (
            lines.filter(pl.col("line").str.contains(SYSLOG_START))
            .select("number", groups.alias("stamp"), _clock_year().alias("clock"))
            .unnest("stamp")
            .select("number", "host", _day_number().alias("day"), "clock")
        )
        turned = _count_turns(pl.concat([self._last, dated], how="diagonal"))
        self._last = (
            turned.group_by("host", maintain_order=True).last().select(_CARRY.keys())
        )
        leaps = turned.filter(day=_FEBRUARY_29).select("host", "turn")
        self._leaps = pl.concat([self._leaps, leaps]).unique()
        self._told |= _told_years(turned)
        return turned.filter(pl.col("number").is_not_null()).drop("day", "clock")

    def first_years(
        self, modified_ns: int, zone: tzinfo, year: int | None
    ) -> pl.DataFrame:
        """Return `host` and `first_year`, the year of its lines of turn 0.

        Args:
            modified_ns: When the file was last written. [ns]
            zone: Zone of the time stamps.
            year: Year of the first line, where it is known.
        """
        modified = datetime.fromtimestamp(modified_ns // SECOND_NS, UTC)
        latest = (modified.astimezone(zone) + _AHEAD).date()
        leaps: dict[str, list[int]] = {}
        for host, turn in self._leaps.iter_rows():
            leaps.setdefault(host, []).append(turn)
        years = [
            year
            or self._told.get(host)
            or _first_year(latest, day, turn, leaps.get(host, []))
            for host, day, turn in self._last.iter_rows()
        ]
        return self._last.select("host", pl.Series("first_year", years, dtype=pl.Int32))


def _day_number() -> pl.Expr:
    """Number days by month and day in a year of 31-day months."""
    month = pl.col("month").replace_strict(
        MONTHS, range(12), default=None, return_dtype=pl.Int32
    )
    return month * 31 + pl.col("date").cast(pl.Int32)


def _clock_year() -> pl.Expr:
    """Return twelve times the year and the month that the kernel set its clock to."""
    clock = pl.col("line").str.extract_groups(_CLOCK)
    return clock.struct[0].cast(pl.Int32) * 12 + clock.struct[1].cast(pl.Int32) - 1


def _told_years(turned: pl.DataFrame) -> dict[str, int]:
    """Return the year of turn 0 by node, where the kernel told it.

    The clock is UTC and the stamp local, so at New Year they differ by a month.
    """
    told = turned.drop_nulls(["clock", "day"])
    apart = ((told["day"] - 1) // 31 - told["clock"] % 12 + 18) % 12 - 6
    year = (told["clock"] + apart) // 12 - told["turn"]
    return dict(zip(told["host"], year, strict=True))


def _count_turns(days: pl.DataFrame) -> pl.DataFrame:
    """Count New Years per host; the rows carried over come first with their count."""
    step = pl.col("day").diff().over("host")
    turn = (
        pl.when(step < -DISORDER_DAYS)
        .then(1)
        .when(step > _LONG_YEAR - DISORDER_DAYS)
        .then(-1)
        .otherwise(0)
        .cast(pl.Int32)
    )
    return days.with_columns(
        turn=(turn + pl.col("turn").fill_null(0)).cum_sum().over("host")
    )


def _first_year(latest: date, day: int, turn: int, leaps: list[int]) -> int:
    """Date the last line not after `latest`, and every 29 February in a leap year."""
    newest = latest.year - (day > (latest.month - 1) * 31 + latest.day)
    first = newest - turn
    for back in range(_LEAP_REACH + 1):
        if all(calendar.isleap(first - back + leap) for leap in leaps):
            return first - back
    return first
