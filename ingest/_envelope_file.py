"""A file in no envelope, of which no more is read than what was hashed."""

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ingest._envelope_layer import Fault, changed

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class PlainFile(io.FileIO):
    """A file that may be bounded to its first bytes: a log may grow while it is read.

    Attributes:
        fault: Set where there is less than there should be.
    """

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            OSError: If there is no such file, or none that may be read.
        """
        super().__init__(path)
        self.fault: Fault | None = None
        self._bound: int | None = None

    @property
    def size_on_disk(self) -> int:
        """Size of the whole file. [B]"""
        return os.fstat(self.fileno()).st_size

    @property
    def is_whole(self) -> bool:
        """Whether the file is what may be read of it, no more."""
        return self._bound is None or self._bound == self.size_on_disk

    def bound(self, size: int) -> None:
        """Let no more than the first bytes be read."""
        self._bound = size

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read into a buffer, up to the bound."""
        if self._bound is None:
            return super().readinto(buffer) or 0
        target = memoryview(buffer).cast("B")[: self._left()]
        size = super().readinto(target) or 0
        if target and not size:
            self.fault = changed(self.tell())
        return size

    def read(self, size: int | None = -1, /) -> bytes:
        """Read some bytes, up to the bound; all of them unless told how many."""
        if size is None or size < 0:
            return self.readall()
        if self._bound is None:
            return super().read(size) or b""
        return io.RawIOBase.read(self, size) or b""

    def readall(self) -> bytes:
        """Read all up to the bound."""
        if self._bound is None:
            return super().readall() or b""
        return io.RawIOBase.readall(self) or b""

    def _left(self) -> int:
        return max(0, (self._bound or 0) - self.tell())
