"""A stream as a file on disk, for formats whose index is at their end."""

import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO

#: Bytes copied at a time. [B]
_CHUNK = 1 << 20


@contextmanager
def on_disk(stream: BinaryIO) -> Iterator[Path]:
    """Give the path of a file with the whole content of a stream.

    A file in no envelope is itself that file; of any other, and of one that has grown
    since it was hashed, a copy is made in the folder for temporary files, and removed
    afterwards.

    Args:
        stream: A stream that nothing was read from yet.

    Raises:
        OSError: If there is no room for the copy.
    """
    raw = getattr(stream, "raw", stream)
    is_whole = getattr(raw, "is_whole", True)
    if isinstance(raw, io.FileIO) and is_whole and isinstance(raw.name, str | Path):
        yield Path(raw.name)
        return
    with NamedTemporaryFile(prefix="gpuledger-") as copy:
        shutil.copyfileobj(stream, copy, _CHUNK)
        copy.flush()
        yield Path(copy.name)
