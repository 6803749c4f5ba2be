"""Records of sacct's output: one line each, or several where a field holds newlines."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from ingest.sources._lines import refuse
from ingest.sources._lines_frames import Lines
from ingest.sources._source import Refusal
from ingest.tables import Jobs

#: Lines that one record may take: comments of users, not a file that lost its shape.
RECORD_LINES: Final = 1_000

#: Fields of sacct that make its header known.
_KNOWN_BY: Final = frozenset({"JobID", "State"})

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_HEADER: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*([^\w\s]{1,4})[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Header:
    """Names of the fields, and what stands between them."""

    names: tuple[str, ...]
    delimiter: str

    @property
    def line(self) -> str:
        """The header as it stands in the file."""
        return self.delimiter.join(self.names)


@dataclass(frozen=True, slots=True)
class Records:
    """Whole records of a block.

    Attributes:
        frame: Columns `number` (line it starts in) and `text`.
        refused: Lines that belong to no record.
        repairs: Records joined from several lines, and lines that were mended. [1]
    """

    frame: pl.DataFrame
    refused: tuple[Refusal, ...]
    repairs: int


def parse_header(line: str) -> Header | None:
    """Return the header that a line is, None where it is none of sacct's."""
    found = _HEADER.match(line.strip())
    if not found:
        return None
    delimiter = found.group(1)
    names = tuple(line.strip().split(delimiter))
    named = all(_NAME.fullmatch(name) for name in names[:-1])
    is_last = names[-1] == "" or _NAME.fullmatch(names[-1]) is not None
    return Header(names, delimiter) if named and is_last and is_known(names) else None


def is_known(names: tuple[str, ...]) -> bool:
    """Return whether some names of fields are those of a listing of jobs."""
    return {name.replace("JobIDRaw", "JobID") for name in names} >= _KNOWN_BY


def records_of(blocks: Iterable[Lines], header: Header) -> Iterator[Records]:
    """Yield the records of a file block by block; a header is none.

    A line with fewer fields than the header is joined with those after it until the
    number fits. Lines that fit alone are never looked at one by one.
    """
    joiner = _Joiner(len(header.names) - 1)
    for lines in blocks:
        if lines.refused:
            joiner.interrupt(lines.refused)
        texts = lines.frame.select("number", text="line")
        counted = texts.filter(pl.col("text") != header.line).with_columns(
            bars=pl.col("text").str.count_matches(header.delimiter, literal=True)
        )
        yield joiner.join(counted, lines.repairs)
    yield joiner.close()


class _Joiner:
    """Joins the lines of a record; what is incomplete waits for the next block."""

    def __init__(self, bars: int) -> None:
        """Expect this many delimiters in a record."""
        self._bars = bars
        self._pieces: list[tuple[int, str, int]] = []
        self._refused: list[Refusal] = []

    def interrupt(self, refused: tuple[Refusal, ...]) -> None:
        """Take lines that are refused: what waits does not go on behind them."""
        self._refuse(len(self._pieces))
        self._refused += refused

    def join(self, lines: pl.DataFrame, repairs: int) -> Records:
        """Return the records that are complete, in the order of the file."""
        whole = lines.filter(bars=self._bars).select("number", "text")
        joined: list[tuple[int, str]] = []
        partial = lines.filter(pl.col("bars") != self._bars)
        followed = pl.Series(whole["number"]) if self._pieces or len(partial) else None
        for number, text, bars in partial.iter_rows():
            self._give_up_before(number, followed)
            self._pieces.append((number, text, bars))
            joined += self._complete()
        if followed is not None and len(followed):
            self._give_up_before(int(followed[-1]) + 1, followed)
        extra = pl.DataFrame(
            joined, schema={"number": pl.UInt32, "text": pl.String}, orient="row"
        )
        frame = pl.concat([whole, extra]).sort("number") if joined else whole
        return Records(frame, self._take_refused(), repairs + len(joined))

    def close(self) -> Records:
        """Refuse what is left at the end of the file."""
        self._refuse(len(self._pieces))
        empty = pl.DataFrame(schema={"number": pl.UInt32, "text": pl.String})
        return Records(empty, self._take_refused(), 0)

    def _complete(self) -> list[tuple[int, str]]:
        """Return the waiting pieces as a record once they have all its fields."""
        while self._bars < sum(bars for _, _, bars in self._pieces):
            self._refuse(1)
        if len(self._pieces) > RECORD_LINES:
            self._refuse(1)
        if self._bars != sum(bars for _, _, bars in self._pieces) or not self._bars:
            return []
        record = (self._pieces[0][0], "\n".join(text for _, text, _ in self._pieces))
        self._pieces.clear()
        return [record]

    def _give_up_before(self, number: int, whole: pl.Series | None) -> None:
        """Refuse pieces that a whole record separates from the line `number`."""
        if not self._pieces or whole is None:
            return
        last = self._pieces[-1][0]
        if whole.search_sorted(number) > whole.search_sorted(last):
            self._refuse(len(self._pieces))

    def _refuse(self, count: int) -> None:
        for number, text, bars in self._pieces[:count]:
            hint = (
                f"expected {self._bars + 1} fields as in the header, found {bars + 1}"
            )
            refusal = refuse(Jobs, number, "field_count", text)
            self._refused.append(replace(refusal, hint=hint))
        del self._pieces[:count]

    def _take_refused(self) -> tuple[Refusal, ...]:
        refused, self._refused = tuple(self._refused), []
        return refused
