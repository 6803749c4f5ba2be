"""Whole lines as frames, for readers that look at lines in columns."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

import polars as pl

from ingest.sources._lines import (
    BLOCK_BYTES,
    LINE_BYTES,
    TOO_LONG,
    Block,
    blocks,
    refuse,
)
from ingest.sources._source import Batch, Refusal
from ingest.tables import Table


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that follow each other and are not blank.

    Attributes:
        frame: Columns `number`, counted from one in the file, and `line`.
        refused: The line before them, where it is too long.
        repairs: Lines that had to be mended to be text. [1]
        cut_short: Whether the last of them has no end.
    """

    frame: pl.DataFrame
    refused: tuple[Refusal, ...]
    repairs: int
    cut_short: bool

    def counted(self) -> Batch:
        """Return a batch without rows, in which each line is a record."""
        records = len(self.frame) + len(self.refused)
        return Batch(refused=self.refused, records=records, repairs=self.repairs)


def line_frames(
    stream: BinaryIO,
    table: type[Table],
    size: int = BLOCK_BYTES,
    longest: int = LINE_BYTES,
) -> Iterator[Lines]:
    """Read a stream as lines, some of them at a time.

    Args:
        stream: What to read.
        table: What a line that is too long is refused for.
        size: Bytes to read at a time. [B]
        longest: Length beyond which a line that has no end is cut. [B]
    """
    yield from frames_of(blocks(stream, size=size, longest=longest), table)


def frames_of(read: Iterable[Block], table: type[Table]) -> Iterator[Lines]:
    """Return blocks as lines.

    Args:
        read: The blocks.
        table: What a line that is too long is refused for.
    """
    for block in read:
        texts = block.texts()
        cut = texts.head(int(block.cut))
        rest = texts.slice(len(cut))
        refused = tuple(refuse(table, n, TOO_LONG, line) for n, line in cut.iter_rows())
        yield Lines(rest, refused, block.repairs, block.cut_short)
