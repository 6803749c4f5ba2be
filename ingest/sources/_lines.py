"""Whole lines out of a stream of bytes, in blocks of bounded size.

What is wrong with a line has one answer in every source that reads lines:

* a byte order mark at the start and a carriage return before a line's end are dropped;
* blank lines are not records;
* NUL bytes at the ends of a line (a preallocated or a truncated log) are dropped, and
  the line counts as repaired; a line of nothing else is blank;
* bytes that are not UTF-8 are replaced by U+FFFD, and the line counts as repaired: it
  is refused only where a number or a name that it needs was among them;
* a line that is longer than a line may be is cut and gets a mark that is no text, so
  that every reader refuses it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO, Final

import numpy as np
import polars as pl

from ingest.phrases import phrase
from ingest.sources._source import RAW_CHARACTERS, Refusal
from ingest.sources._utf8 import is_utf8
from ingest.tables import Table

#: Bytes read at a time: some ten thousand lines, and a few copies of it in memory. [B]
BLOCK_BYTES: Final = 4 * 1024 * 1024

#: Longest line that can be a record; with 241 columns nvidia-smi writes 8 kB. [B]
LINE_BYTES: Final = 1024 * 1024

#: Rule of a line that is too long to be a record.
TOO_LONG: Final = "line_too_long"

#: Rule of a last line whose end is missing where the writer ends every line.
TRUNCATED: Final = "truncated_line"

_END = ord("\n")
_COUNT_BYTES = 1 << 16
_MARK = b"\xff"
_BOM = b"\xef\xbb\xbf"
# from the start of a run only, or a long run inside a line would be quadratic
_NUL_ENDS = re.compile(rb"^\0++|(?<!\0)\0++(?=\r?$)", re.MULTILINE)
_WHITE = b" \t\r\f\v"


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that follow each other.

    Attributes:
        first: Number of the first line, counted from one.
        data: The lines, each with its end; UTF-8, but for the mark of a cut line.
        ended: Whether the last line has its end; only the file's last may lack it.
        repairs: Lines that lost NUL bytes or had bytes that are not UTF-8. [1]
        cut: Whether the first line was too long, and is cut.
    """

    first: int
    data: bytes
    ended: bool
    repairs: int
    cut: bool = False

    @property
    def last(self) -> int:
        """Number of the last line."""
        return self.first + count_ends(self.data) - self.data.endswith(b"\n")

    @property
    def cut_short(self) -> bool:
        """Whether the last line is not blank and has no end."""
        return not self.ended and bool(self.data.rpartition(b"\n")[2].strip(_WHITE))

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the bytes of every line that is not blank."""
        for number, line in enumerate(BytesIO(self.data), self.first):
            if stripped := line.strip(_WHITE + b"\n"):
                yield number, stripped

    def texts(self) -> pl.DataFrame:
        """Return the lines that are not blank: their `number` and `line`, as text."""
        texts = self.data.decode("utf-8", errors="replace").split("\n")
        frame = pl.DataFrame({"line": texts}, schema={"line": pl.String})
        return (
            frame.with_row_index("number", self.first)
            .with_columns(pl.col("line").str.strip_chars(_WHITE.decode()))
            .filter(pl.col("line") != "")
        )

    def table(self) -> pl.DataFrame:
        """Return the lines that are not blank: their `place` and `line`, as text.

        A line that was cut has a `rule`.
        """
        is_cut = pl.lit(self.cut) & (pl.col("number") == self.first)
        return self.texts().select(
            "line",
            place=phrase("line {}", "number"),
            rule=pl.when(is_cut).then(pl.lit(TOO_LONG)),
        )


def count_ends(data: bytes) -> int:
    """Return how many ends of lines there are, four times as fast as bytes do. [1]"""
    found = np.frombuffer(data, np.uint8)
    # in pieces whose comparison needs no new memory
    starts = range(0, len(data), _COUNT_BYTES)
    return sum(
        int(np.count_nonzero(found[start : start + _COUNT_BYTES] == _END))
        for start in starts
    )


def blocks(
    stream: BinaryIO,
    start: bytes = b"",
    size: int = BLOCK_BYTES,
    longest: int = LINE_BYTES,
) -> Iterator[Block]:
    """Read a stream as blocks of whole lines.

    Args:
        stream: What to read.
        start: What was already read of it.
        size: Bytes to read at a time. [B]
        longest: Length beyond which a line that has no end is cut. [B]
    """
    number, cut = 1, False
    rest = (start or stream.read(len(_BOM))).removeprefix(_BOM)
    while data := stream.read(size):
        end = data.rfind(b"\n") + 1
        if not end:
            # of a line that was cut, the end is in what was left
            data, rest = rest + data, b""
            end = data.rfind(b"\n") + 1
        if end:
            whole = b"".join((rest, memoryview(data)[:end]))
            yield _block(number, whole, cut=cut)
            number, cut = number + count_ends(whole), False
        rest = data[end:]
        if len(rest) > longest and len(rest := _one_nul(rest)) > longest:
            rest, cut = _cut(stream, rest, size), True
    if rest:
        yield _block(number, rest, cut=cut)


def _one_nul(line: bytes) -> bytes:
    """Shorten the NUL bytes that a line starts with to one, which counts as one."""
    return b"\0" + line.lstrip(b"\0") if line.startswith(b"\0") else line


def _cut(stream: BinaryIO, line: bytes, size: int) -> bytes:
    """Drop what is left of a line that is too long, and mark what is kept of it."""
    kept = line[:RAW_CHARACTERS] + _MARK
    while data := stream.read(size):
        _, end, rest = data.partition(b"\n")
        if end:
            return kept + end + rest
    return kept


def _block(first: int, data: bytes, *, cut: bool) -> Block:
    head, end, rest = data.partition(b"\n") if cut else (b"", b"", data)
    cleaned, repairs = _NUL_ENDS.subn(b"", rest) if b"\0" in rest else (rest, 0)
    text, broken = _as_utf8(cleaned)
    return Block(first, head + end + text, data.endswith(b"\n"), repairs + broken, cut)


def _as_utf8(data: bytes) -> tuple[bytes, int]:
    """Replace bytes that are not UTF-8; return how many lines had some, too."""
    if data.isascii() or is_utf8(data):
        return data, 0
    text = data.decode("utf-8", errors="replace").encode()
    if text == data:
        return data, 0
    pairs = zip(data.split(b"\n"), text.split(b"\n"), strict=True)
    return text, sum(line != mended for line, mended in pairs)


def refuse(table: type[Table], number: int, rule: str, raw: bytes | str) -> Refusal:
    """Return the refusal of one line."""
    text = raw if isinstance(raw, str) else _as_text(raw)
    return Refusal(table, f"line {number}", rule, text[:RAW_CHARACTERS])


def refuse_all(table: type[Table], frame: pl.DataFrame) -> tuple[Refusal, ...]:
    """Return the refusals of records that have a `place`, a `rule` and a `line`."""
    rows = frame.select("place", "rule", pl.col("line").str.head(RAW_CHARACTERS))
    return tuple(Refusal(table, *row) for row in rows.iter_rows())


def _as_text(raw: bytes) -> str:
    # four bytes a character at most, so nothing that is kept is lost
    return raw[: 4 * RAW_CHARACTERS].decode("utf-8", errors="replace")
