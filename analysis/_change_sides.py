"""Two sides of a comparison: some runs, in some days."""

from dataclasses import dataclass

import polars as pl

from analysis._analysis import Frames
from ingest.tables import Table
from ingest.times import midnight_ns


@dataclass(frozen=True, slots=True)
class Side:
    """What is compared.

    Attributes:
        frames: The tables.
        run_ids: Runs that count; empty means all.
        since: First UTC day that counts, as YYYY-MM-DD; empty means all before.
        until: First UTC day that counts no more; empty means all after.
    """

    frames: Frames
    run_ids: tuple[str, ...] = ()
    since: str = ""
    until: str = ""

    def rows(self, table: type[Table]) -> pl.LazyFrame:
        """Return the rows of a table that belong to the runs, of whatever day."""
        return self.of_runs(self.frames[table])

    def of_runs(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows that belong to the runs."""
        if not self.run_ids:
            return frame
        return frame.filter(pl.col("run_id").is_in(self.run_ids))

    def of_days(self, day: pl.Expr) -> pl.Expr:
        """Return whether a UTC day counts."""
        counts = pl.lit(value=True)
        if self.since:
            counts &= day >= self.since
        return counts & (day < self.until) if self.until else counts

    def within(self, time_ns: pl.Expr) -> pl.Expr:
        """Return whether an instant counts."""
        counts = pl.lit(value=True)
        if self.since:
            counts &= time_ns >= midnight_ns(self.since)
        return counts & (time_ns < midnight_ns(self.until)) if self.until else counts

    def shared_ns(self, from_ns: pl.Expr, to_ns: pl.Expr) -> pl.Expr:
        """Return how much of a span counts. [ns]"""
        start = (
            pl.max_horizontal(from_ns, midnight_ns(self.since))
            if self.since
            else from_ns
        )
        end = pl.min_horizontal(to_ns, midnight_ns(self.until)) if self.until else to_ns
        return (end - start).clip(0)
