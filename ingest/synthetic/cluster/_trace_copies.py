"""A longer trace: the events of a short one, several times one after the other."""

import json
import re
from collections.abc import Iterator
from typing import Final

#: Numbers that tell one copy of the events from the next.
_NUMBER: Final = re.compile(
    rb'"(ts|correlation|External id|id)"\s*:\s*(\d+)|ProfilerStep#(\d+)'
)

#: Time between two copies. [us]
GAP_US: Final = 1_000

_FIRST: Final = re.compile(rb'"traceEvents"\s*:\s*\[')


class NoTraceError(ValueError):
    """A text that is no trace with events."""

    def __init__(self) -> None:
        """Say what a trace has."""
        super().__init__("a trace has an array traceEvents of complete events")


def repeated(text: bytes, size: int) -> bytes:
    """Return a trace whose events come as often as comes nearest to a size. [B]

    Each copy comes after the last, with steps, correlations and ids of its own.

    Raises:
        NoTraceError: If the trace has no array of events.
    """
    first, last = _events(text)
    pieces, tail = _pieces(text[first:last])
    copies = max(1, round(size / len(text)))
    shifts = _shifts(pieces)
    events = b",".join(_copy(pieces, tail, shifts, n) for n in range(copies))
    return text[:first] + events + text[last:]


def _events(text: bytes) -> tuple[int, int]:
    """Return where the events begin and end."""
    first = _FIRST.search(text)
    if first is None:
        raise NoTraceError
    # as Latin-1 a character is a byte: positions stay
    whole = text.decode("latin-1")
    _, end = json.JSONDecoder(strict=False).raw_decode(whole, first.end() - 1)
    events = text[first.end() : end - 1].rstrip().rstrip(b",")
    return first.end(), first.end() + len(events)


def _pieces(text: bytes) -> tuple[list[tuple[bytes, bytes, int]], bytes]:
    """Return what is before each number, its key and value; and what is behind all."""
    pieces: list[tuple[bytes, bytes, int]] = []
    done = 0
    for match in _NUMBER.finditer(text):
        group = 2 if match[1] else 3
        key, value = match[1] or b"step", int(match[group])
        pieces.append((text[done : match.start(group)], key, value))
        done = match.end()
    return pieces, text[done:]


def _shifts(pieces: list[tuple[bytes, bytes, int]]) -> dict[bytes, int]:
    """Return how far each kind of number moves from copy to copy."""
    values: dict[bytes, list[int]] = {}
    for _, key, value in pieces:
        if key != b"ts" or value:
            values.setdefault(key, []).append(value)
    spans = {key: max(found) - min(found) + 1 for key, found in values.items()}
    return spans | {b"ts": spans.get(b"ts", 0) + GAP_US}


def _copy(
    pieces: list[tuple[bytes, bytes, int]],
    tail: bytes,
    shifts: dict[bytes, int],
    number: int,
) -> bytes:
    """Return one copy of the events."""

    def words() -> Iterator[bytes]:
        for before, key, value in pieces:
            yield before
            yield b"%d" % (value + number * shifts.get(key, 0))
        yield tail

    return b"".join(words())
