"""JSON documents of power tools, one or many in a file, with numbers as written.

A tool that is called again and again appends documents: arrays or objects over many
lines, or one on each line. A document starts with a bracket at the start of a line, so
that after a damaged one the next is found.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ingest.sources._lines import Block
from ingest.sources._source import RAW_CHARACTERS, Refusal
from ingest.tables import PowerSamples

#: Longest text of one document: that of a node with eight GPUs has 40 kB. [B]
DOCUMENT_BYTES: Final = 16 * 1024 * 1024

_START: Final = re.compile(rb"^[\[{]", re.MULTILINE)
_BLANKS: Final = re.compile(r"\s*")

#: A pair of surrogates, one that is alone (in a group), or any other escape.
_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)

#: A number stays its text, so that none goes through a float; NaN does, too.
_DECODER: Final = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """A document and the line on which it starts.

    Attributes:
        line: The line. [1]
        value: What it says.
        repairs: Repairs that its text needed. [1]
    """

    line: int
    value: object
    repairs: int = 0


class JsonDocuments:
    """Reads documents out of blocks of lines."""

    def __init__(self) -> None:
        """Start before the first document."""
        self._line = 0
        self._text = b""

    def read(self, block: Block) -> Iterator[JsonDocument | Refusal]:
        """Yield the documents that have ended, and what is none."""
        begin, line = 0, block.first
        for match in _START.finditer(block.data):
            end = match.start()
            if self._line:
                self._text += block.data[begin:end]
                yield from self.close()
            line += block.data.count(b"\n", begin, end)
            begin, self._line = end, line
        if self._line:
            self._text += block.data[begin:]
        if len(self._text) > DOCUMENT_BYTES:
            yield self._refusal("too_large", "a document of more than 16 MiB")
            self._line, self._text = 0, b""

    def close(self) -> Iterator[JsonDocument | Refusal]:
        """Yield what was read of the last document."""
        text, repairs = _whole(self._text.decode("utf-8", errors="replace"))
        at = _skip(text, 0)
        line = self._line + text.count("\n", 0, at)
        while at < len(text):
            try:
                value, end = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError) as error:
                yield self._refusal("json", f"not read from here on: {error}")
                break
            yield JsonDocument(line, value, repairs)
            repairs = 0
            end = _skip(text, end)
            line += text.count("\n", at, end)
            at = end
        self._line, self._text = 0, b""

    def _refusal(self, rule: str, hint: str) -> Refusal:
        raw = self._text[: 4 * RAW_CHARACTERS].decode("utf-8", errors="replace")
        place = f"line {self._line}"
        return Refusal(PowerSamples, place, rule, raw[:RAW_CHARACTERS], hint)


def _whole(text: str) -> tuple[str, int]:
    """Replace halves of surrogate pairs, which UTF-8 cannot hold; return how many."""
    if "\\ud" not in text and "\\uD" not in text:
        return text, 0
    alone = sum(match[1] is not None for match in _ESCAPE.finditer(text))
    return _ESCAPE.sub(lambda m: "\\ufffd" if m[1] else m[0], text), alone


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at
