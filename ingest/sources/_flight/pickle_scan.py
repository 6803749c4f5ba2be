"""Look through a pickle before it is loaded, and refuse all that is no plain data.

A pickle is a program. Plain data needs only operations that make numbers, texts,
lists, tuples and mappings. Whatever imports, calls, or asks another for an object is
refused by name, and so are lengths and positions that a short file cannot mean, which
would make the loader reserve memory for them.
"""

import pickletools
from collections.abc import Iterator
from typing import Final, NamedTuple

from ingest.sources._flight.pickle_stack import Stack

#: Operations of plain data. Those of protocol 2, as PyTorch's writer uses them, and
#: those that Python's own writer adds to the same data up to protocol 5.
PLAIN: Final = frozenset(
    {
        *("PROTO", "STOP", "MARK", "FRAME"),
        *("BINGET", "LONG_BINGET", "BINPUT", "LONG_BINPUT", "MEMOIZE"),
        *("NONE", "NEWTRUE", "NEWFALSE", "BINFLOAT"),
        *("BININT", "BININT1", "BININT2", "LONG1"),
        *("BINUNICODE", "SHORT_BINUNICODE"),
        *("EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_DICT", "SETITEM", "SETITEMS"),
        *("EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"),
    }
)

_IMPORTS: Final = frozenset({"GLOBAL", "INST"})
_EXTENSIONS: Final = frozenset({"EXT1", "EXT2", "EXT4"})
_PERSISTENT: Final = frozenset({"PERSID", "BINPERSID"})

#: Characters of a name in a refusal.
_NAME_CHARACTERS: Final = 200


class Fault(NamedTuple):
    """Why a pickle is not loaded: the rule, the byte, and it in words."""

    rule: str
    position: int
    hint: str


GLOBAL: Final = "pickle_global"
OPCODE: Final = "pickle_opcode"
CUT: Final = "truncated"
BROKEN: Final = "pickle"


def scan(data: bytes) -> Fault | int:
    """Return the first fault of a pickle, or where it ends. [B]

    A global that follows an operation which plain data does not need goes before it:
    it is what the pickle is for.
    """
    state, first = _State(), None
    for name, argument, position in _operations(data):
        if name is None:
            return first or _broken(data, position, argument)
        fault = state.judge(name, argument, position)
        if fault and fault.rule == GLOBAL:
            return fault
        first = first or fault
    return first or state.end


def _operations(data: bytes) -> Iterator[tuple[str | None, object, int]]:
    """Yield operations; one without a name, whose argument says why, at a fault."""
    position = 0
    try:
        for code, argument, at in pickletools.genops(data):
            position = at or 0
            yield code.name, argument, position
    except (ValueError, IndexError, OverflowError, TypeError) as error:
        yield None, str(error), position


def _broken(data: bytes, position: int, reason: object) -> Fault:
    text = str(reason)[:_NAME_CHARACTERS]
    at = f"after byte {position} of {len(data)}"
    if any(word in text for word in ("exhausted", "not enough", "expected", "newline")):
        return Fault(CUT, position, f"the pickle ends in the middle, {at}")
    return Fault(BROKEN, position, f"no pickle {at}: {text}")


class _State:
    """What is known of the operations so far."""

    def __init__(self) -> None:
        """Start before the first operation."""
        self.end = 0
        self._stack = Stack()

    def judge(self, name: str, argument: object, position: int) -> Fault | None:
        """Return what is wrong with an operation, and remember it."""
        if name not in PLAIN:
            return self._unwanted(name, argument, position)
        if wrong := self._stack.do(name, argument):
            return Fault(OPCODE, position, f"refused {name}: {wrong}")
        self.end = position + 1
        return None

    def _unwanted(self, name: str, argument: object, position: int) -> Fault:
        if name in _IMPORTS:
            return _named(str(argument).replace(" ", "."), position)
        if name == "STACK_GLOBAL":
            return _named(self._stack.name() or "without a name", position)
        if name in _EXTENSIONS:
            return _named(f"of extension code {argument}", position)
        if name in _PERSISTENT:
            hint = f"refused persistent id {argument or ''}".strip()
            return Fault(GLOBAL, position, hint[:_NAME_CHARACTERS])
        # a text may be a part of the name of an import that follows
        self._stack.do(name, argument)
        return Fault(OPCODE, position, f"refused {name}: no part of plain data")


def _named(name: str, position: int) -> Fault:
    return Fault(GLOBAL, position, f"refused global {name}"[:_NAME_CHARACTERS])
