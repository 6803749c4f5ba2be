"""Samples whose tool prints no time: those of one look take the time of the file.

A file with one sample of each GPU was written when they were taken: they get the time
at which it was last written, and say `file_time`. In a file with more nothing tells
which sample is of when, not even the distance between two, so all are refused.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from ingest.sources._power.fields import ADDRESS, INDEX, UUID
from ingest.sources._power.rows import NO_TIME, QUALITY, TIME_NS
from ingest.sources._source import Reading

#: Rows that one look may have: more than the GPUs of the largest node. [1]
MOST_ROWS: Final = 1_024

#: Cells of some samples, and the units that their header gives.
Cells = tuple[pl.DataFrame, Mapping[str, str]]

_GPU: Final = (UUID, ADDRESS, INDEX)


class Untimed:
    """Holds the samples of a first look until a second is seen, or the end."""

    def __init__(self, reading: Reading) -> None:
        """Start with none."""
        self._reading = reading
        self._held: list[Cells] = []
        self._is_series = False

    def place(self, cells: pl.DataFrame, units: Mapping[str, str]) -> Iterator[Cells]:
        """Yield the cells that are decided: each breaks a rule, as it has no time.

        Args:
            cells: Columns `place`, `line`, `rule` and the fields.
            units: Unit in the header of each field, by name.
        """
        is_broken = pl.col("rule").is_not_null()
        broken, sound = cells.filter(is_broken), cells.filter(~is_broken)
        if not sound.is_empty():
            self._held.append((sound, units))
            self._is_series = self._is_series or self._has_second()
        if self._is_series:
            yield from self._take(None, NO_TIME)
        if not broken.is_empty():
            yield _told(broken, None, None), units

    def rest(self) -> Iterator[Cells]:
        """Yield the cells of a file with one look, which have its time."""
        yield from self._take(self._reading.modified_ns, None)

    def _take(self, time_ns: int | None, rule: str | None) -> Iterator[Cells]:
        held, self._held = self._held, []
        for cells, units in held:
            yield _told(cells, time_ns, rule), units

    def _has_second(self) -> bool:
        """Return whether a GPU was looked at twice."""
        held = [cells for cells, _ in self._held]
        named = pl.concat(
            [cells.select(n for n in _GPU if n in cells.columns) for cells in held],
            how="diagonal",
        )
        if named.width == 0:
            return sum(cells.height for cells in held) > 1
        return named.height > MOST_ROWS or bool(named.is_duplicated().any())


def _told(cells: pl.DataFrame, time_ns: int | None, rule: str | None) -> pl.DataFrame:
    return cells.with_columns(
        pl.coalesce("rule", pl.lit(rule, pl.String)).alias("rule"),
        pl.lit(time_ns, pl.Int64).alias(TIME_NS),
        pl.lit("file_time").alias(QUALITY),
    )
