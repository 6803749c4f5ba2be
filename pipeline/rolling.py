"""Condense the days of owners that have too many rows to be read at once."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from analysis import Rollup
from analysis._rollup import JOBS
from ingest.lake import Writer
from ingest.manifest import Part
from ingest.staging import Place, write_rollup
from pipeline._context import Context, context_of
from pipeline._days import identity, opened
from pipeline._given import GivenDay
from pipeline._owners import ByDay, may_have, raw_parts, traced_files
from pipeline._windows import Source
from pipeline._work import Work
from pipeline.logs import Say

#: Raw rows of a day: of the lake, or made.
Rows = Source | GivenDay


@dataclass(frozen=True, slots=True)
class Rolling:
    """A rollup of the days of some owners.

    Attributes:
        rollup: What is kept of each day.
        thresholds: Its thresholds in force.
        owners: Owners whose days are condensed.
        writer: The lake, locked.
        say: Told of each day.
        jobs: Windows of a day that are condensed at once. [1]
    """

    rollup: Rollup
    thresholds: Mapping[str, float]
    owners: frozenset[str]
    writer: Writer
    say: Say
    jobs: int = JOBS

    def due(self, work: Work) -> tuple[list[tuple[Place, Rows]], bool]:
        """Find the days that have changed, and take out those whose rows are gone.

        Args:
            work: Results so far.

        Returns:
            The days with their raw rows, and whether any was taken out.
        """
        sources = self._sources(work)
        days: list[tuple[Place, Rows]] = []
        for place, source in sources.items():
            context = context_of(self.rollup, place, work)
            key = self._key(source, context)
            if not self._is_current(work, place, key):
                days.append((place, source))
        gone = self._stale(work, sources)
        if gone:
            self.writer.commit_rollups([], gone)
        return days, bool(gone)

    def _sources(self, work: Work) -> dict[Place, Rows]:
        """Return the raw rows of each day of each owner."""
        table, column = self.rollup.source, self.rollup.owner
        parts = raw_parts(work.before, table)
        traced = traced_files(work.before, table)
        found: dict[Place, Rows] = {
            day.place: day
            for day in work.given
            if day.table is table and day.place.owner in self.owners
        }
        for owner in sorted(self.owners):
            mine = [part for part in parts if may_have(part, column, owner)]
            for day in sorted({str(part.day) for part in mine}):
                of_day = tuple(
                    part
                    for part in mine
                    if part.day == day and not traced.issuperset(part.file_ids)
                )
                if of_day:
                    found[Place(owner, day)] = Source(
                        work.before, table, column, owner, of_day, traced
                    )
        return found

    def _key(self, source: Rows, context: Context) -> str:
        rollup = self.rollup
        said = [rollup.name, rollup.version, dict(self.thresholds), context.digest]
        schemas = [str(table.create_empty().schema) for table in rollup.outputs]
        text = json.dumps([*said, identity(source), schemas], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _is_current(self, work: Work, place: Place, key: str) -> bool:
        known = {
            part.table
            for table in self.rollup.outputs
            for part in work.before.parts(table)
            if (part.owner, part.day) == (place.owner, place.day)
            and part.result_key == key
        }
        return known == {table.sql_name() for table in self.rollup.outputs}

    def _stale(self, work: Work, sources: Mapping[Place, Rows]) -> list[Part]:
        """Return rollups of days whose raw rows are gone, and not to be kept alone."""
        source = self.rollup.source.sql_name()
        retired = work.before.manifest.retired_days
        return [
            part
            for table in self.rollup.outputs
            for part in work.before.parts(table)
            if part.kind == "rollup"
            and work.is_in_scope(self.rollup.owner, str(part.owner))
            and (source, part.day) not in retired
            and Place(str(part.owner), str(part.day)) not in sources
        ]

    def condense(
        self, place: Place, source: Rows, work: Work, seen: Callable[[int], None]
    ) -> int:
        """Condense a day, in a commit of its own; return its rows, about. [1]

        Args:
            place: Owner and day.
            source: The raw rows.
            work: Results so far.
            seen: Told of the rows that it is done with.
        """
        context = context_of(self.rollup, place, work)
        day, rows = opened(source, place.day, seen, self.jobs)
        results = dict(self.rollup.compute(day, context.frames, self.thresholds))
        key = self._key(source, context)
        root = self.writer.root
        parts = []
        for table in self.rollup.outputs:
            # taken out: what is written is not held while the next one is
            kept = table.validate(results.pop(table), cast=True)
            parts.append(write_rollup(root, table, kept, place, key))
        gone = [(source.table, place.day)] if isinstance(source, GivenDay) else []
        self.writer.commit_rollups(parts, retired=gone)
        return rows


def rolling_of(
    rollup: Rollup,
    thresholds: Mapping[str, float],
    work: Work,
    writer: Writer,
    by_day: ByDay,
) -> Rolling:
    """Plan a rollup of the owners in scope that have too many rows.

    Args:
        rollup: What is kept of each day.
        thresholds: Its thresholds in force.
        work: Results so far.
        writer: The lake, locked.
        by_day: Who is told of each day, and how many windows are condensed at once.
    """
    heavy = work.heavy.get(rollup.source)
    owners = frozenset(
        owner
        for owner in (heavy.owners if heavy else ())
        if work.is_in_scope(rollup.owner, owner)
    )
    return Rolling(rollup, thresholds, owners, writer, by_day.say, by_day.jobs)
