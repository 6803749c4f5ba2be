"""Raw rows of old days leave the lake; what is kept of them is for others to say.

Files say how many of their rows are gone (`rows_retired`), and what comes later for a
day that is gone is counted there and never written. Two kinds of rows stay, since they
are of no day that could be old: rows without a time, and rows whose time is before
2000, which counts from a moment of its own. So do the steps of traces: no rollup has
them.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from ingest._commit import account
from ingest._offers import together
from ingest._retiring import RETIRED, leave, traced_files
from ingest.lake import Writer
from ingest.manifest import Manifest, Part
from ingest.tables import IngestedFiles, Table

if TYPE_CHECKING:
    import polars as pl

#: First day that a clock of today could tell: times before it count from elsewhere.
FIRST_DAY: Final = "2000-01-01"


@dataclass(frozen=True, slots=True)
class Retired:
    """What a retention did.

    Attributes:
        rows: Rows that left. [1]
        parts: Parts that left. [1]
    """

    rows: int
    parts: int


def newest_day(lake: Manifest, tables: Iterable[type[Table]], today: str) -> str | None:
    """Return the newest UTC day of raw rows; none where there are none.

    Days after tomorrow are left out: a clock that runs ahead must not age the others.

    Args:
        lake: The lake.
        tables: Tables of raw rows.
        today: UTC day, as YYYY-MM-DD.
    """
    last = (date.fromisoformat(today) + timedelta(days=1)).isoformat()
    found = (part.day for table in tables for part in _dated(lake, table))
    return max((day for day in found if day is not None and day <= last), default=None)


def days_before(
    lake: Manifest, table: type[Table], newest: str, keep: int
) -> list[str]:
    """Return the days of a table that are older than the newest minus some, sorted.

    Args:
        lake: The lake.
        table: Table of raw rows.
        newest: Newest day of the data.
        keep: Days before it that are kept. [d]
    """
    first = (date.fromisoformat(newest) - timedelta(days=keep)).isoformat()
    gone = {day for name, day in lake.retired_days if name == table.sql_name()}
    days = {str(part.day) for part in _dated(lake, table)}
    return sorted(day for day in days - gone if day < first)


def _dated(lake: Manifest, table: type[Table]) -> list[Part]:
    parts = lake.of(table.sql_name(), "raw")
    return [part for part in parts if part.day is not None and part.day >= FIRST_DAY]


def never_retired(lake: Manifest, table: type[Table]) -> int:
    """Return the rows of a table that have no day on any calendar. [1]"""
    parts = lake.of(table.sql_name(), "raw")
    return sum(p.rows for p in parts if p.day is None or p.day < FIRST_DAY)


def retired_days(lake: Manifest) -> dict[str, list[str]]:
    """Return the days whose raw rows are gone for good, sorted, by table."""
    found: dict[str, list[str]] = {}
    for table, day in sorted(lake.retired_days):
        found.setdefault(table, []).append(day)
    return found


def retire(writer: Writer, wanted: Mapping[type[Table], Collection[str]]) -> Retired:
    """Take the raw rows of days out of their tables for good, in one commit.

    Args:
        writer: The lake, locked.
        wanted: UTC days by table.

    Raises:
        LakeError: If the manifest or a part is damaged.
    """
    with writer.drafting() as draft:
        traced = traced_files(draft)
        changes: list[pl.DataFrame] = []
        parts = 0
        for table, days in wanted.items():
            for part in draft.standing(table, "raw", "duplicate"):
                if part.day in days and not traced.issuperset(part.file_ids):
                    changes += leave(draft, table, part, traced)
                    parts += 1
            for day in days:
                draft.retire(table, day)
        told = together(changes)
        account(draft, IngestedFiles.create_empty(), told)
    return Retired(int(told[RETIRED].sum()), parts)
