"""Groups by the numbers that a rank gave them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from ingest.sources._flight.document import Document
from ingest.sources._flight.groups import Group, name_of
from ingest.sources._flight.values import integer_of

#: Digits of the name of a group that is a number. [1]
_DIGITS: Final = 9

_Pair = tuple[int, int]


def numbered(document: Document, groups: Mapping[str, Group]) -> dict[int, Group]:
    """Return groups by number, where that is known.

    Entries tell both the number and the name of a group. A rank numbers its groups in
    the order in which it makes them, and PyTorch names groups by counting all that any
    rank makes: so both are in one order. A group without an entry is known where as
    many numbers as names are left between those with one.

    Args:
        document: The dump.
        groups: Its groups by name.
    """
    told = _told(document, groups)
    numbers = {integer_of(key) for key in document.statuses}
    every = sorted({n for n in numbers if n is not None} | told.keys())
    names = sorted(int(name) for name in groups if _is_number(name))
    known = sorted(
        (n, int(group.name)) for n, group in told.items() if _is_number(group.name)
    )
    ordered = [name for _, name in known] == sorted({name for _, name in known})
    if len(names) == len(groups) and ordered:
        found = dict(_between(every, names, known))
        return told | {n: groups[str(name)] for n, name in found.items()}
    return told | _last_left(every, told, groups)


def _told(document: Document, groups: Mapping[str, Group]) -> dict[int, Group]:
    told: dict[int, Group] = {}
    for entry in document.entries:
        number = integer_of(entry.get("pg_id")) if isinstance(entry, dict) else None
        name = name_of(entry)[0]
        if number is not None and name is not None and name in groups:
            told[number] = groups[name]
    return told


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and str(int(name[:_DIGITS])) == name


def _between(
    numbers: list[int], names: list[int], known: list[_Pair]
) -> Iterator[_Pair]:
    """Yield numbers with their names, where as many of both are between two known."""
    least, most = (-1, -1), (max(numbers, default=0) + 1, max(names, default=0) + 1)
    bounds = [least, *known, most]
    for (low, first), (high, last) in pairwise(bounds):
        left = numbers[bisect_right(numbers, low) : bisect_left(numbers, high)]
        free = names[bisect_right(names, first) : bisect_left(names, last)]
        if len(left) == len(free):
            yield from zip(left, free, strict=True)


def _last_left(
    numbers: list[int], told: Mapping[int, Group], groups: Mapping[str, Group]
) -> dict[int, Group]:
    """Return the only number without a group, with the only group without one."""
    left = [number for number in numbers if number not in told]
    seen = {group.name for group in told.values()}
    unseen = [group for name, group in groups.items() if name not in seen]
    return {left[0]: unseen[0]} if len(left) == len(unseen) == 1 else {}
