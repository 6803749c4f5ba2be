"""Bytes that should be UTF-8, told without replacing them."""

import codecs
from typing import Final

#: What stands for a sequence that is not UTF-8.
_REPLACED: Final = "\ufffd"


def is_utf8(data: bytes | bytearray | memoryview) -> bool:
    """Return whether all of some bytes are UTF-8."""
    try:
        codecs.utf_8_decode(data, "strict", True)
    except UnicodeDecodeError:
        return False
    return True


def count_broken(data: bytes) -> int:
    """Return how many sequences are not UTF-8. [1]"""
    if is_utf8(data):
        return 0
    text = data.decode(errors="replace")
    return text.count(_REPLACED) - data.count(_REPLACED.encode())


class Pieces:
    """What is wrong with the bytes of a document that comes in pieces.

    Attributes:
        has_nul_tail: Whether what came so far ends in NUL bytes.
    """

    def __init__(self) -> None:
        """Begin before the first byte."""
        self._held = b""
        self._broken = 0
        self.has_nul_tail = False

    def add(self, piece: bytes) -> None:
        """Look at the next piece."""
        data = self._held + piece
        _, used = codecs.utf_8_decode(data, "replace", False)
        self._broken += count_broken(data[:used])
        self._held = data[used:]
        if bare := piece.rstrip(b" \t\r\n"):
            self.has_nul_tail = bare.endswith(b"\0")

    def broken(self) -> int:
        """Return how many sequences of all pieces are not UTF-8. [1]"""
        return self._broken + bool(self._held)

    def repairs(self, inside: int) -> int:
        """Return the repairs around the records, once all pieces came. [1]

        NUL bytes at the end are one, and bytes that are not UTF-8 another.

        Args:
            inside: Sequences in the records that are not UTF-8. [1]
        """
        return int(self.has_nul_tail) + (self.broken() > inside)
