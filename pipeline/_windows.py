"""The windows of a day: groups of rows that are read together, in order."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import polars as pl

from ingest import reading
from ingest.lake import Snapshot
from ingest.manifest import Part
from ingest.tables import StepTimings, Table
from pipeline._owners import sole_owner
from pipeline._window import Window, chains, go_on, joined

#: Rows of a window: of steps of 16,384 ranks, some 70. They take some 400 B each, and
#: some windows are worked on at once; more rows make nothing faster. [1]
WINDOW_ROWS: Final = 1_200_000


class Cut(NamedTuple):
    """How a table is cut into windows.

    Attributes:
        group: Column of which a window has one value; None where there is none.
        column: Column of which no value is in two windows of a group.
        bounded: Column that bounds of a rollup are of.
    """

    group: str | None
    column: str
    bounded: str


#: How the tables are cut that have a day of many rows.
_STEPS: Final = Cut("attempt", "step", "step")

#: Samples are sorted by host, and by device within it.
_HOSTS: Final = Cut(None, "host", "time_ns")
_DEVICES: Final = Cut(None, "gpu_uuid", "time_ns")


@dataclass(frozen=True, slots=True)
class Source:
    """Raw rows of an owner and a day.

    Attributes:
        lake: The lake.
        table: Table of the rows.
        owner_column: Column by which they belong to an owner.
        owner: The owner.
        parts: Parts that have them, among others.
        traced: Files whose rows are left out.
    """

    lake: Snapshot
    table: type[Table]
    owner_column: str
    owner: str
    parts: tuple[Part, ...]
    traced: frozenset[str]

    def scan(self, parts: Sequence[Part]) -> pl.LazyFrame:
        """Return the owner's rows of some of the parts, lazily."""
        rows = reading.scan(self.lake, self.table, parts)
        if not all(sole_owner(part, self.owner_column) for part in parts):
            rows = rows.filter(pl.col(self.owner_column) == self.owner)
        return reading.without_files(rows, parts, self.traced)


def cut_of(source: Source) -> Cut:
    """Return how rows are cut so that a rollup has all of a step, or of a device."""
    if source.table is StepTimings:
        return _STEPS
    places = source.scan(source.parts).select("host", "gpu_uuid").unique()
    found = places.collect(engine="streaming")
    is_told = not found["host"].null_count()
    return _HOSTS if is_told and found["gpu_uuid"].is_unique().all() else _DEVICES


def windows_of(source: Source, cut: Cut, window_rows: int) -> list[Window]:
    """Cut the rows of a day into windows, from the bounds of parts where they tell.

    Args:
        source: The rows.
        cut: By what.
        window_rows: Rows of a window, about. [1]
    """
    pieces = [_piece(part, cut, source) for part in source.parts]
    known = [piece for piece in pieces if piece]
    if len(known) < len(pieces):
        return _counted(source, source.parts, cut, window_rows)
    leading = [name for name in (source.owner_column, *cut[:2]) if name]
    led = list(source.table.key[: len(leading)]) == leading
    found: list[Window] = []
    for chain in chains(sorted(known, key=_place), may_touch=led):
        if chain.rows > 2 * window_rows:
            found += _counted(source, chain.parts, cut, window_rows)
        else:
            found.append(chain)
    windows = list(joined(found, window_rows))
    return [
        one._replace(is_open=go_on(one, after))
        for one, after in zip_longest(windows, windows[1:])
    ]


def _place(piece: Window) -> tuple[Any, ...]:
    return (*piece[:3], piece.parts[0].key_first or "")


def _piece(part: Part, cut: Cut, source: Source) -> Window | None:
    """Return a part as a window of its own; None where its bounds do not tell."""
    low, high = part.bounds(cut.column)
    group, last = part.bounds(cut.group) if cut.group else (None, None)
    is_one = not cut.group or (group is not None and group == last)
    has_others = not source.traced.isdisjoint(part.file_ids)
    if not is_one or low is None or sole_owner(part, source.owner_column) is None:
        return None
    return Window(group, low, high, part.rows, (part,), not has_others, is_sorted=True)


def _counted(
    source: Source, parts: Sequence[Part], cut: Cut, window_rows: int
) -> list[Window]:
    """Cut rows by how many there are of each value."""
    group = pl.col(cut.group) if cut.group else pl.lit(None, pl.Int32)
    rows = source.scan(parts).select(group.alias("group"), value=cut.column)
    counts = rows.group_by("group", "value").len("rows").collect(engine="streaming")
    before = pl.col("rows").cum_sum().over("group") - pl.col("rows")
    ordered = counts.sort("group", "value").with_columns(pl.col("rows").cast(pl.Int64))
    cuts = ordered.with_columns(number=before // window_rows)
    bounds = cuts.group_by("group", "number").agg(
        low=pl.col("value").min(), high=pl.col("value").max(), rows=pl.col("rows").sum()
    )
    is_sorted = len(parts) == 1
    return [
        Window(group, low, high, rows, _near(parts, cut, low, high), False, is_sorted)
        for group, _, low, high, rows in bounds.sort("group", "number").iter_rows()
    ]


def _near(parts: Sequence[Part], cut: Cut, low: Any, high: Any) -> tuple[Part, ...]:
    return tuple(
        part
        for part in parts
        if (bounds := part.bounds(cut.column))[0] is None
        or (bounds[0] <= high and low <= bounds[1])
    )
