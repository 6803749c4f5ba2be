"""The XML documents of a file one after the other, as `nvidia-smi -q -x -l` writes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ingest.sources._lines import Block
from ingest.sources._power.smi_document import BrokenDocumentError, Document, Gpu
from ingest.sources._source import RAW_CHARACTERS, Refusal
from ingest.tables import PowerSamples

#: Where a document can start; inside of one `<` is always part of a tag.
_START: Final = re.compile(rb"<\?xml\b|<!DOCTYPE\s+nvidia_smi_log\b|<nvidia_smi_log\b")

_HINTS: Final = {
    "truncated": "the document ends before its last element: nvidia-smi was stopped",
    "xml": "no well-formed XML from here to the next document",
    "xml_entity": "nvidia-smi declares no entities, and none is expanded",
    "too_large": "more elements in each other, or more GPUs, than a node can have",
}


@dataclass(slots=True)
class Found:
    """What a piece of a file holds."""

    gpus: list[Gpu] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


class Documents:
    """Reads documents out of blocks of lines."""

    def __init__(self) -> None:
        """Start before the first document."""
        self._open: Document | None = None
        self._is_given_up = False

    def read(self, block: Block) -> Found:
        """Read the next lines."""
        found = Found()
        for line, text in _pieces(block):
            start = _START.match(text)
            if start and self._begins(start[0]):
                self._close(found)
                self._open, self._is_given_up = Document(line), False
            if self._open:
                self._feed(self._open, text, line, found)
        return found

    def close(self) -> Found:
        """Return what the end of the file leaves unfinished."""
        found = Found()
        self._close(found)
        return found

    def _begins(self, start: bytes) -> bool:
        """Return whether a document begins here, not just goes on after its prolog."""
        if self._is_given_up and start != b"<?xml":
            # the root of a document whose prolog was refused
            self._is_given_up = start.startswith(b"<!")
            return False
        return start == b"<?xml" or self._open is None or self._open.has_root

    def _close(self, found: Found) -> None:
        if self._open:
            self._feed(self._open, b"", self._open.at(), found, is_last=True)
        self._open = None

    def _feed(
        self,
        document: Document,
        text: bytes,
        line: int,
        found: Found,
        *,
        is_last: bool = False,
    ) -> None:
        try:
            document.feed(text, is_last=is_last)
        except BrokenDocumentError as error:
            self._open, self._is_given_up = None, not document.has_root
            found.refused.append(_refusal(str(error), document, text, line))
        found.gpus += document.take()


def _pieces(block: Block) -> Iterator[tuple[int, bytes]]:
    """Cut lines where a document can start; yield each piece with its first line."""
    line, begin = block.first, 0
    starts = [match.start() for match in _START.finditer(block.data)]
    for end in [*starts, len(block.data)]:
        if end > begin:
            yield line, block.data[begin:end]
        line, begin = line + block.data.count(b"\n", begin, end), end


def _refusal(rule: str, document: Document, text: bytes, line: int) -> Refusal:
    """Refuse what a document does not say any more; what it has finished stays."""
    place, raw = document.at(), b""
    if document.open:
        cells = document.open.cells.items()
        place, raw = document.open.line, repr(dict(cells)).encode()
    elif text:
        raw = b"".join(text.split(b"\n")[place - line :][:1])
    shown = raw[: 4 * RAW_CHARACTERS].decode("utf-8", errors="replace")
    return Refusal(
        PowerSamples, f"line {place}", rule, shown[:RAW_CHARACTERS], _HINTS[rule]
    )
