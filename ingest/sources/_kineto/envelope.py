"""What is around the events of a trace: where they begin, and what is told there."""

import re
from itertools import chain
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import Raw

from ingest.sources._kineto.facts import Facts, facts_in, facts_of
from ingest.sources._kineto.losses import Losses
from ingest.sources._kineto.repair import repairs
from ingest.sources._kineto.window import RECORD_BYTES, Window, without_nuls
from ingest.sources._utf8 import is_utf8

#: Key of the events: inside a string, its quotes would be escaped.
_EVENTS_KEY: Final = re.compile(rb'"traceEvents"\s*:\s*\[')

#: Bytes of the key that may be read before its bracket is. [B]
_KEY_BYTES: Final = 256

#: Rules that a refused object breaks, by the decoder's words.
_RULES: Final = MappingProxyType(
    {"truncated": "truncated", "trailing characters": "trailing_data"}
)

_BYTE: Final = re.compile(r"\(byte (\d+)\)")

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_MEMBERS: Final = msgspec.json.Decoder(dict[str, Raw])
_BROKEN: Final = (msgspec.DecodeError, RecursionError)

#: Longest text around the events that is mended. [B]
_MEND_BYTES: Final = 1 << 20


def open_document(window: Window) -> bytes:
    """Go to the first byte that is no white space, and return it."""
    window.fill()
    if window.data.startswith(_BYTE_ORDER_MARK, window.start):
        window.start += len(_BYTE_ORDER_MARK)
    while True:
        text = window.data[window.start : window.end]
        window.start += len(text) - len(text.lstrip())
        if window.unread() or window.ended:
            return bytes(window.data[window.start : min(window.end, window.start + 1)])
        window.fill()


def find_events(window: Window, losses: Losses) -> tuple[Facts, bool]:
    """Go behind the bracket that opens the events of an object.

    Returns:
        What is told before the events, and whether there are any; where there are
        not, the object is read to its end.
    """
    searched = 0
    while True:
        low = window.start + max(0, searched - _KEY_BYTES)
        for match in _EVENTS_KEY.finditer(window.data, low, window.end):
            head = bytes(window.data[window.start : match.start()]) + b'"":0}'
            facts, fault = _facts(head, losses)
            if fault != "truncated":
                window.start = match.end()
                return facts, True
        if window.ended or window.unread() > RECORD_BYTES:
            return _read_object(window, losses, b""), False
        searched = window.unread()
        window.fill()


def read_tail(window: Window, losses: Losses, *, in_object: bool) -> Facts:
    """Read what stands behind the events, to the end of the file."""
    while not window.ended and window.unread() <= RECORD_BYTES:
        window.fill()
    return _read_object(window, losses, b'{"":0' if in_object else b"{}")


def _read_object(window: Window, losses: Losses, opening: bytes) -> Facts:
    """Read the facts of an object from the unread bytes, behind an opening."""
    rest = bytes(window.data[window.start : window.end])
    if window.ended:
        rest, nuls = without_nuls(rest)
        losses.repairs += nuls
    text = opening + rest
    place = f"byte {window.offset(window.start)}"
    facts, fault = _facts(text, losses)
    if fault == "trailing_data":
        end = _end_of_object(text)
        place = f"byte {window.offset(window.start) + end - len(opening)}"
        facts, text = _facts(text[:end], losses)[0], text[end:]
    if fault:
        losses.refuse(fault, place, text.removeprefix(opening))
    return facts


def _end_of_object(text: bytes) -> int:
    """Return where an object ends that other text follows."""
    try:
        _MEMBERS.decode(text)
    except _BROKEN as error:
        if byte := _BYTE.search(str(error)):
            return text.rindex(b"}", 0, int(byte[1]) - 1) + 1
    return len(text)


def _facts(text: bytes, losses: Losses) -> tuple[Facts, str | None]:
    """Read the facts of an object; say what is wrong with it where it is broken."""
    mended = repairs(text) if len(text) <= _MEND_BYTES else ()
    fault = None
    for number, attempt in enumerate(chain((text,), mended)):
        try:
            facts = facts_of(_MEMBERS.decode(attempt))
        except _BROKEN as error:
            fault = fault or _name(error)
            if fault != "malformed":
                break
        else:
            losses.repairs += number > 0 or not is_utf8(text)
            return facts, None
    return facts_in(text), fault


def _name(error: Exception) -> str:
    for words, rule in _RULES.items():
        if words in str(error):
            return rule
    return "malformed"
