"""Keep a lake small: old raw days that rollups cover are retired, parts are merged."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from ingest import compaction, retention
from ingest.errors import SettingError
from ingest.lake import Writer, snapshot
from ingest.tables import Table
from pipeline import covering
from pipeline.logs import Say
from pipeline.publishing import EVERY_TABLE, publish
from pipeline.settings import Settings

#: Days of up to five digits: a date has to lie before them.
_DAYS: Final = re.compile(r"([0-9]{1,5})d")


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did.

    Attributes:
        merged: Parts that were merged. [1]
        into: Parts that they became. [1]
        retired: Days whose raw rows left, by table.
        rows: Raw rows that left. [1]
        kept: What could not be retired, in words.
    """

    merged: int
    into: int
    retired: Mapping[type[Table], list[str]]
    rows: int
    kept: tuple[str, ...]

    def lines(self) -> list[str]:
        """The summary in words."""
        head = f"{self.merged:,} parts merged into {self.into:,}"
        days = len({day for days in self.retired.values() for day in days})
        if days or self.kept:
            of = f"{days} day{'s' * (days != 1)}"
            head += f"; {self.rows:,} raw rows of {of} retired"
        told = [
            f"{table.sql_name()}: retired {', '.join(days)}: rollups only"
            for table, days in self.retired.items()
            if days
        ]
        return [head, *told, *self.kept]


def days_of(keep_raw: str) -> int:
    """Return the whole days of a retention, as in 7d. [d]

    Raises:
        SettingError: If it is anything else.
    """
    said = _DAYS.fullmatch(keep_raw.strip())
    if said is None:
        message = (
            f"keep_raw {keep_raw!r}: expected whole UTC days, such as 7d (0d keeps the"
            " newest day only, 99999d is the most); correct --keep-raw or the setting"
        )
        raise SettingError(message)
    return int(said.group(1))


def compact(writer: Writer, settings: Settings, say: Say) -> Compacted:
    """Retire raw days where the settings say so, then merge small parts.

    Args:
        writer: The lake, locked.
        settings: Settings in force; `keep_raw` is how many days stay raw, None: all.
        say: Told of progress.

    Raises:
        SettingError: If `keep_raw` is no number of days.
        LakeError: If the lake is damaged.
    """
    retired: dict[type[Table], list[str]] = {}
    rows, kept = 0, list[str]()
    if settings.keep_raw is not None:
        keep = days_of(settings.keep_raw)
        today = datetime.now(UTC).date().isoformat()
        due = covering.due(snapshot(writer.root), keep, today)
        retired, kept = covering.covered(writer, settings, due, say)
        if any(retired.values()):
            rows = retention.retire(writer, retired).rows
    merged, into = _merge(writer, say)
    publish(writer.root)
    return Compacted(merged, into, retired, rows, tuple(kept))


def _merge(writer: Writer, say: Say) -> tuple[int, int]:
    wanted = list(compaction.merges(writer.root, EVERY_TABLE))
    old = new = 0
    for number, one in enumerate(wanted, 1):
        began_s = time.monotonic()
        parts = compaction.merge(writer, one)
        rate = one.rows / max(time.monotonic() - began_s, 1e-9) / 1e6
        say(
            f"{one.table.sql_name()} {one.day or 'undated'}: {len(one.parts):,} parts"
            f" merged into {len(parts):,}, {one.rows:,} rows ({rate:.1f} M rows/s),"
            f" {number} of {len(wanted)}"
        )
        old += len(one.parts)
        new += len(parts)
    return old, new
