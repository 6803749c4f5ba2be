"""Walk through a trace's file and hand out its events, a block at a time.

A block is cut where a comma stands between `}` and `{`, and the decoder says whether
that was between two events: where it was inside one, the cut moves. Only where the
text is no JSON is it mended, event by event, and what stays broken is refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

import msgspec

from ingest.sources._kineto.events import Event, count_broken, decode_events
from ingest.sources._kineto.losses import RAW_BYTES, Losses
from ingest.sources._kineto.repair import repairs
from ingest.sources._kineto.window import RECORD_BYTES, Window, deep_place, without_nuls

#: Ends that are tried for a broken record: what is nested in it looks like an end too.
_ENDS: Final = 8

#: Refused records after which only the first end is tried: the file is beyond help,
#: and all of its records might be like that.
_PATIENCE: Final = 256

#: Cuts that are tried before a fault: a list of objects in a record looks like some.
_CUTS: Final = 64

#: Longest broken record that is mended rather than refused. [B]
_MEND_BYTES: Final = 1 << 20

_BYTE: Final = re.compile(r"\(byte (\d+)\)")

_BROKEN: Final = (msgspec.DecodeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Block:
    """Some events, and the JSON array that they were decoded from."""

    events: list[Event]
    text: bytes | memoryview


class Blocks:
    """The events of a trace.

    Attributes:
        closed: Whether the end of all events was seen.
    """

    def __init__(self, window: Window, losses: Losses, *, in_object: bool) -> None:
        """Begin behind the bracket that opens the events, which an object may hold."""
        self._window = window
        self._losses = losses
        self._in_object = in_object
        self._refusals = 0
        self.closed = False

    def __iter__(self) -> Iterator[Block]:
        """Yield all events. A block is void once the next one is asked for."""
        window = self._window
        while not self.closed and not window.ended:
            window.fill()
            stop = window.last_comma(window.start, window.end)
            yield from self._decode(window.end if window.ended else stop)
            if not self.closed and window.unread() > RECORD_BYTES:
                self._refuse("record_too_long", window.end)
        if not self.closed:
            yield from self._rest()

    def _decode(self, stop: int) -> Iterator[Block]:
        """Decode the events before a place, or as many as surely end before it."""
        window = self._window
        while window.start < stop and not self.closed:
            try:
                block = self._array(stop)
            except _BROKEN as error:
                fault = self._fault(error, stop)
                is_over = "trailing characters" in str(error)
            else:
                window.start = min(stop + 1, window.end)
                yield block
                return
            close = window.closes_at(fault - 1) if is_over else -1
            if close >= 0:
                yield self._array(close)
                window.start, self.closed = close + 1, True
                return
            yield from self._sound_before(fault)
            if fault >= stop and not window.ended:
                return
            ends = self._ends()
            if not ends:
                return
            yield from self._mend(ends)

    def _ends(self) -> list[int]:
        """Return where the next record may end, as far as it can be told."""
        window = self._window
        most = _ENDS if self._refusals < _PATIENCE else 1
        ends = window.record_ends(most)
        if not ends and (window.ended or window.unread() > _MEND_BYTES):
            return window.record_ends(most, loose=True)
        return ends

    def _array(self, stop: int) -> Block:
        """Decode the bytes up to a place, which becomes the closing bracket."""
        data, start = self._window.data, self._window.start
        after = data[stop]
        data[start - 1], data[stop] = b"[]"
        text = memoryview(data)[start - 1 : stop + 1]
        try:
            block = Block(decode_events(text), text)
        except _BROKEN:
            data[stop] = after
            raise
        self._losses.repairs += count_broken(text)
        return block

    def _fault(self, error: Exception, stop: int) -> int:
        """Return the place of what an error is about."""
        data, start = self._window.data, self._window.start
        if byte := _BYTE.search(str(error)):
            return start - 1 + int(byte[1])
        if isinstance(error, RecursionError):
            return deep_place(data, start, stop)
        try:
            data[start:stop].decode()
        except UnicodeDecodeError as bad:
            return start + bad.start
        return stop

    def _sound_before(self, fault: int) -> Iterator[Block]:
        """Decode the events before the one that a fault is in."""
        window = self._window
        comma = fault
        for _ in range(_CUTS):
            comma = window.last_comma(window.start, comma)
            if comma < 0:
                return
            try:
                block = self._array(comma)
            except _BROKEN:
                continue
            window.start = comma + 1
            yield block
            return

    def _mend(self, ends: list[int]) -> Iterator[Block]:
        """Decode a record that may be broken and may end at any of some places."""
        window = self._window
        for end in ends:
            if block := self._mended(bytes(window.data[window.start : end])):
                self._losses.repairs += window.skip_to(end)
                yield block
                return
        self._refuse("malformed", ends[0])
        self._losses.repairs += window.skip_to(ends[0])

    def _mended(self, record: bytes) -> Block | None:
        """Decode a record, mended where it must be."""
        if len(record) > _MEND_BYTES:
            return None
        for number, text in enumerate(chain((record,), repairs(record))):
            array = b"[" + text + b"]"
            try:
                events = decode_events(array)
            except _BROKEN:
                continue
            self._losses.repairs += number > 0 or count_broken(array)
            return Block(events, array)
        return None

    def _rest(self) -> Iterator[Block]:
        """Decode what a file ends with that does not end where it should."""
        window = self._window
        rest, nuls = without_nuls(bytes(window.data[window.start : window.end]))
        self._losses.repairs += nuls
        rest = rest.strip(b" \t\r\n,")
        block = self._mended(rest) if rest else None
        if block:
            yield block
        if self._in_object or (rest and not block):
            self._refuse("truncated", window.end)

    def _refuse(self, rule: str, end: int) -> None:
        window = self._window
        self._refusals += 1
        raw = bytes(window.data[window.start : min(end, window.start + RAW_BYTES)])
        self._losses.refuse(rule, f"byte {window.offset(window.start)}", raw)
        window.start = end
