"""Days of a lake, as rollups read them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from analysis import Day
from analysis._rollup import JOBS, Bounds, ReadWindows
from ingest.identity import identity_of
from pipeline._given import GivenDay
from pipeline._window import Window
from pipeline._windows import WINDOW_ROWS, Cut, Source, cut_of, windows_of


def identity(days: Source | GivenDay) -> str:
    """Return what stands for the rows of a day."""
    return days.key if isinstance(days, GivenDay) else identity_of(days.parts)


def rows_told(days: Source | GivenDay) -> int:
    """Return the rows of a day, as far as its parts tell. [1]"""
    if isinstance(days, GivenDay):
        return days.rows
    return sum(part.rows for part in days.parts)


def opened(
    days: Source | GivenDay, day: str, seen: Callable[[int], None], jobs: int = JOBS
) -> tuple[Day, int]:
    """Return a day as a rollup is given it, and its rows, about. [1]

    Args:
        days: The rows.
        day: UTC day, as YYYY-MM-DD.
        seen: Told of the rows that the rollup is done with.
        jobs: Windows that are worked on at once. [1]
    """
    if isinstance(days, GivenDay):
        return Day(days.place.owner, day, watched(days.read, seen), jobs), days.rows
    held = LakeDay.of(days)
    return Day(days.owner, day, watched(held.read, seen), jobs), held.rows


def watched(read: ReadWindows, seen: Callable[[int], None]) -> ReadWindows:
    """Return a way to read windows that tells how many rows were worked on.

    Args:
        read: Reads the windows.
        seen: Told of the rows of each, once the next one is asked for. Rows that are
            looked up again, within bounds, do not count.
    """
    return partial(_watched, read, seen)


def _watched(
    read: ReadWindows,
    seen: Callable[[int], None],
    columns: Sequence[str],
    bounds: Bounds | None = None,
) -> Iterator[pl.DataFrame]:
    for window in read(columns, bounds):
        yield window
        if bounds is None:
            seen(window.height)


@dataclass(frozen=True, slots=True)
class LakeDay:
    """Raw rows of an owner and a day of a lake, cut into windows.

    Attributes:
        source: The rows.
        cut: By what they are cut.
        windows: The windows, in order.
    """

    source: Source
    cut: Cut
    windows: tuple[Window, ...]

    @classmethod
    def of(cls, source: Source, window_rows: int = WINDOW_ROWS) -> "LakeDay":
        """Cut the rows of a day.

        Args:
            source: The rows.
            window_rows: Rows of a window, about. [1]
        """
        cut = cut_of(source)
        return cls(source, cut, tuple(windows_of(source, cut, window_rows)))

    @property
    def rows(self) -> int:
        """Rows of the day, about. [1]"""
        return sum(window.rows for window in self.windows)

    def read(
        self, columns: Sequence[str], bounds: Bounds | None = None
    ) -> Iterator[pl.DataFrame]:
        """Read columns of the rows within bounds, window by window."""
        cut, bounded = self.cut.column, self.cut.bounded
        begun: pl.DataFrame | None = None
        for window in self.windows:
            if bounds and bounded == "step" and not _touch(window, bounds):
                continue
            rows = self._rows(window)
            if bounds:
                rows = rows.filter(pl.col(bounded).is_between(*bounds))
            found = self._after(begun, window, self._ordered(rows, window, columns))
            begun = None
            if window.is_open:
                whole = int(found[cut].search_sorted(window.high, side="left"))
                found, begun = found[:whole], found[whole:]
            if found.height:
                yield found.select(columns)

    def _after(
        self, begun: pl.DataFrame | None, window: Window, rows: pl.DataFrame
    ) -> pl.DataFrame:
        """Put rows behind those of a step or host that began in the window before."""
        if begun is None or begun.is_empty():
            return rows
        both = pl.concat([begun.select(rows.columns), rows])
        return both if window.is_sorted else both.sort(self._key())

    def _key(self) -> list[str]:
        """Return what orders the rows of the owner."""
        return [c for c in self.source.table.key if c != self.source.owner_column]

    def _rows(self, window: Window) -> pl.LazyFrame:
        rows = self.source.scan(window.parts)
        if window.is_whole:
            return rows
        cut = self.cut
        # a bound may be a text, which alone would be the name of a column
        low, high = pl.lit(window.low), pl.lit(window.high)
        rows = rows.filter(pl.col(cut.column).is_between(low, high))
        if cut.group is None:
            return rows
        return rows.filter(pl.col(cut.group).eq_missing(window.group))

    def _ordered(
        self, rows: pl.LazyFrame, window: Window, columns: Sequence[str]
    ) -> pl.DataFrame:
        if window.is_sorted and not window.is_open:
            return rows.select(columns).collect()
        needed = list(dict.fromkeys([*columns, *self._key()]))
        found = rows.select(needed).collect()
        return found if window.is_sorted else found.sort(self._key())


def _touch(window: Window, bounds: Bounds) -> bool:
    return bool(window.low <= bounds[1] and bounds[0] <= window.high)
