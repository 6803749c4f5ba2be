"""Find the files that were asked for, and what the nearest run card says of each."""

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest._cards import Cards
from ingest._found import Found, Options
from ingest._lock import LOCK
from ingest._mapping_nearest import Mappings
from ingest._names import display, resolved
from ingest.errors import TelemetryError
from ingest.manifest import MANIFEST

__all__ = ["Found", "Options", "discover"]


def discover(
    paths: Sequence[Path], options: Options, lake: Path | None = None
) -> list[Found]:
    """List every file under the paths, each once, in the order of their names.

    Hidden files and folders and lakes, this and others, are passed over; a run card
    above a path, and the host map it names, are listed too, and so is what cannot be
    read: a link that leads nowhere, a pipe, a folder that may not be listed.

    Raises:
        TelemetryError: If a path matches nothing, or links lead in a circle.
        SettingError: If a run card or a mapping cannot be used, or two cards describe
            one run.
    """
    cards = Cards(options)
    mappings = Mappings(options)
    home = resolved(lake) if lake else None
    found: dict[Path, Found] = {}
    for root in _expand(paths):
        folder = root if root.is_dir() else root.parent
        for path in _files(root, home):
            found.setdefault(path, cards.describe(path, folder))
    for path in cards.companions():
        found.setdefault(path, cards.describe(path, path.parent))
    return mappings.applied([found[path] for path in sorted(found)])


def _expand(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.exists():
            yield resolved(path)
            continue
        matches = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 - absolute
        if not matches:
            message = f"{display(path)}: no such file or folder; check the path"
            raise TelemetryError(message)
        yield from (resolved(Path(match)) for match in matches)


def _files(root: Path, lake: Path | None) -> Iterator[Path]:
    if not root.is_dir():
        yield root
        return
    shut: list[OSError] = []
    for where, names, files in os.walk(root, onerror=shut.append):
        folder = Path(where)
        names[:] = sorted(
            name
            for name in names
            if not (name.startswith(".") or _is_lake(folder / name, lake))
        )
        for name in sorted(files):
            if not name.startswith("."):
                yield folder / name
    yield from (Path(error.filename) for error in shut)


def _is_lake(folder: Path, lake: Path | None) -> bool:
    """Whether a folder is the lake itself, or another one: it has what both have."""
    has_both = (folder / MANIFEST).is_file() and (folder / LOCK).exists()
    return has_both or folder.resolve() == lake
