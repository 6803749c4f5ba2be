"""Names as text that can be printed and stored, and paths without links."""

import os
import re
from pathlib import Path
from typing import Final

from ingest.errors import TelemetryError

#: What stands between the path of an archive and the name of what is inside.
INSIDE: Final = "!/"

#: What a rotation adds to the name of a log: a number, or a date. Behind any other
#: ending a number means something else, as that of a rank.
_ROTATED: Final = re.compile(
    r"(\.(?:log|csv|tsv|json|jsonl|ndjson|txt|out|err|prom))(?:\.\d{1,3}|-\d{8}(?:-\d{1,10})?)$"
)


def display(name: Path | str) -> str:
    """Return a path or a name as text that can be printed and stored."""
    return os.fsencode(name).decode("utf-8", errors="backslashreplace")


def unrotated(name: str) -> str:
    """Return the name that a log had before it was rotated."""
    return _ROTATED.sub(r"\1", name)


def stands(path: str) -> bool:
    """Tell whether a path that was shown is on disk, or the archive that it is in."""
    names = path.split(INSIDE)
    starts = [INSIDE.join(names[:count]) for count in range(len(names), 0, -1)]
    return any(_is_there(start) for start in starts)


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def resolved(path: Path) -> Path:
    """Return a path without symbolic links; the last one may lead nowhere.

    Raises:
        TelemetryError: If it cannot be followed, as where links lead in a circle.
    """
    try:
        return path.resolve(strict=True)
    except FileNotFoundError:
        return path.parent.resolve() / path.name
    except (OSError, RuntimeError) as error:
        # before Python 3.13 a circle of links is a RuntimeError
        reason = getattr(error, "strerror", None) or "symbolic links in a circle"
        message = f"{display(path)}: cannot be followed: {reason}; check the path"
        raise TelemetryError(message) from error
