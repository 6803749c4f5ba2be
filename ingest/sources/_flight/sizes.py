"""Sizes of messages, from the shapes and number formats of a dump's entries."""

from collections.abc import Mapping
from typing import Final

from ingest.communication import ELEMENT_BYTES
from ingest.sources._flight.values import GREATEST, integer_of, text_of

#: Names of the fields of shapes and number formats, and of the column of their bytes.
_SIDES: Final = (
    ("inward", "input_sizes", "input_dtypes"),
    ("outward", "output_sizes", "output_dtypes"),
)


#: Tensors of an entry whose number formats may differ. An operation on several has
#: one format as a rule, and one size for each would be looked at for each entry. [1]
_MOST_MIXED: Final = 64


class Sizes:
    """Bytes of tensors; what many entries share is looked at once.

    A pickle may name one long list of shapes in each of its entries, in two bytes.
    """

    def __init__(self) -> None:
        """Know no shape yet."""
        self._elements: dict[int, tuple[int, ...] | None] = {}
        self._totals: dict[int, int] = {}
        self._widths: dict[int, tuple[int, ...] | None] = {}

    def of(self, entry: Mapping[str, object]) -> dict[str, object]:
        """Return the bytes that go in and come out, and the number format. [B]"""
        told: dict[str, object] = {
            name: self._side(entry.get(shapes), entry.get(dtypes))
            for name, shapes, dtypes in _SIDES
        }
        return told | {"dtype": _first(entry.get("input_dtypes"))}

    def _side(self, shapes: object, dtypes: object) -> int | None:
        elements, widths = self._elements_of(shapes), self._widths_of(dtypes)
        if not elements or widths is None:
            return None
        if len(widths) == 1:
            total = self._totals[id(shapes)] * widths[0]
        elif len(widths) == len(elements) <= _MOST_MIXED:
            total = sum(n * w for n, w in zip(elements, widths, strict=True))
        else:
            return None
        return total if total <= GREATEST else None

    def _elements_of(self, shapes: object) -> tuple[int, ...] | None:
        """Return the elements of each tensor, and remember them together. [1]"""
        if id(shapes) not in self._elements:
            counts = _counts(shapes)
            self._elements[id(shapes)] = counts
            self._totals[id(shapes)] = sum(counts or ())
        return self._elements[id(shapes)]

    def _widths_of(self, dtypes: object) -> tuple[int, ...] | None:
        """Return the bytes of an element of each tensor, one where all are alike."""
        if id(dtypes) not in self._widths:
            self._widths[id(dtypes)] = _widths(dtypes)
        return self._widths[id(dtypes)]


def _counts(shapes: object) -> tuple[int, ...] | None:
    if not isinstance(shapes, list | tuple):
        return None
    seen: dict[int, int | None] = {}
    for shape in shapes:
        if id(shape) not in seen:
            seen[id(shape)] = _product(shape)
    counts = [seen[id(shape)] for shape in shapes]
    known = tuple(count for count in counts if count is not None)
    return known if len(known) == len(counts) else None


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


def _widths(dtypes: object) -> tuple[int, ...] | None:
    if not isinstance(dtypes, list | tuple) or not dtypes:
        return None
    known = [ELEMENT_BYTES.get((text_of(dtype) or "").lower()) for dtype in dtypes]
    widths = tuple(width for width in known if width is not None)
    if len(widths) < len(known):
        return None
    return widths[:1] if len(set(widths)) == 1 else widths


def _first(dtypes: object) -> str | None:
    return text_of(dtypes[0]) if isinstance(dtypes, list | tuple) and dtypes else None
