"""Lines of a text stream in blocks of bounded size."""

from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

#: Bytes of a block: some ten thousand lines, small beside the memory of any machine.
BLOCK_BYTES: Final = 8 << 20

#: Longest line that is kept in one piece; a file without line ends is cut there.
LINE_BYTES: Final = 1 << 20


def line_blocks(
    stream: BinaryIO, block_bytes: int = BLOCK_BYTES
) -> Iterator[pl.Series]:
    """Yield the lines of a stream in order, without their ends.

    Bytes that are not UTF-8 are replaced.

    Args:
        stream: The expanded file.
        block_bytes: Size of a block. [B]
    """
    first = True
    while block := stream.read(block_bytes):
        if not block.endswith(b"\n"):
            block += stream.readline(LINE_BYTES)
        text = block.decode("utf-8-sig" if first else "utf-8", errors="replace")
        first = False
        lines = text.removesuffix("\n").split("\n")
        yield pl.Series("line", lines, pl.String).str.strip_chars_end("\r\x00 ")
