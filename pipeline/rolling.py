"""Condense the days of owners that have too many rows to be read at once."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from analysis import Rollup
from ingest.identity import identity_of
from ingest.lake import Writer, snapshot
from ingest.manifest import Part
from ingest.staging import Place, write_rollup
from pipeline._context import Context, context_of
from pipeline._days import LakeDay
from pipeline._owners import may_have, raw_parts, traced_files
from pipeline._windows import Source
from pipeline._work import Work
from pipeline.logs import Say

_MINUTE_S: Final = 60


@dataclass(frozen=True, slots=True)
class Rolling:
    """A rollup of the days of some owners.

    Attributes:
        rollup: What is kept of each day.
        thresholds: Its thresholds in force.
        owners: Owners whose days are condensed.
        writer: The lake, locked.
        say: Told of each day.
    """

    rollup: Rollup
    thresholds: Mapping[str, float]
    owners: frozenset[str]
    writer: Writer
    say: Say

    def run(self, work: Work) -> bool:
        """Condense the days that have changed, each in a commit of its own.

        Args:
            work: Results so far; it sees the new rollups afterwards.

        Returns:
            Whether there was any.
        """
        sources = self._sources(work)
        due: list[tuple[Place, Source]] = []
        for place, source in sources.items():
            context = context_of(self.rollup, place, work)
            key = self._key(source.parts, context)
            if not self._is_current(work, place, key):
                due.append((place, source))
        gone = self._stale(work, sources)
        if gone:
            self.writer.commit_rollups([], gone)
        self._roll(due, work)
        if due or gone:
            work.see(snapshot(self.writer.root), self.rollup.outputs)
        return bool(due or gone)

    def _sources(self, work: Work) -> dict[Place, Source]:
        """Return the raw rows of each day of each owner."""
        table, column = self.rollup.source, self.rollup.owner
        parts = raw_parts(work.before, table)
        traced = traced_files(work.before, table)
        found: dict[Place, Source] = {}
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

    def _key(self, parts: Sequence[Part], context: Context) -> str:
        rollup = self.rollup
        said = [rollup.name, rollup.version, dict(self.thresholds), context.digest]
        schemas = [str(table.create_empty().schema) for table in rollup.outputs]
        text = json.dumps([*said, identity_of(parts), schemas], sort_keys=True)
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

    def _stale(self, work: Work, sources: Mapping[Place, Source]) -> list[Part]:
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

    def _roll(self, due: Sequence[tuple[Place, Source]], work: Work) -> None:
        """Condense days, one after the other, and tell of each."""
        pace = Pace(sum(part.rows for _, source in due for part in source.parts))
        for number, (place, source) in enumerate(due, 1):
            rows = self._roll_day(place, source, work)
            name = f"{self.rollup.name} of {place.owner}, {place.day}"
            left = f"{number} of {len(due)} days"
            parts = sum(part.rows for part in source.parts)
            self.say(f"{name}: {pace.told(rows, parts)}, {left}")

    def _roll_day(self, place: Place, source: Source, work: Work) -> int:
        context = context_of(self.rollup, place, work)
        day = LakeDay.of(source)
        results = self.rollup.compute(
            day.day(place.day), context.frames, self.thresholds
        )
        key = self._key(source.parts, context)
        root = self.writer.root
        parts = []
        for table in self.rollup.outputs:
            rows = table.validate(results[table], cast=True)
            parts.append(write_rollup(root, table, rows, place, key))
        self.writer.commit_rollups(parts)
        return day.rows


class Pace:
    """How fast rows are condensed, and how long the rest takes."""

    def __init__(self, rows: int) -> None:
        """Start to count time.

        Args:
            rows: Rows of all. [1]
        """
        self._rows, self._done = rows, 0
        self._began_s = self._last_s = time.monotonic()

    def told(self, rows: int, parts: int) -> str:
        """Say how fast a piece was, and what is left.

        Args:
            rows: Rows of the piece. [1]
            parts: Rows of its share of all. [1]
        """
        now = time.monotonic()
        took = max(now - self._last_s, 1e-9)
        self._last_s = now
        self._done += parts
        left = (now - self._began_s) * (self._rows - self._done) / max(self._done, 1)
        speed = f"{rows:,} rows in {took:.1f} s ({rows / took / 1e6:.1f} M rows/s)"
        return f"{speed}, {_duration(left)} left"


def _duration(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE_S:.0f} min"


def rolling_of(
    rollup: Rollup,
    thresholds: Mapping[str, float],
    work: Work,
    writer: Writer,
    say: Say,
) -> Rolling:
    """Plan a rollup of the owners in scope that have too many rows.

    Args:
        rollup: What is kept of each day.
        thresholds: Its thresholds in force.
        work: Results so far.
        writer: The lake, locked.
        say: Told of each day.
    """
    heavy = work.heavy.get(rollup.source)
    owners = frozenset(
        owner
        for owner in (heavy.owners if heavy else ())
        if work.is_in_scope(rollup.owner, owner)
    )
    return Rolling(rollup, thresholds, owners, writer, say)
