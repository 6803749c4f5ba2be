"""What the holder of the lock does first: delete what belongs to no generation."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ingest import _disk, _manifest_file
from ingest._archive_store import remove_leftovers
from ingest.errors import LakeError
from ingest.manifest import MANIFEST

#: The views over the lake. Their file comes after a first commit, never before.
CATALOG: Final = "gpuledger.duckdb"

#: Characters that DuckDB gives a meaning in the path of a folder.
_MEANT: Final = (",", "?")

#: Names that only this project gives; nothing else in the folder is ever deleted.
_PART: Final = re.compile(r"[0-9a-f]{32}\.parquet")


def recover(root: Path, replaced_before_ns: int) -> None:
    """Delete parts that no manifest names, and replaced ones after their grace.

    Parts that this very process stages at the moment are left alone.

    Args:
        root: The lake's folder.
        replaced_before_ns: Parts that were replaced later than this are kept. [ns]

    Raises:
        LakeError: If the manifest is damaged or missing.
    """
    refuse_lost_manifest(root)
    now = _manifest_file.load(root)
    old = {r.path for r in now.replaced if r.replaced_ns <= replaced_before_ns}
    kept = {p.path for p in now.parts} | {r.path for r in now.replaced} - old
    for path in _parts_on_disk(root):
        name = path.relative_to(root).as_posix()
        is_staged = path.name.startswith(_disk.PROCESS) and name not in old
        if name not in kept and not is_staged:
            path.unlink(missing_ok=True)
    for path in root.glob(f"{_disk.PARTIAL}*"):
        path.unlink(missing_ok=True)
    remove_leftovers(root)


def _parts_on_disk(root: Path) -> Iterator[Path]:
    for path in root.glob("*/day=*/*.parquet"):
        if _PART.fullmatch(path.name):
            yield path


def refuse_lost_manifest(root: Path) -> None:
    """Refuse a lake that has been written and does not tell its parts any more.

    Raises:
        LakeError: If it is one.
    """
    if (root / CATALOG).exists() and not (root / MANIFEST).exists():
        message = (
            f"{root / MANIFEST}: missing, though the lake has been written;"
            f" restore it from a backup, or delete {CATALOG} to begin anew"
        )
        raise LakeError(message)


def refuse_unusable(root: Path) -> None:
    """Refuse a folder whose path DuckDB would not take as it is.

    Raises:
        LakeError: If it is one.
    """
    folder = str(root.absolute())
    if any(character in folder for character in _MEANT):
        message = (
            f"{folder}: expected a path without {' and '.join(_MEANT)}, which DuckDB"
            " cannot open; choose another folder with --lake"
        )
        raise LakeError(message)
