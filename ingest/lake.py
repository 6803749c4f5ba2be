"""The lake: the only door to its files. One writes, any number read."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from ingest import _commit, _disk, _manifest_file
from ingest._draft import Draft
from ingest._lock import locked
from ingest._recovery import recover, refuse_unusable
from ingest._snapshot import BROKEN, Snapshot, known_files, refuse_damaged, snapshot
from ingest.manifest import Manifest, Part
from ingest.staging import Staged
from ingest.tables import Table
from ingest.times import SECOND_NS

__all__ = [
    "BROKEN",
    "Committed",
    "Snapshot",
    "Writer",
    "known_files",
    "open_writer",
    "refuse_damaged",
    "snapshot",
]

#: How long replaced parts are kept for those who still read them: longer than any
#: report or query takes. [s]
GRACE_S: Final = 3_600.0


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
        self._last: tuple[_manifest_file.Stamp | None, Manifest] | None = None

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

    def commit_rollups(
        self,
        new: Sequence[Part],
        gone: Sequence[Part] = (),
        retired: Iterable[tuple[type[Table], str]] = (),
    ) -> int:
        """Put rollups of days in the place of those of the same owner and day.

        Args:
            new: Parts of kind "rollup", with their day and owner.
            gone: Parts to take out besides.
            retired: UTC days of tables whose raw rows shall never come.

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
        for table, day in retired:
            draft.retire(table, day)
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
        # what this writer wrote last is not read again, unless it is another file now
        if self._last and self._last[0] == _manifest_file.stamp(self.root):
            return Draft(self.root, self._last[1])
        return Draft(self.root, _manifest_file.load(self.root))

    def _seal(self, draft: Draft) -> Manifest:
        after = draft.seal(time.time_ns())
        _manifest_file.replace(self.root, after)
        self._last = _manifest_file.stamp(self.root), after
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
