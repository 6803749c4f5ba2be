"""Names as text that can be printed and stored, and paths without links."""

import os
from pathlib import Path

from ingest.errors import TelemetryError


def display(name: Path | str) -> str:
    """Return a path or a name as text that can be printed and stored."""
    return os.fsencode(name).decode("utf-8", errors="backslashreplace")


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
