"""The lake for those who read it: the parts of one generation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar, cast

import dataframely as dy

from ingest import _manifest_file, _scans
from ingest._recovery import refuse_lost_manifest
from ingest.manifest import Manifest, Part
from ingest.tables import IngestedFiles, Table

T = TypeVar("T", bound=Table)

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


def snapshot(root: Path) -> Snapshot:
    """Take the list of parts, once. A folder without a lake is an empty one.

    Raises:
        LakeError: If the manifest is damaged, or gone from a lake that was written.
    """
    refuse_lost_manifest(root)
    return Snapshot(root, _manifest_file.load(root))


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
