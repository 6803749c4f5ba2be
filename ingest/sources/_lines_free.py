"""Lines in which people's own words stand: names of jobs, comments, processes.

Such words may be in any encoding, and what is read of a line stands beside them. So
bytes that are not UTF-8 are replaced, and the line counts as repaired. All else that
may be wrong with a line has the answer that `_lines` gives.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import polars as pl

from ingest.sources._lines import (
    BLOCK_BYTES,
    BROKEN,
    LINE_BYTES,
    NOT_TEXT,
    blocks,
    refuse,
)
from ingest.sources._source import Refusal
from ingest.tables import Table


@dataclass(frozen=True, slots=True)
class FreeLines:
    """Lines that follow each other and are not blank.

    Attributes:
        frame: Columns `number`, counted from one in the file, and `line`.
        refused: The line before them, where it is too long.
        repairs: Lines that lost NUL bytes or have bytes that are not UTF-8. [1]
    """

    frame: pl.DataFrame
    refused: tuple[Refusal, ...]
    repairs: int


def free_lines(
    stream: BinaryIO,
    table: type[Table],
    size: int = BLOCK_BYTES,
    longest: int = LINE_BYTES,
) -> Iterator[FreeLines]:
    """Read a stream as lines, some of them at a time.

    Args:
        stream: What to read.
        table: What a line that is too long is refused for.
        size: Bytes to read at a time. [B]
        longest: Length beyond which a line that has no end is cut. [B]
    """
    for block in blocks(stream, size=size, longest=longest):
        texts = block.texts()
        cut = texts.head(int(block.cut))
        rest = texts.slice(len(cut))
        refused = tuple(refuse(table, n, NOT_TEXT, line) for n, line in cut.iter_rows())
        broken = rest.select(BROKEN.sum()).item()
        yield FreeLines(rest, refused, block.repairs + broken)
