"""What a rollup of a day is given beside its raw rows, and what stands for it."""

import hashlib
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis import Frames, Rollup
from ingest import reading
from ingest.identity import identity_of
from ingest.manifest import Part
from ingest.staging import Place
from ingest.tables import TABLES, Table
from ingest.times import DAY_NS, midnight_ns
from pipeline._owners import may_have
from pipeline._work import Work

#: Columns between which a row of a result is true.
_INTERVALS: Final = (
    ("from_ns", "to_ns"),
    ("start_ns", "end_ns"),
    ("first_ns", "last_ns"),
)


@dataclass(frozen=True, slots=True)
class Context:
    """What a rollup is given beside its raw rows.

    Attributes:
        frames: The frames.
        digest: What stands for their rows, and changes with them.
    """

    frames: Frames
    digest: dict[str, str]


def context_of(rollup: Rollup, place: Place, work: Work) -> Context:
    """Gather what a rollup reads of a day: raw rows lazily, of results what touches it.

    Args:
        rollup: The rollup.
        place: Owner and day.
        work: Results so far.
    """
    frames: dict[type[Table], pl.LazyFrame] = {}
    digest: dict[str, str] = {}
    for table in rollup.inputs:
        parts = _parts_of_day(rollup, table, place, work)
        if parts is not None:
            rows = reading.scan(work.before, table, parts)
            made = {
                day.key: day.scan(day.find)
                for day in work.given
                if day.find and (day.table, day.place.day) == (table, place.day)
            }
            every = pl.concat([rows, *made.values()])
            frames[table] = _of_owner(every, table, rollup.owner, place)
            digest[table.sql_name()] = " ".join([identity_of(parts), *made])
        else:
            held = _touching(rollup, table, place, work).collect()
            frames[table] = held.lazy()
            digest[table.sql_name()] = _hash(held)
    return Context(Frames(frames), digest)


def _parts_of_day(
    rollup: Rollup, table: type[Table], place: Place, work: Work
) -> list[Part] | None:
    """Return the parts that a table has of a day; None where it is not cut by day."""
    parts = work.parts_of(table)
    rolled = [part for part in parts if part.kind == "rollup"]
    if rolled:
        return [p for p in rolled if (p.owner, p.day) == (place.owner, place.day)]
    if table not in TABLES or table.day_column is None:
        return None
    mine = [part for part in parts if part.day == place.day]
    if rollup.owner not in table.key:
        return mine
    return [part for part in mine if may_have(part, rollup.owner, place.owner)]


def _touching(
    rollup: Rollup, table: type[Table], place: Place, work: Work
) -> pl.LazyFrame:
    """Return the rows of a table that are true on a day, cut at its end.

    So what goes on after it changes nothing. What began first counts where two hold one
    thing: starts stay what they are.
    """
    rows = _of_owner(work.frame_of(table), table, rollup.owner, place)
    first = midnight_ns(place.day)
    last = first + DAY_NS
    names = table.column_names()
    for begin, end in _INTERVALS:
        if begin in names and end in names:
            starts, ends = pl.col(begin), pl.col(end)
            is_near = (starts < last) & (ends >= first).fill_null(value=True)
            cut = ends.clip(upper_bound=last)
            rows = rows.filter(is_near.fill_null(value=True)).with_columns(cut)
            break
    return rows.select(rollup.reads.get(table, names))


def _of_owner(
    rows: pl.LazyFrame, table: type[Table], owner: str, place: Place
) -> pl.LazyFrame:
    if owner not in table.column_names():
        return rows
    return rows.filter((pl.col(owner) == place.owner) | pl.col(owner).is_null())


def _hash(rows: pl.DataFrame) -> str:
    """Return what stands for rows, in whatever order they are."""
    if rows.is_empty():
        return ""
    hashes = rows.hash_rows().sort().to_numpy()
    return hashlib.sha256(hashes.tobytes()).hexdigest()
