"""Documents of JSON that follow each other in a file, one line or many each.

Tools append a document for each poll or event, printed over lines or compact. Those
that are printed over lines begin with a brace at the start of a line, and end so.

The other walkers (_json_elements, _json_split) count brackets: a document that was cut
would swallow the next one that a monitor appended. Here a line that begins one ends
what came before it, and places are lines.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

import msgspec

from ingest.sources._lines import TOO_LONG, Block, blocks
from ingest.sources._source import RAW_CHARACTERS

#: Largest document that is read; one of 16,384 ranks in ten groups each takes 90 MB
#: over lines. [B]
MOST_BYTES: Final = 256 * 1024 * 1024

#: Rule of a document whose end is missing.
CUT: Final = "truncated"


class Document(NamedTuple):
    """A document, or the rule that it breaks."""

    place: str
    value: dict[str, object] | None
    rule: str | None
    raw: str


class Repairs(NamedTuple):
    """Lines of a block that had to be mended to be text. [1]"""

    lines: int


def documents(stream: BinaryIO) -> Iterator[Document | Repairs]:
    """Yield the documents of a stream, and after each block what it had mended."""
    held: list[bytes] = []
    first = size = 0
    for block in blocks(stream):
        for number, line in _lines(block):
            if held and line.startswith(b"{"):
                yield _document(first, held, cut=True)
                held = []
            if not held:
                first, size = number, 0
            held.append(line)
            size += len(line)
            if _is_whole(held, line) or size > MOST_BYTES:
                yield _document(first, held, cut=False)
                held = []
        if block.repairs:
            yield Repairs(block.repairs)
    if held:
        yield _document(first, held, cut=True)


def _lines(block: Block) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(block.data.split(b"\n"), block.first):
        if line.strip():
            yield number, line.rstrip()


def _is_whole(held: list[bytes], line: bytes) -> bool:
    """Return whether a line ends what is held: a brace at its start, or all of it."""
    if line == b"}" or not held[0].startswith(b"{"):
        return True
    return len(held) == 1 and line.endswith(b"}")


def _document(first: int, held: list[bytes], *, cut: bool) -> Document:
    place = f"line {first}"
    data = b"\n".join(held)
    raw = data[: 4 * RAW_CHARACTERS].decode("utf-8", errors="replace")[:RAW_CHARACTERS]
    try:
        value = msgspec.json.decode(data, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        too_long = len(data) > MOST_BYTES
        rule = TOO_LONG if too_long else CUT if cut else "json"
        return Document(place, None, rule, raw)
    return Document(place, value, None, raw)
