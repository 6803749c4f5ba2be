"""Look through a pickle before it is loaded, and refuse all that is no plain data.

A pickle is a program. Plain data needs only operations that make numbers, texts,
lists, tuples and mappings. Whatever imports, calls, or asks another for an object is
refused by name, and so are lengths and positions that a short file cannot mean, which
would make the loader reserve memory for them.
"""

import pickletools
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

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

_GETS: Final = frozenset({"BINGET", "LONG_BINGET"})
_PUTS: Final = frozenset({"BINPUT", "LONG_BINPUT"})
_TEXTS: Final = frozenset({"UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"})
_TUPLES: Final = frozenset({"EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"})
_IMPORTS: Final = frozenset({"GLOBAL", "INST"})
_EXTENSIONS: Final = frozenset({"EXT1", "EXT2", "EXT4"})
_PERSISTENT: Final = frozenset({"PERSID", "BINPERSID"})

#: Greatest whole number that is loaded: any of 64 bits. [bit]
_MOST_BITS: Final = 64

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
        self._count = 0
        self._memo: dict[int, str] = {}
        self._texts: list[str] = []
        self._last = ""
        self._judges: dict[str, Callable[[object], str]] = {
            **dict.fromkeys(_GETS, self._judge_get),
            **dict.fromkeys(_PUTS, self._judge_put),
            "MEMOIZE": lambda _: self._judge_put(len(self._memo)),
            "LONG1": _judge_integer,
        }

    def judge(self, name: str, argument: object, position: int) -> Fault | None:
        """Return what is wrong with an operation, and remember it."""
        self._count += 1
        if name not in PLAIN:
            self._see_text(name, argument)
            return self._unwanted(name, argument, position)
        wrong = self._judges[name](argument) if name in self._judges else ""
        if wrong:
            return Fault(OPCODE, position, f"refused {name}: {wrong}")
        self._see_text(name, argument)
        if name not in _GETS | _PUTS | {"MEMOIZE"}:
            self._last = name
        self.end = position + 1
        return None

    def _unwanted(self, name: str, argument: object, position: int) -> Fault | None:
        if name in _IMPORTS:
            return _named(str(argument).replace(" ", "."), position)
        if name == "STACK_GLOBAL":
            return _named(".".join(self._texts[-2:]) or "without a name", position)
        if name in _EXTENSIONS:
            return _named(f"of extension code {argument}", position)
        if name in _PERSISTENT:
            hint = f"refused persistent id {argument or ''}".strip()
            return Fault(GLOBAL, position, hint[:_NAME_CHARACTERS])
        return Fault(OPCODE, position, f"refused {name}: no part of plain data")

    def _see_text(self, name: str, argument: object) -> None:
        text = self._memo.get(argument) if isinstance(argument, int) else None
        if name in _GETS and text and text.startswith("="):
            self._texts.append(text[1:])
        elif name in _TEXTS:
            self._texts.append(str(argument)[:_NAME_CHARACTERS])
        del self._texts[:-2]

    def _judge_get(self, argument: object) -> str:
        if not isinstance(argument, int) or argument not in self._memo:
            return f"nothing was put at {argument}"
        # a tuple of the same tuple twice, and so on, is a key that takes for ever
        return "a tuple used twice" if self._memo[argument] in _TUPLES else ""

    def _judge_put(self, argument: object) -> str:
        if not isinstance(argument, int) or argument > self._count:
            return f"position {argument} is beyond {self._count} operations"
        is_text = self._last in _TEXTS and self._texts
        self._memo[argument] = f"={self._texts[-1]}" if is_text else self._last
        return ""


def _judge_integer(argument: object) -> str:
    is_small = isinstance(argument, int) and argument.bit_length() <= _MOST_BITS
    return "" if is_small else f"a number of more than {_MOST_BITS} bits"


def _named(name: str, position: int) -> Fault:
    return Fault(GLOBAL, position, f"refused global {name}"[:_NAME_CHARACTERS])
