"""Parts that are read together, and which of them go on where others end."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ingest.manifest import Part

#: A key that is ordered as rows are: null is least.
_Key = tuple[tuple[bool, Any], ...]


class Window(NamedTuple):
    """Rows that are read together.

    Attributes:
        group: Value of the cut's group, None where it is null or there is none.
        low: Least value of the cut's column.
        high: Greatest value of it.
        rows: Rows, about. [1]
        parts: Parts that have them, in order of their least value.
        is_whole: Whether the parts have no other rows.
        is_sorted: Whether the parts, read in order, are sorted.
        is_open: Whether rows of its greatest value are in the next window, too.
    """

    group: int | None
    low: Any
    high: Any
    rows: int
    parts: tuple[Part, ...]
    is_whole: bool
    is_sorted: bool
    is_open: bool = False


def chains(pieces: Iterable[Window], *, may_touch: bool) -> Iterator[Window]:
    """Join pieces that overlap; what is left is apart, or only goes on."""
    held: Window | None = None
    for piece in pieces:
        if held and held.group == piece.group and piece.low <= held.high:
            touches = may_touch and held.is_sorted and piece.low == held.high
            if not (touches and _goes_on(held.parts[-1], piece.parts[0])):
                held = _join(held, piece, is_apart=False)
                continue
        if held:
            yield held
        held = piece
    if held:
        yield held


def joined(windows: Iterable[Window], window_rows: int) -> Iterator[Window]:
    """Join windows that are apart, as long as they are short."""
    held: Window | None = None
    for window in windows:
        is_near = held is not None and held.group == window.group
        is_alike = held is not None and held.is_whole and window.is_whole
        if held and is_near and is_alike and held.rows + window.rows <= window_rows:
            held = _join(held, window, is_apart=True)
            continue
        if held:
            yield held
        held = window
    if held:
        yield held


def _join(one: Window, other: Window, *, is_apart: bool) -> Window:
    return Window(
        one.group,
        one.low,
        max(one.high, other.high),
        one.rows + other.rows,
        (*one.parts, *other.parts),
        one.is_whole and other.is_whole,
        is_apart and one.is_sorted and other.is_sorted,
    )


def go_on(window: Window, after: Window | None) -> bool:
    """Tell whether a step begins in a window and ends in the next."""
    is_same = after is not None and after.group == window.group
    return bool(is_same and after and after.low == window.high)


def _goes_on(part: Part, other: Part) -> bool:
    """Tell whether all rows of a part come before those of another, by their key."""
    if part.key_last is None or other.key_first is None:
        return False
    return _key(json.loads(part.key_last)) < _key(json.loads(other.key_first))


def _key(values: Sequence[object]) -> _Key:
    return tuple((value is not None, value) for value in values)
