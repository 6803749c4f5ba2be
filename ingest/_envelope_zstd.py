"""The zstd envelope: frames that follow one another, skippable ones too."""

import io
from typing import Final

import pyarrow as pa

from ingest._envelope_layer import Fault, Layer

#: Bytes that are expanded at a time. Arrow keeps nothing of a read that meets damage;
#: whole blocks of 128 KiB are this many times some number, so that few are lost. [B]
_CHUNK: Final = 1 << 14


class Zstd(Layer):
    """The frames of a zstd envelope, up to the first fault.

    A frame that asks for a window of more than 128 MiB is damage, as it is for the
    zstd tool.
    """

    def __init__(self, packed: io.RawIOBase) -> None:
        """Open an envelope."""
        super().__init__(packed)
        self._counted = _Counted(packed)
        file = pa.PythonFile(self._counted, mode="r")
        self._stream = pa.CompressedInputStream(file, "zstd")

    def _expand(self) -> bytes | None:
        try:
            expanded: bytes = self._stream.read(_CHUNK)
        except OSError as error:
            if error.errno is not None:
                raise
            self.fault = self._counted.fault()
            return None
        return expanded or None


class _Counted:
    """A stream for Arrow, which tells how far it was read."""

    closed = False

    def __init__(self, packed: io.RawIOBase) -> None:
        self._packed = packed
        self._read = 0
        self._is_over = False

    def read(self, size: int) -> bytes:
        data = self._packed.read(size) or b""
        self._read += len(data)
        self._is_over |= not data
        return data

    def close(self) -> None:
        """Leave the closing to the envelope."""

    def fault(self) -> Fault:
        place = f"byte {self._read}"
        if self._is_over:
            return Fault("truncated", place, "the rest of the zstd stream")
        return Fault("damaged", place, "an intact zstd stream")
