"""What nccl-tests print: a table by its header, one size a line."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import polars as pl

from ingest.sources._nccl.tests_rows import Cells, Test

#: What launchers put before a line: `0: ` (srun), `[1,0]<stdout>:` (mpirun).
_PREFIX: Final = r"^(?:[0-9]+:|\[[0-9]+,[0-9]+\]<std\w+>:)?\s*"

#: A line that may matter: a comment of the test, a row, or a command line.
WANTED: Final = rf"{_PREFIX}(?:#|[0-9]+\s+[0-9])|\w_perf\b"

#: The header of a table, wherever it is in a text.
HEADER: Final = re.compile(r"#\s*size\s+(?:\w+\s+)*?(?:cpu)?time\s+algbw\s+busbw\b")

_LEAD: Final = re.compile(_PREFIX)
_RANK: Final = re.compile(
    r"#\s+Rank\s+[0-9]+\s+(?:Group\s+([0-9]+)\s+)?Pid\s+[0-9]+ on\s+(\S+)"
)
_STARTS: Final = re.compile(r"# Collective test starting:\s*(\S+)")
_COMMAND: Final = re.compile(r"(?:^|[\s/])(\w{2,30}_perf)\b")
_BEGINS: Final = re.compile(r"#\s*(?:nThread|nccl-tests version|Using devices)")
_TIME: Final = ("time", "cputime")

#: Rule of a row above which the file has no header.
HEADERLESS: Final = "header|required"

#: A row that no header is above: a size, elements, a type, and numbers.
_LOOKS_LIKE: Final = re.compile(r"[0-9]+\s+[0-9]+\s+[a-z]\w*\s+(?:\S+\s+){3,}")

#: Spaces in place of a half of a row that was not measured.
_BLANK: Final = re.compile(r"\S\s{30,}\S")


class Row(NamedTuple):
    """The cells of a row, or the rule that the line breaks."""

    cells: Cells | None
    rule: str | None
    stamp: str | None


class Layout:
    """Where the cells of a table are, by its header."""

    def __init__(self, names: Sequence[str]) -> None:
        """Take the names of the columns, in order."""
        self._stamped = names[-1] == "timestamp"
        self._names = names[:-1] if self._stamped else names
        self._halves = [n for n, name in enumerate(self._names) if name in _TIME]

    def fits(self, line: str) -> bool:
        """Return whether a line has as many cells as the table."""
        return len(line.split()) == len(self._names) + 2 * self._stamped

    def rows(self, line: str) -> Iterator[Row]:
        """Yield what a line holds: out of place, then in place."""
        tokens = line.split()
        stamp = None
        if self._stamped:
            tokens, stamp = tokens[:-2], " ".join(tokens[-2:])
        halves = self._halves
        if len(tokens) != len(self._names):
            tokens = self._filled(tokens, line)
            halves = halves[1:]
        if not tokens:
            yield Row(None, "cell_count", None)
            return
        for begin in halves:
            if tokens[begin] != "N/A":
                yield Row(self._cells(tokens, begin), None, stamp)

    def _filled(self, tokens: list[str], line: str) -> list[str]:
        """Return the cells of a row whose first half is blank; none for any other."""
        if len(self._halves) != 2 or not _BLANK.search(line):  # noqa: PLR2004
            return []
        first, second = self._halves
        missing = second - first
        if len(tokens) != len(self._names) - missing:
            return []
        return tokens[:first] + ["N/A"] * missing + tokens[first:]

    def _cells(self, tokens: list[str], begin: int) -> Cells:
        common = dict(zip(self._names, tokens[: self._halves[0]], strict=False))
        end = next((n for n in self._halves if n > begin), len(tokens))
        half = dict(zip(self._names[begin:end], tokens[begin:end], strict=True))
        return Cells(
            size=common.get("size", ""),
            dtype=common.get("type"),
            reduction=common.get("redop"),
            root=common.get("root"),
            time=tokens[begin],
            algbw=half.get("algbw", ""),
            busbw=half.get("busbw", ""),
            wrong=half.get("#wrong"),
            in_place=begin != self._halves[0],
        )


class Console:
    """The tests of a file, line by line."""

    def __init__(self) -> None:
        """Start before the first test."""
        self.test = Test()
        self.layout: Layout | None = None
        self.rows_seen = 0
        self._layout_before: Layout | None = None
        self._first_group: str | None = None

    def rows(self, line: str) -> Iterator[Row]:
        """Take a line; yield the rows that are in it."""
        text = line[match.end() :] if (match := _LEAD.match(line)) else line
        if not text[:1].isdigit():
            self._note(text)
        elif self.layout:
            self.rows_seen += 1
            yield from self.layout.rows(text)
        else:
            yield from self._headerless(text)

    def _headerless(self, text: str) -> Iterator[Row]:
        """Take a row whose own header is lost: that of the table before may fit.

        Whether it does the bandwidths say: they must be size over time.
        """
        before = self._layout_before
        if before and before.fits(text):
            yield from before.rows(text)
        elif _LOOKS_LIKE.match(text):
            yield Row(None, HEADERLESS, None)

    def _note(self, text: str) -> None:
        if HEADER.search(text):
            self.layout = Layout(text.lstrip("# ").split())
            return
        if _BEGINS.match(text) or (not text.startswith("#") and self.layout):
            self._begin_again()
        if match := _RANK.match(text):
            self._begin_again()
            self._take_rank(match[1], match[2])
        elif match := _STARTS.match(text) or _COMMAND.search(text):
            self._begin_again()
            self.test.program = match[1]

    def _begin_again(self) -> None:
        """Begin another test, where the one before has its table."""
        if self.layout:
            self._layout_before = self.layout
            self.test, self.layout = Test(self.test.number + 1), None
            self._first_group = None

    def _take_rank(self, group: str | None, host: str) -> None:
        self.test.hosts[host] = None
        if self._first_group is None:
            self._first_group = group or ""
        self.test.ranks += (group or "") == self._first_group


def wanted(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the lines of a frame that may matter."""
    return frame.filter(pl.col("line").str.contains(WANTED))
