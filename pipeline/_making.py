"""A folder that is there once it is whole, and room for it before it is begun."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from ingest.errors import SettingError

_LOCK: Final = ".lock"

#: From where on a number of GB has no decimals. [B]
_MANY: Final = 100e9


@contextmanager
def making(folder: Path, name: str) -> Iterator[Path]:
    """Give a hidden folder to write in; what is in it comes out when all is written.

    Whatever ends it before leaves nothing behind, no folder either, but for a kill:
    what that leaves goes when the same is made again. Folders come out before files,
    each by a rename.

    Args:
        folder: Where the parts come to.
        name: What is made.

    Raises:
        SettingError: If another process makes the same there.
    """
    hidden = folder / f".{name}.making"
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    hidden.mkdir(parents=True, exist_ok=True)
    lock = FileLock(hidden / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        message = f"{folder / name}: another process makes it; wait, or stop that one"
        raise SettingError(message) from None
    try:
        _clear(hidden)
        yield hidden
        for part in _parts(hidden):
            part.replace(folder / part.name)
    finally:
        # before the lock is gone: what is there then may be another's
        shutil.rmtree(hidden, ignore_errors=True)
        lock.release()
        with suppress(OSError):
            for one in new:
                one.rmdir()


def _parts(hidden: Path) -> list[Path]:
    """Return what is in a hidden folder, beside its lock."""
    parts = [one for one in sorted(hidden.iterdir()) if one.name != _LOCK]
    return sorted(parts, key=Path.is_file)


def _clear(hidden: Path) -> None:
    """Remove what a killed process left."""
    for part in _parts(hidden):
        if part.is_dir():
            shutil.rmtree(part)
        else:
            part.unlink()


def refuse_small_disk(folder: Path, needed: int, mend: str) -> None:
    """Refuse to write more to a folder than its disk has room for.

    Args:
        folder: The folder; it need not be there yet.
        needed: What is to be written, about. [B]
        mend: What to do.

    Raises:
        SettingError: If the disk has less.
    """
    there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    free = shutil.disk_usage(there).free
    if needed > free:
        message = (
            f"{folder}: about {in_gb(needed)} are to be written, and the disk has"
            f" {in_gb(free)} free; {mend}"
        )
        raise SettingError(message)


def in_gb(size: int) -> str:
    """Return a number of bytes in words. [B]"""
    return f"{size / 1e9:,.0f} GB" if size >= _MANY else f"{size / 1e9:.3g} GB"
