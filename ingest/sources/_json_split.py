"""The objects of a JSON text, one at a time: of a list, of a lone document, of many.

A tool's answer may be one object, a list of objects, an object around a list, or many
of them one after the other. Only brackets outside strings are looked at, so what is
damaged inside an object costs that object alone.

A lone document is a record here, and a bracket too many does no lasting harm: neither
is so in _json_elements, which walks named lists of one layout in a tenth of the time.
"""

import re
from collections.abc import Iterator, Set
from typing import BinaryIO, Final

from ingest.sources._utf8 import Pieces

#: Bytes read at a time. [B]
CHUNK_BYTES: Final = 1024 * 1024

#: Longest object: the events of one component of a node for weeks take 10 MB. [B]
OBJECT_BYTES: Final = 64 * 1024 * 1024

#: What is left of a string, whole or, with a group, up to the end of what was read; a
#: backslash there is the group.
_REST: Final = re.compile(rb'(?:[^"\\]|\\.)*+(?:"|(\\?)\Z)', re.DOTALL)

#: A string or a bracket.
_TOKEN: Final = re.compile(rb'"' + _REST.pattern + rb"|[{}\[\]]", re.DOTALL)
_OPENS: Final = (b"{", b"[")

#: What may stand around a document: blanks, NUL bytes, marks of records and of UTF-8.
_AROUND: Final = b" \t\r\n\0\x1e\xef\xbb\xbf"


class Objects:
    """Walks through a text.

    Attributes:
        rest: What was read of an object that has no end, empty where all have one.
        unclosed: Whether a list or an object around the objects has no end.
        too_long: Whether reading stopped at an object of more than OBJECT_BYTES.
        pieces: What is wrong with the bytes of the text.
        strange: Whether something else than documents stands at the top.
    """

    def __init__(self, stream: BinaryIO, start: bytes, lists: Set[bytes]) -> None:
        """Start before the first byte.

        Args:
            stream: What to read.
            start: What was already read of it.
            lists: Keys of an object whose lists hold the records.
        """
        self._stream = stream
        self._buffer = start
        self._lists = lists
        self._done = 0
        self._depth = 0
        self._level = 0
        self._begin: int | None = None
        self._key: bytes | None = None
        self._key_end = 0
        self._scanned = 0
        self.strange = False
        self.rest = b""
        self.unclosed = False
        self.too_long = False
        self.pieces = Pieces()
        self.pieces.add(start)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the bytes of every object."""
        at_end = False
        while not at_end and not self.too_long:
            yield from self._walk(at_end=at_end)
            self._trim()
            data = self._stream.read(CHUNK_BYTES)
            at_end = not data
            self.pieces.add(data)
            self._buffer += data
        yield from self._walk(at_end=True)
        self._pass(len(self._buffer))
        self.unclosed = self._depth > 0
        if self._begin is not None:
            self.rest = self._buffer[self._begin :]

    def _walk(self, *, at_end: bool) -> Iterator[bytes]:
        if self._scanned and not self._go_on(at_end=at_end):
            return
        for match in _TOKEN.finditer(self._buffer, self._done):
            token, start, end = match[0], match.start(), match.end()
            self._pass(start)
            if token[:1] == b'"':
                if match[1] is not None and not at_end:
                    self._done, self._scanned = start, end - len(match[1])
                    return
                self._take_string(start, end)
            elif token in _OPENS:
                self._open(token, start)
            elif (found := self._close(end)) is not None:
                yield found
            self._done = end

    def _go_on(self, *, at_end: bool) -> bool:
        """Go on in a string that had no end; return whether it has one now."""
        match = _REST.match(self._buffer, self._scanned)
        if match is None or (match[1] is not None and not at_end):
            self._scanned = match.end() - len(match[1]) if match else self._scanned
            return False
        self._take_string(self._done, match.end())
        self._done, self._scanned = match.end(), 0
        return True

    def _pass(self, start: int) -> None:
        """Look at what stands between two tokens."""
        if self._depth == 0 and self._buffer[self._done : start].strip(_AROUND):
            self.strange = True

    def _take_string(self, start: int, end: int) -> None:
        if self._depth == 1 and self._level == 0:
            self._key, self._key_end = self._buffer[start + 1 : end - 1], end
        self.strange |= self._depth == 0

    def _open(self, token: bytes, start: int) -> None:
        if token == b"{" and self._depth == self._level:
            self._begin = start
        elif token == b"[" and self._depth == 0:
            self._level = 1
        elif token == b"[" and self._depth == 1 and self._level == 0:
            between = self._buffer[self._key_end : start].strip()
            if between == b":" and self._key in self._lists:
                self._level, self._begin = 2, None
        self._depth += 1

    def _close(self, end: int) -> bytes | None:
        self.strange |= self._depth == 0
        self._depth = max(self._depth - 1, 0)
        if self._depth < self._level:
            self._level = 0
        if self._begin is None or self._depth != self._level:
            return None
        found = self._buffer[self._begin : end]
        self._begin = None
        return found

    def _trim(self) -> None:
        """Drop what is no longer needed; a key may still be, up to its list."""
        if self._depth == 0 and b'"' not in self._buffer[self._done :]:
            self._pass(len(self._buffer))
            self._done = len(self._buffer)
        keep = self._done if self._begin is None else self._begin
        if self._depth == 1 and self._level == 0 and self._key is not None:
            keep = min(keep, self._key_end)
        self.too_long = len(self._buffer) - keep > OBJECT_BYTES
        self._buffer = self._buffer[keep:]
        self._done -= keep
        self._key_end -= keep
        self._scanned -= min(keep, self._scanned)
        if self._begin is not None:
            self._begin -= keep
