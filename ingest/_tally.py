"""What is counted while a file is read: every row is accounted for."""

from collections import Counter
from typing import Any

import polars as pl

from ingest.sources import Batch
from ingest.tables import IngestedFiles, Table


class Tally:
    """Counts of one file."""

    def __init__(self) -> None:
        """Start at nothing."""
        self.zone_used = False
        self._offered: Counter[type[Table]] = Counter()
        self._read = 0
        self._accepted = 0
        self._rejected = 0
        self._records = 0
        self._repairs = 0
        self._first_ns: int | None = None
        self._last_ns: int | None = None

    def see(self, batch: Batch) -> None:
        """Count what a reader says of a batch, and the records it refused."""
        self._read += len(batch.refused)
        self._records += batch.records
        self._repairs += batch.repairs
        self.zone_used |= batch.zone_used

    def offered(self, table: type[Table], rows: int) -> int:
        """Count rows offered to a table; return how many there were before."""
        before = self._offered[table]
        self._offered[table] += rows
        self._read += rows
        return before

    def span(self, table: type[Table], rows: pl.DataFrame) -> None:
        """Widen the time of the file by that of valid rows."""
        if table.day_column is None:
            return
        times = rows[table.day_column]
        first, last = times.min(), times.max()
        if not isinstance(first, int) or not isinstance(last, int):
            return
        self._first_ns = min(first, first if self._first_ns is None else self._first_ns)
        self._last_ns = max(last, last if self._last_ns is None else self._last_ns)

    def accept(self, rows: int) -> None:
        """Count rows that are taken; negative for those that are not, after all."""
        self._accepted += rows

    def reject(self, rows: int) -> None:
        """Count rows that are refused."""
        self._rejected += rows

    def counts(self) -> dict[str, Any]:
        """Return the counts by column of IngestedFiles."""
        return {
            IngestedFiles.rows_read.name: self._read,
            IngestedFiles.rows_accepted.name: self._accepted,
            IngestedFiles.rows_rejected.name: self._rejected,
            IngestedFiles.rows_retired.name: 0,
            IngestedFiles.records_seen.name: self._records,
            IngestedFiles.repairs.name: self._repairs,
            IngestedFiles.first_ns.name: self._first_ns,
            IngestedFiles.last_ns.name: self._last_ns,
        }
