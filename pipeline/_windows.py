"""The windows of a day: groups of rows that are read together, in order."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import polars as pl

from ingest import reading
from ingest.lake import Snapshot
from ingest.manifest import Part
from ingest.tables import PowerSamples, StepTimings, Table
from pipeline._owners import sole_owner

#: Rows of a window: of steps of 16,384 ranks, some 120. They take some 400 B each, and
#: more of them make nothing faster. [1]
WINDOW_ROWS: Final = 2_000_000


class Cut(NamedTuple):
    """How a table is cut into windows.

    Attributes:
        group: Column of which a window has one value; None where there is none.
        column: Column of which no value is in two windows of a group.
    """

    group: str | None
    column: str


#: How the tables are cut that have a day of many rows.
CUTS: Final[dict[type[Table], Cut]] = {
    StepTimings: Cut("attempt", "step"),
    PowerSamples: Cut(None, "gpu_uuid"),
}


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


class Window(NamedTuple):
    """Rows that are read together.

    Attributes:
        group: Value of the cut's group, None where it is null or there is none.
        low: Least value of the cut's column.
        high: Greatest value of it.
        rows: Rows, about. [1]
        parts: Parts that have them, in order of their least value.
        is_whole: Whether the parts have no other rows.
        is_sorted: Whether the parts, read in order, are sorted.
    """

    group: int | None
    low: Any
    high: Any
    rows: int
    parts: tuple[Part, ...]
    is_whole: bool
    is_sorted: bool


def windows_of(source: Source, window_rows: int = WINDOW_ROWS) -> list[Window]:
    """Cut the rows of a day into windows, from the bounds of parts where they tell.

    Args:
        source: The rows.
        window_rows: Rows of a window, about. [1]
    """
    cut = CUTS[source.table]
    pieces = [_piece(part, cut, source) for part in source.parts]
    known = [piece for piece in pieces if piece]
    if len(known) < len(pieces):
        return _counted(source, source.parts, cut, window_rows)
    chains = _chains(sorted(known, key=lambda piece: piece[:3]))
    found: list[Window] = []
    for chain in chains:
        if chain.rows > 2 * window_rows:
            found += _counted(source, chain.parts, cut, window_rows)
        else:
            found.append(chain)
    return list(_joined(found, window_rows))


def _piece(part: Part, cut: Cut, source: Source) -> Window | None:
    """Return a part as a window of its own; None where its bounds do not tell."""
    low, high = part.bounds(cut.column)
    group, last = part.bounds(cut.group) if cut.group else (None, None)
    is_one = not cut.group or (group is not None and group == last)
    has_others = not source.traced.isdisjoint(part.file_ids)
    if not is_one or low is None or sole_owner(part, source.owner_column) is None:
        return None
    return Window(group, low, high, part.rows, (part,), not has_others, is_sorted=True)


def _chains(pieces: Iterable[Window]) -> Iterator[Window]:
    """Join pieces that overlap; what is left is apart."""
    held: Window | None = None
    for piece in pieces:
        if held and held.group == piece.group and piece.low <= held.high:
            held = _join(held, piece, is_apart=False)
            continue
        if held:
            yield held
        held = piece
    if held:
        yield held


def _joined(windows: Iterable[Window], window_rows: int) -> Iterator[Window]:
    """Join windows that are apart, as long as they are short."""
    held: Window | None = None
    for window in windows:
        is_near = held is not None and held.group == window.group
        is_alike = held is not None and held.is_whole and window.is_whole
        if held and is_near and is_alike and held.rows + window.rows <= window_rows:
            held = _join(held, window, is_apart=True)
            continue
        if held:
            yield held
        held = window
    if held:
        yield held


def _join(one: Window, other: Window, *, is_apart: bool) -> Window:
    return Window(
        one.group,
        one.low,
        max(one.high, other.high),
        one.rows + other.rows,
        (*one.parts, *other.parts),
        one.is_whole and other.is_whole,
        is_apart and one.is_sorted and other.is_sorted,
    )


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
