"""What a pickle of plain data has on its stack, by kind, without making any of it."""

from collections.abc import Callable
from functools import partial
from typing import Final

#: Operations that put one value on the stack, and its kind.
_PUSHES: Final = {
    **dict.fromkeys(("NONE", "NEWTRUE", "NEWFALSE", "BINFLOAT"), "constant"),
    **dict.fromkeys(("BININT", "BININT1", "BININT2"), "number"),
    "EMPTY_LIST": "list",
    "EMPTY_DICT": "mapping",
    "EMPTY_TUPLE": "tuple",
}

_TEXTS: Final = frozenset({"UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"})
_GETS: Final = frozenset({"BINGET", "LONG_BINGET"})
_PUTS: Final = frozenset({"BINPUT", "LONG_BINPUT"})

#: Operations that take values, and how many: None for all since the last mark.
_TAKES: Final = {
    "TUPLE": None,
    "TUPLE1": 1,
    "TUPLE2": 2,
    "TUPLE3": 3,
    "APPEND": 1,
    "APPENDS": None,
    "SETITEM": 2,
    "SETITEMS": None,
}
_TUPLES: Final = frozenset({"TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"})
_MAPPED: Final = frozenset({"SETITEM", "SETITEMS"})

#: Characters of a text that are kept, to name what a pickle asks for.
_TEXT_CHARACTERS: Final = 200

#: Greatest whole number that is loaded: any of 64 bits. [bit]
_MOST_BITS: Final = 64

#: Does an operation with its argument; returns what is wrong with it.
_Effect = Callable[[object], str]


class Stack:
    """The stack and the memo of a pickle. A text is kept behind an equals sign."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._items: list[str] = []
        self._marks: list[int] = []
        self._memo: dict[int, str] = {}
        self._count = 0
        # a dump has a million operations: each is looked up once
        self._effects: dict[str, _Effect] = {
            **{name: partial(self._push, kind) for name, kind in _PUSHES.items()},
            **dict.fromkeys(_TEXTS, self._push_text),
            **dict.fromkeys(_GETS, self._get),
            **dict.fromkeys(_PUTS, self._put),
            **{name: partial(self._take, name) for name in _TAKES},
            "LONG1": self._push_long,
            "MARK": self._mark,
            "MEMOIZE": self._memoize,
        }

    def name(self) -> str:
        """Return the last two texts as a name with a dot; empty without any."""
        texts = [item[1:] for item in self._items if item.startswith("=")]
        return ".".join(texts[-2:])

    def do(self, operation: str, argument: object) -> str:
        """Do an operation; return what is wrong with it, empty if nothing is."""
        self._count += 1
        effect = self._effects.get(operation)
        return effect(argument) if effect else ""

    def _push(self, kind: str, _: object) -> str:
        self._items.append(kind)
        return ""

    def _push_text(self, text: object) -> str:
        self._items.append(f"={str(text)[:_TEXT_CHARACTERS]}")
        return ""

    def _push_long(self, number: object) -> str:
        self._items.append("number")
        is_small = isinstance(number, int) and number.bit_length() <= _MOST_BITS
        return "" if is_small else f"a number of more than {_MOST_BITS} bits"

    def _mark(self, _: object) -> str:
        self._marks.append(len(self._items))
        return ""

    def _memoize(self, _: object) -> str:
        return self._put(len(self._memo))

    def _get(self, position: object) -> str:
        if not isinstance(position, int) or position not in self._memo:
            return f"nothing was put at {position}"
        self._items.append(self._memo[position])
        return ""

    def _put(self, position: object) -> str:
        if not isinstance(position, int) or position > self._count:
            return f"position {position} is beyond {self._count} operations"
        self._memo[position] = self._items[-1] if self._items else ""
        return ""

    def _take(self, operation: str, _: object) -> str:
        """Do an operation that takes values from the stack."""
        end = len(self._items)
        if (taken := _TAKES[operation]) is not None:
            begin = max(0, end - taken)
        else:
            begin = self._marks.pop() if self._marks else end
        values = self._items[begin:]
        del self._items[begin:]
        if operation in _TUPLES:
            self._items.append("tuple")
        return _judge_keys(values[::2]) if operation in _MAPPED else ""


def _judge_keys(keys: list[str]) -> str:
    """Refuse keys that are no texts: to hash a nest of tuples may take for ever."""
    other = next((key for key in keys if not key.startswith("=")), None)
    return f"a key that is a {other}" if other is not None else ""
