"""One writer at a time. The lock dies with the process that holds it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from ingest.errors import LakeLockedError

#: File that is locked; it holds who locked it, and stays when the lock is gone.
LOCK: Final = ".lock"

#: Characters of the holder's command that the lock file keeps.
_COMMAND_CHARACTERS: Final = 200


@contextmanager
def locked(root: Path, *, wait: bool) -> Iterator[None]:
    """Hold the lock of a lake.

    Args:
        root: The lake's folder.
        wait: Whether to wait for another holder.

    Raises:
        LakeLockedError: If another process or thread holds it, unless told to wait.
    """
    path = root / LOCK
    lock = FileLock(path)
    try:
        lock.acquire(timeout=-1 if wait else 0)
    except Timeout as error:
        message = (
            f"lake {root} is locked by {_holder(path)}; wait for it, or give --wait"
        )
        raise LakeLockedError(message) from error
    try:
        command = " ".join(sys.argv)[:_COMMAND_CHARACTERS]
        path.write_text(f"{os.getpid()}\n{command}\n", errors="backslashreplace")
        yield
    finally:
        lock.release()


def _holder(path: Path) -> str:
    try:
        pid = path.read_text(errors="replace").split("\n", 1)[0]
    except OSError:
        pid = ""
    return f"process {pid}" if pid.isdigit() else "another process"
