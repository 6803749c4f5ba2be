"""Text in UTF-16 as UTF-8: what PowerShell redirects, and Excel's CSV."""

import codecs
import io
from typing import Final

from ingest._envelope_layer import CHUNK, Layer

#: Encodings by the byte order mark that they start with.
ENCODINGS: Final = {
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}

#: Bytes of a character. [B]
_WIDTH: Final = 2

#: What no UTF-8 has: readers replace it, and count the line as repaired.
_BROKEN: Final = b"\xff"


class Utf16(Layer):
    """A text in UTF-16 as UTF-8, without its byte order mark.

    Half of a pair, and half of a last character, become bytes that are not UTF-8, so
    that they are answered as bad bytes in any text are.
    """

    def __init__(self, packed: io.RawIOBase, encoding: str) -> None:
        """Open a text."""
        super().__init__(packed)
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
        self._odd = b""
        self._is_first = True

    def _expand(self) -> bytes | None:
        data = self._packed.read(CHUNK) or b""
        if not data:
            return self._last()
        data = self._odd + data
        whole = len(data) - len(data) % _WIDTH
        self._odd = data[whole:]
        return self._encoded(self._decoder.decode(data[:whole]))

    def _encoded(self, text: str) -> bytes:
        if self._is_first and text:
            text, self._is_first = text.removeprefix("\ufeff"), False
        return text.encode("utf-8", "surrogatepass")

    def _last(self) -> bytes | None:
        # what a decoder still holds is a first half of a pair
        held = bool(self._decoder.getstate()[0])
        self._decoder.reset()
        broken = _BROKEN * (held + bool(self._odd))
        self._odd = b""
        return broken or None
