"""Sizes of messages, from the shapes and number formats of a dump's entries."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from ingest.communication import ELEMENT_BYTES
from ingest.sources._flight_values import GREATEST, integer_of, text_of

#: Names of the fields of shapes and number formats, and of the column of their bytes.
_SIDES: Final = (
    ("inward", "input_sizes", "input_dtypes"),
    ("outward", "output_sizes", "output_dtypes"),
)


class Sizes:
    """Bytes of tensors; a shape that many entries share is looked at once."""

    def __init__(self) -> None:
        """Know no shape yet."""
        self._elements: dict[int, list[int] | None] = {}
        self._bytes: dict[tuple[int, int], int | None] = {}

    def of(self, entry: Mapping[str, object]) -> dict[str, object]:
        """Return the bytes that go in and come out, and the number format. [B]"""
        told: dict[str, object] = {
            name: self._side(entry.get(shapes), entry.get(dtypes))
            for name, shapes, dtypes in _SIDES
        }
        return told | {"dtype": _first(entry.get("input_dtypes"))}

    def _side(self, shapes: object, dtypes: object) -> int | None:
        key = id(shapes), id(dtypes)
        if key not in self._bytes:
            self._bytes[key] = self._total(shapes, dtypes)
        return self._bytes[key]

    def _total(self, shapes: object, dtypes: object) -> int | None:
        if not isinstance(shapes, list | tuple):
            return None
        elements = [self._count(shape) for shape in shapes]
        known = [count for count in elements if count is not None]
        widths = _widths(dtypes, len(elements))
        if len(known) < len(elements) or not known or widths is None:
            return None
        total = sum(n * width for n, width in zip(known, widths, strict=True))
        return total if total <= GREATEST else None

    def _count(self, shape: object) -> int | None:
        if id(shape) not in self._elements:
            self._elements[id(shape)] = (
                [count] if (count := _product(shape)) is not None else None
            )
        found = self._elements[id(shape)]
        return found[0] if found else None


def _product(shape: object) -> int | None:
    """Return the elements of a shape; one of no dimension has one. [1]"""
    if not isinstance(shape, list | tuple):
        return None
    count = 1
    for dimension in shape:
        length = integer_of(dimension)
        if length is None or length < 0:
            return None
        count = min(count * length, GREATEST)
    return count


def _widths(dtypes: object, count: int) -> list[int] | None:
    """Return the bytes of an element of each tensor; one format may be that of all."""
    if not isinstance(dtypes, list | tuple) or len(dtypes) not in {1, count}:
        return None
    known = [ELEMENT_BYTES.get((text_of(dtype) or "").lower()) for dtype in dtypes]
    widths = [width for width in known if width is not None]
    if len(widths) < len(known):
        return None
    return widths * count if len(widths) == 1 else widths


def _first(dtypes: object) -> str | None:
    return text_of(dtypes[0]) if isinstance(dtypes, list | tuple) and dtypes else None


def whole_message() -> pl.Expr:
    """Return the size of the whole message, as nccl-tests count it. [B]

    Of an all-gather the output, of a reduce-scatter and an all-to-all the input; of a
    gather and a scatter what the root has; of all others the message.
    Source: nccl-tests, doc/PERFORMANCE.md.
    """
    kind, size = pl.col("kind"), pl.col("group_size")
    inward, outward = pl.col("inward"), pl.col("outward")
    of_all = inward <= GREATEST // size
    return (
        pl.when(kind == "allgather")
        .then(pl.coalesce(outward, pl.when(of_all).then(inward * size)))
        .when(kind == "gather")
        .then(pl.when(of_all).then(inward * size))
        .when(kind == "scatter")
        .then(pl.when(outward <= GREATEST // size).then(outward * size))
        .when(kind == "recv")
        .then(pl.coalesce(outward, inward))
        .when(kind != "barrier")
        .then(pl.coalesce(inward, outward))
    )
