"""A block of JSON lines as columns, and the lines that have to be decoded one by one.

Lines that a program wrote alike are read at once, kind by kind: one that logs a
checkpoint now and then writes two kinds of lines. The others are left: a damaged line
makes none of the others slow.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import polars as pl

from ingest.sources._lines import Block
from ingest.sources._lines_json_alike import IS_ALIKE, alike, typed

#: Kinds of lines that are looked for in a block, and the fewest lines worth it. [1]
_KINDS: Final = 8
_FEWEST: Final = 20

#: Kinds that may be rare, each of less than a part in so many of the lines: keys in
#: ever another order are of no kind. [1]
_RARE: Final = 3
_SHARE: Final = 16

_NUMBER: Final = "line_number"

#: A line with its number.
Line = tuple[int, bytes]


class TypedLines(NamedTuple):
    """Lines of a block.

    Attributes:
        rows: Columns and `line_number` of those that were read at once.
        left: Those that were not, in their order.
    """

    rows: pl.DataFrame
    left: list[Line]


def typed_lines(block: Block, types: Mapping[str, pl.DataType]) -> TypedLines:
    """Read the lines of a block that are alike; what they give is as when decoded.

    Args:
        block: The lines.
        types: Types of the keys that are wanted: texts, whole numbers and floats.
    """
    _, first = next(block.lines(), (0, b""))
    shared = None if block.cut else alike(first)
    rows = None if shared is None else typed(block.data, shared, types)
    if rows is None or not rows[IS_ALIKE].all():
        return _by_kind(block, types)
    number = pl.int_range(block.first, block.first + pl.len(), dtype=pl.Int64)
    return TypedLines(rows.drop(IS_ALIKE).with_columns(number.alias(_NUMBER)), [])


def _by_kind(block: Block, types: Mapping[str, pl.DataType]) -> TypedLines:
    left = list(block.lines())
    # a line that was cut is text no more
    odd = [left.pop(0)] if block.cut else []
    found = [pl.DataFrame(schema={**types, _NUMBER: pl.Int64()})]
    rare = 0
    while len(left) >= _FEWEST and len(found) <= _KINDS and rare < _RARE:
        first, before = left[0], len(left)
        rows, left = _taken(left, types)
        found.append(rows)
        rare += 0 < rows.height * _SHARE < before
        if left and left[0] is first:
            odd.append(left.pop(0))
    return TypedLines(pl.concat(found).sort(_NUMBER), sorted(odd + left))


def _taken(
    lines: list[Line], types: Mapping[str, pl.DataType]
) -> tuple[pl.DataFrame, list[Line]]:
    """Return the rows of lines that are as the first one, and the other lines."""
    shared = alike(lines[0][1])
    rows = None
    if shared is not None:
        commas = len(shared.keys) - 1
        same = [line for line in lines if line[1].count(b",") == commas]
        rows = typed(b"\n".join(line for _, line in same), shared, types)
    if rows is None:
        return pl.DataFrame(schema={**types, _NUMBER: pl.Int64()}), lines
    numbers = pl.Series(_NUMBER, [number for number, _ in same], pl.Int64)
    taken = rows.with_columns(numbers).filter(IS_ALIKE).drop(IS_ALIKE)
    done = set(taken[_NUMBER])
    return taken, [line for line in lines if line[0] not in done]
