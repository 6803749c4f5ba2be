"""Which raw days may be retired: those that rollups of every owner cover."""

from collections.abc import Iterator, Mapping, Sequence

from analysis import ANALYSES, Rollup
from ingest import reading, retention
from ingest.lake import Snapshot, Writer, snapshot
from ingest.manifest import Part
from ingest.tables import Table
from pipeline import analyzing
from pipeline._owners import ByDay, sole_owner, traced_files
from pipeline.logs import Say
from pipeline.settings import Settings

#: Days by table.
Days = Mapping[type[Table], Sequence[str]]


def sources() -> dict[type[Table], list[Rollup]]:
    """Return the tables of raw rows that are condensed by day, and their rollups."""
    found: dict[type[Table], list[Rollup]] = {}
    for one in ANALYSES:
        if isinstance(one, Rollup):
            found.setdefault(one.source, []).append(one)
    return found


def due(lake: Snapshot, keep: int, today: str) -> dict[type[Table], list[str]]:
    """Return the days that are older than the newest of the data minus some.

    Args:
        lake: The lake.
        keep: Days before the newest that stay raw. [d]
        today: UTC day, as YYYY-MM-DD.
    """
    tables = list(sources())
    newest = retention.newest_day(lake.manifest, tables, today)
    if newest is None:
        return {}
    return {
        table: [
            day
            for day in retention.days_before(lake.manifest, table, newest, keep)
            if _parts(lake, table, day)
        ]
        for table in tables
    }


def covered(
    writer: Writer, settings: Settings, wanted: Days, say: Say
) -> tuple[dict[type[Table], list[str]], list[str]]:
    """Condense what is not yet, and tell which days rollups cover.

    Args:
        writer: The lake, locked.
        settings: Settings in force.
        wanted: Days that are to be retired.
        say: Told of progress.

    Returns:
        The days that may be retired, and what may not, in words.
    """
    lake = snapshot(writer.root)
    owners = {
        table: frozenset(o for day in days for o in owners_of(lake, table, day))
        for table, days in wanted.items()
        if days
    }
    if owners:
        by_day = ByDay(settings.by_day_rows, owners, say, jobs=settings.jobs)
        analyzing.analyze(writer, settings.thresholds, by_day=by_day)
        lake = snapshot(writer.root)
    ready = {
        table: [day for day in days if not _uncovered(lake, table, day)]
        for table, days in wanted.items()
    }
    return ready, [*_kept(lake, wanted), *_undated(lake, wanted)]


def _kept(lake: Snapshot, wanted: Days) -> Iterator[str]:
    for table, days in wanted.items():
        for day in days:
            if missing := _uncovered(lake, table, day):
                yield (
                    f"{table.sql_name()} {day}: kept raw, no rollup covers"
                    f" {', '.join(missing)}"
                )


def _undated(lake: Snapshot, wanted: Days) -> Iterator[str]:
    for table in wanted:
        if rows := retention.never_retired(lake.manifest, table):
            yield (
                f"{table.sql_name()}: {rows:,} rows without a day stay raw: no rollup"
                " covers them"
            )


def _uncovered(lake: Snapshot, table: type[Table], day: str) -> list[str]:
    """Return the owners that a rollup lacks a day of."""
    owners = owners_of(lake, table, day)
    outputs = [t for rollup in sources()[table] for t in rollup.outputs]
    for output in outputs:
        has = {part.owner for part in lake.parts(output) if part.day == day}
        if missing := owners - has:
            return sorted(missing)
    return []


def owners_of(lake: Snapshot, table: type[Table], day: str) -> frozenset[str]:
    """Return whose raw rows a day has, those of traces aside."""
    return owners_in(lake, table, _parts(lake, table, day), traced_files(lake, table))


def owners_in(
    lake: Snapshot,
    table: type[Table],
    parts: Sequence[Part],
    traced: frozenset[str],
) -> frozenset[str]:
    """Return whose raw rows are in parts.

    Args:
        lake: The lake that the parts are in, or are to come to.
        table: Table of raw rows.
        parts: Parts of it.
        traced: Files of traces, whose rows do not count.
    """
    column = sources()[table][0].owner
    found: set[str] = set()
    for part in parts:
        if traced.issuperset(part.file_ids):
            continue
        sole = sole_owner(part, column)
        if sole is not None:
            found.add(sole)
            continue
        rows = reading.scan(lake, table, [part])
        plain = reading.without_files(rows, [part], traced)
        names = plain.select(column).unique().collect(engine="streaming")
        found.update(names.to_series().drop_nulls())
    return frozenset(found)


def _parts(lake: Snapshot, table: type[Table], day: str) -> list[Part]:
    """Return the parts of a day that have other rows than those of traces."""
    traced = traced_files(lake, table)
    return [
        part
        for part in lake.manifest.of(table.sql_name(), "raw")
        if part.day == day and not traced.issuperset(part.file_ids)
    ]
