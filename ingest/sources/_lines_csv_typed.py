"""A block of comma-separated lines straight to columns of their types.

Several times as fast as splitting text, where nothing in the block is odd. Where
something is (a quote or a comma in a cell, a blank, a blank line, a cell too many or
too few, a number that is none), nothing is told, and the block must be read line by
line: both ways give the same rows.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from ingest.sources._lines import Block

#: What makes a block odd: lone carriage returns, and blanks.
_ODD = (b"\r", b" ", b"\t", b"\0")

_QUOTE = '"'


def typed_cells(
    block: Block,
    names: Sequence[str],
    types: Mapping[str, pl.DataType],
    *,
    has_header: bool,
) -> pl.DataFrame | None:
    """Return the columns of a block that have a type; null if it is odd.

    Each row has its `line_number`.

    Args:
        block: The lines.
        names: Names of all columns, in their order.
        types: Types of those that are wanted; text or numbers.
        has_header: Whether the first line is no row.
    """
    data = block.data.partition(b"\n")[2] if has_header else block.data
    data = data.replace(b"\r\n", b"\n") if b"\r" in data else data
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    is_odd = block.cut or not data or any(one in data for one in _ODD)
    if is_odd or data.count(b",") != lines * (len(names) - 1):
        return None
    decoded = _unquoted if _QUOTE.encode() in data else _decoded
    cells = decoded(data, names, types)
    if cells is None or cells.height != lines:
        return None
    number = pl.int_range(pl.len()) + block.first + has_header
    return cells.with_columns(line_number=number)


def _unquoted(
    data: bytes, names: Sequence[str], types: Mapping[str, pl.DataType]
) -> pl.DataFrame | None:
    """Decode cells of which some are in quotes, none of which is inside another."""
    texts = _read(data, dict.fromkeys(map(str, range(len(names))), pl.String()))
    if texts is None:
        return None
    text = pl.all().str
    quotes = text.count_matches(_QUOTE, literal=True)
    is_whole = (quotes == 2) & text.starts_with(_QUOTE) & text.ends_with(_QUOTE)  # noqa: PLR2004
    is_plain = ((quotes == 0) | is_whole).fill_null(value=True)
    if not texts.select(pl.all_horizontal(is_plain).all()).item():
        return None
    bare = texts.with_columns(text.strip_chars(_QUOTE))
    filled = bare.select(
        pl.when(pl.col(str(n)) != "").then(str(n)).alias(name)
        for n, name in enumerate(names)
        if name in types
    )
    cells = filled.cast({name: types[name] for name in filled.columns}, strict=False)
    return cells if filled.null_count().equals(cells.null_count()) else None


def _decoded(
    data: bytes, names: Sequence[str], types: Mapping[str, pl.DataType]
) -> pl.DataFrame | None:
    numbered = {f"column_{n}": name for n, name in enumerate(names, 1)}
    wanted = {column: name for column, name in numbered.items() if name in types}
    schema = {column: types.get(name, pl.String()) for column, name in numbered.items()}
    cells = _read(data, schema, list(wanted))
    return None if cells is None else cells.rename(wanted)


def _read(
    data: bytes, schema: Mapping[str, pl.DataType], columns: list[str] | None = None
) -> pl.DataFrame | None:
    try:
        return pl.read_csv(
            data, has_header=False, schema=schema, columns=columns, quote_char=None
        )
    except pl.exceptions.PolarsError:
        return None
