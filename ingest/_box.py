"""Bounds of the keys of parts: parts whose bounds do not meet share no key."""

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Self

import polars as pl

from ingest.manifest import Part


@dataclass(frozen=True, slots=True)
class Box:
    """Least and greatest value of each column of a key; null is less than any.

    Attributes:
        least: Least value by column.
        greatest: Greatest value by column.
        first: Least key, where it is known.
        last: Greatest key, where it is known.
    """

    least: dict[str, Any]
    greatest: dict[str, Any]
    first: tuple[tuple[str, Any], ...] | None = None
    last: tuple[tuple[str, Any], ...] | None = None

    @classmethod
    def of(cls, part: Part) -> Self:
        """Return the bounds that the manifest keeps for a part."""
        first, last = _key(part.key_first), _key(part.key_last)
        return cls(json.loads(part.key_min), json.loads(part.key_max), first, last)

    @classmethod
    def around(cls, parts: Iterable[Part]) -> Self:
        """Return bounds that hold the keys of all parts, where they know them."""
        boxes = [cls.of(part) for part in parts]
        shared = set[str].intersection(*(set(box.least) for box in boxes))
        return cls(
            {n: min((b.least[n] for b in boxes), key=_order) for n in shared},
            {n: max((b.greatest[n] for b in boxes), key=_order) for n in shared},
        )

    def meets(self, other: Self) -> bool:
        """Whether a key could be within both."""
        if self.precedes(other) or other.precedes(self):
            return False
        return all(
            _order(self.least[name]) <= _order(other.greatest[name])
            and _order(other.least[name]) <= _order(self.greatest[name])
            for name in self.least.keys() & other.least.keys()
        )

    def precedes(self, other: Self) -> bool:
        """Whether each of its keys is known to be less than any of another's."""
        if self.last is None or other.first is None:
            return False
        return self.last < other.first

    def holds(self) -> pl.Expr:
        """Whether the key of a row is within."""
        inside = [pl.lit(value=True)]
        for name, least in self.least.items():
            column, greatest = pl.col(name), self.greatest[name]
            is_null = column.is_null() if least is None else pl.lit(value=False)
            low = [] if least is None else [column >= least]
            high = [pl.lit(value=False)] if greatest is None else [column <= greatest]
            inside.append(is_null | pl.all_horizontal(*low, *high))
        return pl.all_horizontal(inside)


def _key(values: str | None) -> tuple[tuple[str, Any], ...] | None:
    return None if values is None else tuple(map(_order, json.loads(values)))


def _order(value: Any) -> tuple[str, Any]:
    """Order null before all; values of several types have any order but one."""
    return ("", 0) if value is None else (type(value).__name__, value)


class _Boxes:
    """Boxes of parts, in the order of the column of the key that tells most apart.

    Where parts follow each other in it, as those of days do, a box is compared with its
    neighbours and not with all.
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        boxes = [(part.path, Box.of(part)) for part in parts]
        self._column = _telling([box for _, box in boxes])
        placed = [one for one in boxes if self._column in one[1].least]
        self._anywhere = [one for one in boxes if self._column not in one[1].least]
        self._placed = sorted(placed, key=lambda one: self._begin(one[1]))
        self._begins = [self._begin(box) for _, box in self._placed]
        ends = (self._end(box) for _, box in self._placed)
        self._reach = list(accumulate(ends, max))

    def meet(self, part: Part) -> bool:
        """Whether the box of another part meets that of a part."""
        box = Box.of(part)
        return any(
            path != part.path and box.meets(other) for path, other in self._near(box)
        )

    def _near(self, box: Box) -> Iterator[tuple[str, Box]]:
        yield from self._anywhere
        if self._column not in box.least:
            yield from self._placed
            return
        begin = self._begin(box)
        for place in reversed(range(bisect_right(self._begins, self._end(box)))):
            if self._reach[place] < begin:
                return
            yield self._placed[place]

    def _begin(self, box: Box) -> tuple[str, Any]:
        return _order(box.least[self._column])

    def _end(self, box: Box) -> tuple[str, Any]:
        return _order(box.greatest[self._column])


def _telling(boxes: Iterable[Box]) -> str:
    """Return the column in which boxes begin in most places; none of no boxes."""
    begins: dict[str, set[tuple[str, Any]]] = {}
    for box in boxes:
        for name, least in box.least.items():
            begins.setdefault(name, set()).add(_order(least))
    return max(begins, key=lambda name: len(begins[name]), default="")


def meeting(parts: Iterable[Part], others: Iterable[Part]) -> list[Part]:
    """Return those of the parts that may share a key with any of the others."""
    boxes = _Boxes(others)
    return [part for part in parts if boxes.meet(part)]
