"""Lines of JSON straight to columns of their types, where a program wrote them alike.

A program writes one object as the other: the same keys in the same order, the same
blanks, and no comma in a value. Such lines are cells between commas, each of which
starts as that of the first line does, so that every byte of them is accounted for.
Many times as fast as decoding lines one by one, and the same values.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import polars as pl

from ingest.sources._lines import count_ends
from ingest.sources._lines_json_cells import Cell

#: Column that tells whether a line is as the first, and its values are of their types.
IS_ALIKE: Final = "_is_alike"

_BOM: Final = b"\xef\xbb\xbf"


class Alike(NamedTuple):
    """What lines share.

    Attributes:
        keys: The keys of their objects, in order.
        starts: What stands before the value of each.
        end: What stands behind the last value.
    """

    keys: tuple[str, ...]
    starts: tuple[str, ...]
    end: str


def alike(line: bytes) -> Alike | None:
    """Return what lines as this one share; none where they cannot be read as cells."""
    try:
        found = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return None
    body = line.rstrip().removesuffix(b"}").rstrip()
    cells, values = body.split(b","), [bytes(value) for value in found.values()]
    # a key that is there twice has one value here, and a comma in a value makes two
    if not values or len(cells) != len(values):
        return None
    pairs = list(zip(cells, values, strict=True))
    if any(value[:1] in b"{[" or not cell.endswith(value) for cell, value in pairs):
        return None
    starts = tuple(cell.removesuffix(value).decode() for cell, value in pairs)
    return Alike(tuple(found), starts, line[len(body) :].decode())


def typed(
    lines: bytes, shared: Alike, types: Mapping[str, pl.DataType]
) -> pl.DataFrame | None:
    """Return the columns that have a type, and whether each line is alike.

    Of a line that is not, no value may be used. There is no frame where a line has more
    cells than it should. What all lines share is a literal, which takes no memory.

    Args:
        lines: The lines, none of them blank; the last may lack its end.
        shared: What they should share: that of the first of them.
        types: Types of all columns: texts, whole numbers and floats.
    """
    texts = _texts(lines, shared)
    count = count_ends(lines) + (not lines.endswith(b"\n"))
    if texts is None or texts.height != count:
        return None
    same = _same(texts)
    columns = {name: pl.lit(None, dtype) for name, dtype in types.items()}
    varying = []
    for cell in _cells(shared, types):
        if cell.name not in same:
            varying.append(cell)
        elif cell.dtype is not None:
            literal = cell.literal(texts[cell.name][0])
            if literal is None:
                return None
            columns[cell.key] = literal
    return _read(texts, varying, columns)


def _texts(lines: bytes, shared: Alike) -> pl.DataFrame | None:
    """Return the cells of lines by their number; those that are missing are null."""
    if b"\r" in lines or lines.startswith(_BOM):
        return None
    schema = {str(n): pl.String() for n, _ in enumerate(shared.keys)}
    try:
        return pl.read_csv(lines, has_header=False, schema=schema, quote_char=None)
    except pl.exceptions.PolarsError:
        return None


def _same(texts: pl.DataFrame) -> set[str]:
    """Return the columns whose cells are all the same."""
    pairs = zip(texts.columns, texts.row(0), texts.row(-1), strict=True)
    may = [name for name, first, last in pairs if first == last]
    is_first = pl.col(may) == pl.col(may).first()
    found = texts.select(is_first.all(ignore_nulls=False))
    return {name for name in may if found[name].item()}


def _cells(shared: Alike, types: Mapping[str, pl.DataType]) -> list[Cell]:
    ends = (*("" for _ in shared.keys[1:]), shared.end)
    parts = zip(shared.keys, shared.starts, ends, strict=True)
    return [
        Cell(str(n), key, start, end, types.get(key))
        for n, (key, start, end) in enumerate(parts)
    ]


def _read(
    texts: pl.DataFrame, varying: Sequence[Cell], columns: Mapping[str, pl.Expr]
) -> pl.DataFrame:
    """Read the cells that are not the same in all lines.

    They are few steps, since each of them is handed to threads and back.
    """
    framed = pl.all_horizontal(pl.lit(value=True), *(c.is_framed() for c in varying))
    bare = texts.with_columns(framed.alias(IS_ALIKE), *(c.bare() for c in varying))
    read = bare.with_columns(value for cell in varying for value in cell.values())
    plain = read.select(cell.is_plain().all(ignore_nulls=False) for cell in varying)
    odd = [cell for cell in varying if not plain[cell.name].item()]
    fits = pl.all_horizontal(IS_ALIKE, *(cell.fits() for cell in odd))
    found = {c.key: pl.col(c.column) for c in varying if c.dtype is not None}
    return read.select(**{**columns, **found, IS_ALIKE: fits.fill_null(value=False)})
