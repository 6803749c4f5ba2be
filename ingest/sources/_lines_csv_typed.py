"""A block of comma-separated lines straight to columns of their types.

Several times as fast as splitting text, where nothing in the block is odd. Where
something is (a quote, a blank, a blank line, a cell too many or too few, a
number that is none), nothing is told, and the block must be read line by line: both
ways give the same rows.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from ingest.sources._lines import Block

#: What makes a block odd: quotes, lone carriage returns, and blanks.
_ODD = (b'"', b"\r", b" ", b"\t", b"\0")


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
    cells = _decoded(data, names, types)
    if cells is None or cells.height != lines:
        return None
    number = pl.int_range(pl.len()) + block.first + has_header
    return cells.with_columns(line_number=number)


def _decoded(
    data: bytes, names: Sequence[str], types: Mapping[str, pl.DataType]
) -> pl.DataFrame | None:
    numbered = {f"column_{n}": name for n, name in enumerate(names, 1)}
    wanted = {column: name for column, name in numbered.items() if name in types}
    schema = {column: types.get(name, pl.String()) for column, name in numbered.items()}
    try:
        cells = pl.read_csv(
            data,
            has_header=False,
            schema=schema,
            columns=list(wanted),
            quote_char=None,
        )
    except pl.exceptions.PolarsError:
        return None
    return cells.rename(wanted)
