"""Where the lines of a file end, a piece of it at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

#: Bytes that are looked at together. [B]
_PIECE: Final = 1 << 20

_LINE_FEED: Final = 10


def pieces_of_ends(path: Path) -> Iterator[npt.NDArray[np.int64]]:
    """Yield where lines end, behind their line feeds, the last one with or without. [B]

    Args:
        path: A file that is not packed.
    """
    place = end = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            found = np.flatnonzero(np.frombuffer(piece, np.uint8) == _LINE_FEED)
            if len(found):
                end = place + int(found[-1]) + 1
                yield found.astype(np.int64) + (place + 1)
            place += len(piece)
    if end < place:
        yield np.array([place], np.int64)


def count_of(path: Path) -> int:
    """Return how many lines a file has. [1]"""
    return sum(len(ends) for ends in pieces_of_ends(path))


def ends_of(path: Path, lines: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where some lines end. [B]

    Args:
        path: A file that is not packed.
        lines: Their numbers from 1, ascending; 0 ends where the file begins.

    Returns:
        Their ends; fewer where the file has fewer lines.
    """
    first = int(np.searchsorted(lines, 1))
    found, seen = [np.zeros(first, np.int64)], 0
    for ends in pieces_of_ends(path):
        last = int(np.searchsorted(lines, seen + len(ends), "right"))
        found.append(ends[lines[first:last] - seen - 1])
        first, seen = last, seen + len(ends)
    return np.concatenate(found)


def cuts_of(path: Path, start: int, least: int) -> Iterator[int]:
    """Yield ends of lines that are some bytes apart, and the end of the file. [B]

    Args:
        path: A file that is not packed.
        start: From where on. [B]
        least: Bytes from one to the next, unless it is the end. [B]
    """
    last = end = start
    for ends in pieces_of_ends(path):
        end, place = int(ends[-1]), 0
        while (place := int(ends.searchsorted(max(last + least, last + 1)))) < len(
            ends
        ):
            last = int(ends[place])
            yield last
    if last < end:
        yield end
