"""A stretch of a trace's file in memory, and where one record of it ends.

The buffer is used again for every stretch: what is decoded from it must be copied
before the next one is read.
"""

import io
import re
from typing import BinaryIO, Final

#: Bytes read at once: what is decoded from them still fits a processor's cache, which
#: made it twice as fast as 8 MiB. [B]
BLOCK_BYTES: Final = 1 << 19

#: Longest record, and longest text before or after all records; more is refused, so
#: that no file can take up the memory of a machine. [B]
RECORD_BYTES: Final = 64 << 20

#: White space that is looked through between two records. [B]
_GAP_BYTES: Final = 256

#: Keys that the records of a trace begin with; what is nested in them hardly does.
_FIRST_KEY: Final = rb'"(?:ph|name|cat|pid|tid|ts|dur|args|id|bp|s|tts)"'

#: End of a record: its brace, before the start of another or the end of them all.
_RECORD_END: Final = re.compile(
    rb"\}(?=\s*(?:,\s*\{\s*" + _FIRST_KEY + rb'|,?\s*\](?:\s*(?:,\s*"|[}\0]|\Z))))'
)

#: The same where records begin with other keys.
_ANY_END: Final = re.compile(rb"\}(?=\s*,\s*\{)")

#: What is between two records, or a record and the end of them all.
_BETWEEN: Final = re.compile(rb"\s*,?\s*(?=[{\]])")

_CLOSE: Final = ord("]")

_BRACKET: Final = re.compile(rb"[\[\]{}]")

#: Nesting that no profiler writes and that decoders refuse.
_DEEP: Final = 500

#: What follows the end of all records, up to where the window ends.
_AFTER_ALL: Final = re.compile(rb'\s*(?:,\s*(?:"|\Z)|[}\0]|\Z)')


class Window:
    """Unread bytes of a stream: `data[start:end]`, with a byte to spare around them.

    Attributes:
        data: The buffer.
        start: Where the unread bytes begin.
        end: Where they end.
        ended: Whether the stream has no more.
    """

    def __init__(self, stream: BinaryIO, block_bytes: int = BLOCK_BYTES) -> None:
        """Begin before the first byte of a stream."""
        self._stream = stream
        self._block_bytes = block_bytes
        self._before = -1
        self.data = bytearray(2 * block_bytes + 2)
        self.start = self.end = 1
        self.ended = False

    def offset(self, at: int) -> int:
        """Return where in the stream a place of the buffer is. [B]"""
        return self._before + at

    def unread(self) -> int:
        """Return how many bytes wait. [B]"""
        return self.end - self.start

    def fill(self) -> None:
        """Read one more block behind the unread bytes, which move to the front."""
        room = self.unread() + self._block_bytes + 2
        target = self.data if room <= len(self.data) else bytearray(2 * room)
        kept = 1 + self.unread()
        target[1:kept] = self.data[self.start : self.end]
        self._before += self.start - 1
        self.data, self.start, self.end = target, 1, kept
        count = _read_into(
            self._stream, memoryview(target)[kept : kept + self._block_bytes]
        )
        self.ended = count == 0
        self.end += count

    def last_comma(self, low: int, high: int) -> int:
        """Return the last place of a comma between `}` and `{`, or -1.

        It is between two records unless it is inside one, or inside a string.
        """
        brace = high
        while (brace := self.data.rfind(b"{", low, brace)) > low:
            first = max(low, brace - _GAP_BYTES)
            before = self.data[first:brace].rstrip()
            if before.endswith(b",") and before[:-1].rstrip().endswith(b"}"):
                return first + len(before) - 1
        return -1

    def record_ends(self, most: int, *, loose: bool = False) -> list[int]:
        """Return places just behind what may be the ends of the next records.

        Args:
            most: How many to return at most.
            loose: Whether records may begin with any key.
        """
        found: list[int] = []
        low, end = self.start, _ANY_END if loose else _RECORD_END
        while len(found) < most and (match := end.search(self.data, low, self.end)):
            low = match.end()
            found.append(low)
        return found

    def skip_to(self, record_end: int) -> bool:
        """Go on behind a record; return whether a comma there has nothing behind it."""
        gap = _BETWEEN.match(self.data, record_end, self.end)
        self.start = gap.end() if gap else record_end
        return bool(gap and b"," in gap[0] and self.data[self.start] == _CLOSE)

    def closes_at(self, fault: int) -> int:
        """Return where `]` ends all records, where `fault` is a byte too many.

        Returns -1 where what follows is not what follows the records of a trace.
        """
        close = self.data.rfind(b"]", self.start - 1, fault)
        is_close = _AFTER_ALL.match(self.data, close + 1, self.end)
        return close if is_close else -1


def _read_into(stream: BinaryIO, target: memoryview) -> int:
    """Read as much as there is, into the buffer itself where the stream can."""
    if isinstance(stream, io.BufferedIOBase | io.RawIOBase):
        return stream.readinto(target) or 0
    block = stream.read(len(target))
    target[: len(block)] = block
    return len(block)


def without_nuls(rest: bytes) -> tuple[bytes, bool]:
    """Return the end of a file without white space and NUL bytes behind it.

    Returns:
        The end, and whether there were NUL bytes, as a preallocated file has them.
    """
    bare = rest.rstrip(b"\0 \t\r\n")
    return bare, b"\0" in rest[len(bare) :]


def deep_place(data: bytearray, low: int, high: int) -> int:
    """Return where brackets are first nested too deep to be decoded, else the start."""
    depth = 0
    for bracket in _BRACKET.finditer(data, low, high):
        depth += 1 if bracket[0] in b"[{" else -1
        if depth > _DEEP:
            return bracket.start()
    return low
