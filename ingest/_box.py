"""Bounds of the keys of parts: parts whose bounds do not meet share no key."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import polars as pl

from ingest.manifest import Part


@dataclass(frozen=True, slots=True)
class Box:
    """Least and greatest value of each column of a key; null is less than any."""

    least: dict[str, Any]
    greatest: dict[str, Any]

    @classmethod
    def of(cls, part: Part) -> Self:
        """Return the bounds that the manifest keeps for a part."""
        return cls(json.loads(part.key_min), json.loads(part.key_max))

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
        return all(
            _order(self.least[name]) <= _order(other.greatest[name])
            and _order(other.least[name]) <= _order(self.greatest[name])
            for name in self.least.keys() & other.least.keys()
        )

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


def _order(value: Any) -> tuple[str, Any]:
    """Order null before all; values of several types have any order but one."""
    return ("", 0) if value is None else (type(value).__name__, value)


def meeting(parts: Iterable[Part], others: Iterable[Part]) -> list[Part]:
    """Return those of the parts that may share a key with any of the others."""
    boxes = [(other.path, Box.of(other)) for other in others]
    met = []
    for part in parts:
        box = Box.of(part)
        if any(path != part.path and box.meets(other) for path, other in boxes):
            met.append(part)
    return met
