"""What it takes for a file to be there, whole, after the power has failed."""

import io
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import polars as pl

#: Drawn once in the life of a process and inherited by its forks. The names of their
#: parts start with it, so that recovery can spare what is still being staged.
PROCESS: Final = secrets.token_hex(4)

#: How the name of a file starts that is about to take another's place.
PARTIAL: Final = ".partial-"


def part_name() -> str:
    """Return a new name for a part: 32 hexadecimal digits, then the ending."""
    return f"{PROCESS}{secrets.token_hex(12)}.parquet"


def write_frame(path: Path, frame: pl.DataFrame, **options: Any) -> int:
    """Write rows to a new Parquet file and wait until they are on disk.

    Polars would report a full disk as a malformed file: Python writes what it encodes.

    Args:
        path: The file.
        frame: The rows.
        options: How Polars encodes them.

    Returns:
        Size of the file. [B]

    Raises:
        OSError: If the file cannot be written whole; none is left then.
    """
    encoded = io.BytesIO()
    frame.write_parquet(encoded, **options)
    return write_bytes(path, encoded.getbuffer())


def write_bytes(path: Path, content: memoryview) -> int:
    """Write a new file and wait until it is on disk.

    Returns:
        Size of the file. [B]

    Raises:
        OSError: If the file cannot be written whole; none is left then.
    """
    try:
        with path.open("wb") as file:
            file.write(content)
            sync(file)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
    return content.nbytes


def sync(file: BinaryIO) -> None:
    """Wait until a file's content is on disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(folders: Iterable[Path]) -> None:
    """Create folders and those above them, durably."""
    above: set[Path] = set()
    for folder in folders:
        missing = [folder, *folder.parents]
        missing = missing[: next(i for i, f in enumerate(missing) if f.is_dir())]
        for new in reversed(missing):
            new.mkdir(exist_ok=True)
            above.add(new.parent)
    for folder in above:
        sync_folder(folder)


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a path beside the target; what is there at the end takes its place."""
    partial = target.with_name(f"{PARTIAL}{secrets.token_hex(8)}-{target.name}")
    try:
        yield partial
        os.replace(partial, target)  # noqa: PTH105 - the commit, called by its name
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)
