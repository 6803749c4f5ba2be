"""The lake: the only door to its files. One writes, any number read."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar, cast

import dataframely as dy
import polars as pl

from ingest import _commit, _disk, _scans, manifest
from ingest._draft import Draft
from ingest._lock import locked
from ingest._recovery import recover, refuse_lost_manifest, refuse_unusable
from ingest.manifest import Manifest, Part
from ingest.staging import Staged
from ingest.tables import IngestedFiles, Table
from ingest.times import SECOND_NS

T = TypeVar("T", bound=Table)

#: How long replaced parts are kept for those who still read them: longer than any
#: report or query takes. [s]
GRACE_S: Final = 3_600.0

#: Most rows of a table that is held in memory rather than read at every use: some MB.
HELD_ROWS: Final = 10_000

#: What is raised where a part is damaged that has kept its size; see refuse_damaged.
BROKEN: Final = _scans.BROKEN


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The lake as one generation has it; later commits do not change it."""

    root: Path
    manifest: Manifest

    @property
    def generation(self) -> int:
        """Commits that made it."""
        return self.manifest.generation

    def parts(self, table: type[Table]) -> tuple[Part, ...]:
        """Return the parts that a table shows."""
        name = table.sql_name()
        return tuple(self.manifest.of(name, "raw", "derived", "result", "rollup"))

    def scan(self, table: type[T]) -> dy.LazyFrame[T]:
        """Return the rows of a table, lazily; empty where there are none.

        Raises:
            LakeError: If a part is gone or has another size than when it was written.
        """
        frame = _scans.scan(self.root, self.parts(table), table)
        return cast("dy.LazyFrame[T]", frame)

    def held(self, table: type[T]) -> dy.LazyFrame[T]:
        """Return the rows of a table as `scan` does; few rows are read once, now."""
        is_small = sum(part.rows for part in self.parts(table)) <= HELD_ROWS
        return self.scan(table).collect().lazy() if is_small else self.scan(table)


@dataclass(frozen=True, slots=True)
class Committed:
    """What a commit of staged files did.

    Attributes:
        generation: Generation of the lake after it.
        files: Rows of IngestedFiles of the files that came.
        superseded: Files whose rows left for theirs.
        known: Files that were in the lake already and did not come again.
    """

    generation: int
    files: pl.DataFrame
    superseded: frozenset[str]
    known: frozenset[str]


class Writer:
    """The one who may write, while the lake is locked."""

    def __init__(self, root: Path) -> None:
        """Trust that the lock of the lake is held; see open_writer."""
        self.root = root

    def commit(self, staged: Sequence[Staged]) -> Committed:
        """Bring staged files into the lake as one generation.

        Raises:
            LakeError: If the manifest is damaged, or a staged part is gone.
        """
        draft = self._draft()
        try:
            chosen, files = _commit.bring(draft, staged)
        except BaseException:
            draft.abandon()
            raise
        after = draft.before
        if chosen.new or chosen.gone:
            after = self._seal(draft)
        draft.clear()
        return Committed(after.generation, files, chosen.gone, chosen.known)

    def commit_results(
        self, parts_by_table: Mapping[type[Table], Sequence[Part]]
    ) -> int:
        """Put new results in the place of all rows of their tables.

        Returns:
            Generation of the lake after it.

        Raises:
            LakeError: If the manifest is damaged.
        """
        draft = self._draft()
        for table, parts in parts_by_table.items():
            for part in draft.parts(table):
                draft.drop(part)
            draft.add(parts)
        after = self._seal(draft)
        draft.clear()
        return after.generation

    def commit_rollups(self, new: Sequence[Part], gone: Sequence[Part] = ()) -> int:
        """Put rollups of days in the place of those of the same owner and day.

        Args:
            new: Parts of kind "rollup", with their day and owner.
            gone: Parts to take out besides.

        Returns:
            Generation of the lake after it.

        Raises:
            LakeError: If the manifest is damaged.
        """
        draft = self._draft()
        places = {(part.table, part.day, part.owner) for part in new}
        leave = {part.path for part in gone}
        for part in draft.before.parts:
            is_old = (part.table, part.day, part.owner) in places
            if part.path in leave or (part.kind == "rollup" and is_old):
                draft.drop(part)
        draft.add(new)
        after = self._seal(draft)
        draft.clear()
        return after.generation

    @contextmanager
    def drafting(self) -> Iterator[Draft]:
        """Give the next generation to be changed; it is committed at the end.

        Raises:
            LakeError: If the manifest is damaged.
        """
        draft = self._draft()
        try:
            yield draft
        except BaseException:
            draft.abandon()
            raise
        self._seal(draft)
        draft.clear()

    def _draft(self) -> Draft:
        return Draft(self.root, manifest.load(self.root))

    def _seal(self, draft: Draft) -> Manifest:
        after = draft.seal(time.time_ns())
        manifest.replace(self.root, after)
        return after


@contextmanager
def open_writer(
    root: Path, *, wait: bool = False, grace_s: float = GRACE_S
) -> Iterator[Writer]:
    """Lock a lake for writing, and clear away what an interrupted writer left.

    Args:
        root: The lake's folder; created where it is missing.
        wait: Whether to wait for the process that writes, if there is one.
        grace_s: How long replaced parts are kept for their readers. [s]

    Raises:
        LakeLockedError: If another process writes, unless told to wait.
        LakeError: If the lake is damaged.
    """
    refuse_unusable(root)
    _disk.make_folders([root])
    with locked(root, wait=wait):
        recover(root, time.time_ns() - round(grace_s * SECOND_NS))
        yield Writer(root)


def snapshot(root: Path) -> Snapshot:
    """Take the list of parts, once. A folder without a lake is an empty one.

    Raises:
        LakeError: If the manifest is damaged, or gone from a lake that was written.
    """
    refuse_lost_manifest(root)
    return Snapshot(root, manifest.load(root))


def known_files(root: Path) -> dy.DataFrame[IngestedFiles]:
    """Return what is known of every file in the lake.

    Raises:
        LakeError: If the manifest or a part is damaged.
    """
    try:
        return snapshot(root).scan(IngestedFiles).collect()
    except BROKEN:
        refuse_damaged(root)
        raise


def refuse_damaged(root: Path) -> None:
    """Read every part, to name one that is not as it was written.

    Raises:
        LakeError: If there is one.
    """
    for part in snapshot(root).manifest.parts:
        try:
            rows = _scans.scan_as_written(root, [part]).collect().height
        except BROKEN as error:
            raise _scans.damaged(root, part, str(error)) from error
        if rows != part.rows:
            raise _scans.damaged(root, part, f"{rows} rows")
