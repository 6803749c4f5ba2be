"""What a pickle of plain data has on its stack, by kind, without making any of it."""

from typing import Final

#: Operations that put one value on the stack, and its kind.
_PUSHES: Final = {
    **dict.fromkeys(("NONE", "NEWTRUE", "NEWFALSE", "BINFLOAT"), "constant"),
    **dict.fromkeys(("BININT", "BININT1", "BININT2", "LONG1"), "number"),
    "EMPTY_LIST": "list",
    "EMPTY_DICT": "mapping",
    "EMPTY_TUPLE": "tuple",
}

_TEXTS: Final = frozenset({"UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"})
_GETS: Final = frozenset({"BINGET", "LONG_BINGET"})
_PUTS: Final = frozenset({"BINPUT", "LONG_BINPUT"})
_TUPLES: Final = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}

#: Operations that take what there is since the last mark.
_GATHERS: Final = frozenset({"TUPLE", "APPENDS", "SETITEMS"})

#: Characters of a text that are kept, to name what a pickle asks for.
_TEXT_CHARACTERS: Final = 200

#: Greatest whole number that is loaded: any of 64 bits. [bit]
_MOST_BITS: Final = 64


class Stack:
    """The stack and the memo of a pickle. A text is kept behind an equals sign."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._items: list[str] = []
        self._marks: list[int] = []
        self._memo: dict[int, str] = {}
        self._count = 0

    def name(self) -> str:
        """Return the last two texts as a name with a dot; empty without any."""
        texts = [item[1:] for item in self._items if item.startswith("=")]
        return ".".join(texts[-2:])

    def do(self, operation: str, argument: object) -> str:
        """Do an operation; return what is wrong with it, empty if nothing is."""
        self._count += 1
        if operation in _TEXTS:
            self._items.append(f"={str(argument)[:_TEXT_CHARACTERS]}")
        elif kind := _PUSHES.get(operation):
            self._items.append(kind)
            return _judge_number(argument) if operation == "LONG1" else ""
        elif operation == "MARK":
            self._marks.append(len(self._items))
        elif operation in _GETS:
            return self._get(argument)
        elif operation in _PUTS:
            return self._put(argument)
        elif operation == "MEMOIZE":
            return self._put(len(self._memo))
        else:
            return self._take(operation)
        return ""

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

    def _take(self, operation: str) -> str:
        """Do an operation that takes values from the stack."""
        if operation in _GATHERS:
            begin = self._marks.pop() if self._marks else len(self._items)
        elif operation in _TUPLES:
            begin = max(0, len(self._items) - _TUPLES[operation])
        else:
            taken = {"APPEND": 1, "SETITEM": 2}.get(operation, 0)
            begin = max(0, len(self._items) - taken)
        values = self._items[begin:]
        del self._items[begin:]
        if operation.startswith("TUPLE"):
            self._items.append("tuple")
        if operation.startswith("SETITEM"):
            return _judge_keys(values[::2])
        return ""


def _judge_keys(keys: list[str]) -> str:
    """Refuse keys that are no texts: to hash a nest of tuples may take for ever."""
    other = next((key for key in keys if not key.startswith("=")), None)
    return f"a key that is a {other}" if other is not None else ""


def _judge_number(number: object) -> str:
    is_small = isinstance(number, int) and number.bit_length() <= _MOST_BITS
    return "" if is_small else f"a number of more than {_MOST_BITS} bits"
