"""What every envelope has in common: content out of a stream, up to a first fault."""

import io
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: Bytes that are read, and expanded, at a time. What a damaged file loses before the
#: damage is at most this much; a bomb never expands to more at once. [B]
CHUNK: Final = 1 << 16

Rule = Literal["truncated", "damaged", "expands_too_far", "nested", "changed"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a stream ended before its time.

    Attributes:
        rule: `truncated` where the rest is missing, `damaged` where it is wrong,
            `expands_too_far` and `nested` where it would be more than is read, and
            `changed` where the file became shorter while it was read.
        place: Where in the file.
        expected: What was expected there.
        mend: What can be done about it.
    """

    rule: Rule
    place: str
    expected: str
    mend: str = "copy the file again"

    @property
    def hint(self) -> str:
        """What was expected, and what can be done, in words."""
        return f"expected {self.expected}; {self.mend}"

    @property
    def text(self) -> str:
        """All of it in words."""
        return f"{self.rule} at {self.place}: {self.hint}"


def changed(place: int) -> Fault:
    """Return the fault of a file that is shorter than when it was hashed.

    Args:
        place: Where it ends. [B]
    """
    expected = "the rest of the file, which became shorter while it was read"
    return Fault("changed", f"byte {place}", expected, "ingest it again")


class Layer(io.RawIOBase, ABC):
    """The content of an envelope.

    Attributes:
        fault: Why it ended early; None while nothing was wrong.
    """

    def __init__(self, packed: io.RawIOBase) -> None:
        """Open an envelope, which is closed with its content."""
        self.fault: Fault | None = None
        self._packed = packed
        self._output = memoryview(b"")
        self._is_over = False
        self._made = 0
        self._most = sys.maxsize
        self._given = 0
        self._bound: int | None = None

    @abstractmethod
    def _expand(self) -> bytes | None:
        """Return some more of the content; none at its end, or at a fault."""

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def close(self) -> None:
        """Close the envelope too."""
        self._packed.close()
        super().close()

    def limit(self, size: int) -> None:
        """Let the content be no larger than this: what is larger is a fault. [B]"""
        self._most = size

    def bound(self, size: int) -> None:
        """Let no more than the first bytes be read: what follows came later. [B]"""
        self._bound = size

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read as much as there is at the moment; 0 at the end."""
        target = memoryview(buffer).cast("B")
        if self._bound is not None:
            target = target[: self._bound - self._given]
        while not self._output:
            if not self._more():
                return self._end()
        size = min(len(target), len(self._output))
        target[:size] = self._output[:size]
        self._output = self._output[size:]
        self._given += size
        return size

    def peek(self, size: int) -> bytes:
        """Return the next bytes without reading them; fewer near the end."""
        while len(self._output) < size:
            before = bytes(self._output)
            if not self._more():
                break
            self._output = memoryview(before + self._output)
        return bytes(self._output[:size])

    def _more(self) -> bool:
        if self._is_over or (expanded := self._expand()) is None:
            self._is_over = True
            return False
        self._made += len(expanded)
        if self._made > self._most:
            self._is_over, self.fault = True, _too_far(self._most)
            return False
        self._output = memoryview(expanded)
        return True

    def _end(self) -> int:
        if self._bound is not None and self._given < self._bound and not self.fault:
            self.fault = changed(self._given)
        return 0


def _too_far(most: int) -> Fault:
    return Fault(
        "expands_too_far",
        f"byte {most} of its content",
        f"at most {most} bytes, for its size on disk",
        "expand it before, if that is what it holds",
    )
