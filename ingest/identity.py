"""What stands for the rows of parts, so that merging parts changes no result.

Every part that brings rows has a number drawn with its name. The identity of some parts
is the sum of their numbers, as in incremental hashing of multisets (Bellare and
Micciancio 1997). Parts that take the place of others keep the sum, and each of them has
a number of its own: where one of them leaves, the sum is another.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from ingest.manifest import Part

#: Sums are taken modulo this: two of them are equal by chance once in 2**128.
_MODULUS: Final = 1 << 128


def identity_of(parts: Iterable[Part]) -> str:
    """Return what stands for the rows of parts: equal where they were only merged."""
    return _text(sum(map(_number, parts)))


def conserve(old: Iterable[Part], new: Sequence[Part]) -> list[Part]:
    """Return new parts with the same rows as old ones, and so with their identity."""
    if not new:
        return []
    *others, last = new
    rest = sum(map(_number, old)) - sum(map(_number, others))
    return [*others, replace(last, content=_text(rest))]


def _number(part: Part) -> int:
    if part.content is not None:
        return int(part.content, 16)
    return int.from_bytes(hashlib.sha256(part.path.encode()).digest()[:16])


def _text(number: int) -> str:
    return f"{number % _MODULUS:032x}"
