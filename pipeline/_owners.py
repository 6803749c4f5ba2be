"""Who owns raw rows, and whose are too many to be read at once."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from analysis._rollup import JOBS
from ingest import reading
from ingest._retiring import TRACED
from ingest.lake import Snapshot
from ingest.manifest import Part
from ingest.tables import StepTimings, Table
from pipeline._given import GivenDay
from pipeline.logs import Say, silence
from pipeline.settings import BY_DAY_ROWS


@dataclass(frozen=True, slots=True)
class ByDay:
    """Whose rows are condensed by day.

    Attributes:
        rows: Rows of an owner from which they are. [1]
        owners: Owners whose rows are, however few, by table.
        say: Told of progress.
        given: Days of such owners whose raw rows are in no lake.
        jobs: Windows of a day that are condensed at once. [1]
    """

    rows: int = BY_DAY_ROWS
    owners: Mapping[type[Table], frozenset[str]] = field(default_factory=dict)
    say: Say = silence
    given: Sequence[GivenDay] = ()
    jobs: int = JOBS


def raw_parts(lake: Snapshot, table: type[Table]) -> list[Part]:
    """Return the parts with raw rows of a table that have a day."""
    parts = lake.manifest.of(table.sql_name(), "raw")
    return [part for part in parts if part.day is not None]


def sole_owner(part: Part, column: str) -> str | None:
    """Return whose rows a part has, None where that is not only one."""
    least, greatest = part.bounds(column)
    return str(least) if least is not None and least == greatest else None


def may_have(part: Part, column: str, owner: str) -> bool:
    """Return whether a part may have rows of an owner."""
    least, greatest = part.bounds(column)
    return (least is None or least <= owner) and owner <= str(greatest)


def traced_files(
    lake: Snapshot, table: type[Table], coming: Iterable[Part] = ()
) -> frozenset[str]:
    """Return the files whose steps are samples, since they are of traces.

    Args:
        lake: The lake.
        table: Table of raw rows.
        coming: Parts that are not in the lake yet.
    """
    if table is not StepTimings:
        return frozenset()
    names = {traced.sql_name() for traced in TRACED}
    here = (part for name in names for part in lake.manifest.of(name, "raw"))
    new = (part for part in coming if part.table in names)
    return frozenset(file_id for part in chain(here, new) for file_id in part.file_ids)


def heavy_owners(
    lake: Snapshot, table: type[Table], column: str, by_day: ByDay
) -> frozenset[str]:
    """Return the owners that have too many rows of a table, or that are to be rolled.

    Args:
        lake: The lake.
        table: Table of raw rows.
        column: Column by which rows belong to an owner.
        by_day: From how many rows.
    """
    told = by_day.owners.get(table, frozenset())
    parts = raw_parts(lake, table)
    if sum(part.rows for part in parts) <= by_day.rows:
        return told
    rows = _count(lake, table, column, parts)
    return told | {owner for owner, count in rows.items() if count > by_day.rows}


def _count(
    lake: Snapshot, table: type[Table], column: str, parts: Iterable[Part]
) -> Counter[str]:
    """Count the rows of each owner; those of traces do not count."""
    traced = traced_files(lake, table)
    counts: Counter[str] = Counter()
    mixed = []
    for part in parts:
        owner = sole_owner(part, column)
        if traced.issuperset(part.file_ids):
            continue
        if owner is None or not traced.isdisjoint(part.file_ids):
            mixed.append(part)
        else:
            counts[owner] += part.rows
    if mixed:
        rows = reading.without_files(reading.scan(lake, table, mixed), mixed, traced)
        found = rows.group_by(column).len().collect(engine="streaming")
        counts.update(dict(found.iter_rows()))
    return counts
