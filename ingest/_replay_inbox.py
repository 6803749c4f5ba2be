"""The inbox of a replay: a folder of its own, for one replay at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from ingest._names import display
from ingest.errors import TelemetryError

#: File that is locked while one replays; it stays when the lock is gone.
LOCK: Final = ".gpuledger-replay.lock"


@contextmanager
def holding(source: Path, inbox: Path) -> Iterator[None]:
    """Keep other replays out of an inbox as long as one goes on.

    Raises:
        TelemetryError: If another goes on there, or one folder is within the other.
    """
    refuse_nested(source, inbox)
    inbox.mkdir(parents=True, exist_ok=True)
    lock = FileLock(inbox / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        message = (
            f"{display(inbox)}: another process replays into it; wait, stop that one,"
            " or replay into another folder"
        )
        raise TelemetryError(message) from None
    try:
        yield
    finally:
        lock.release()


def refuse_nested(source: Path, inbox: Path) -> None:
    """Refuse an inbox that cannot be one.

    Raises:
        TelemetryError: If it or the source is no folder, or one is within the other.
    """
    home, target = source.resolve(), inbox.resolve()
    if not home.is_dir():
        message = f"{display(source)}: no such folder; give that of a recorded run"
        raise TelemetryError(message)
    if target.exists() and not target.is_dir():
        message = f"{display(inbox)}: expected a folder; give another --into"
        raise TelemetryError(message)
    if home.is_relative_to(target) or target.is_relative_to(home):
        message = (
            f"{display(inbox)}: one of {display(source)} and the inbox is within the"
            " other; replay into a folder of its own"
        )
        raise TelemetryError(message)
