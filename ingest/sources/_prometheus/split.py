"""A block of samples as text, split where the labels of each line end.

Most texts have nothing odd: a line is a name with its labels, a value and perhaps a
time stamp, with blanks between them. Such blocks are split in few steps; lines and
blocks that are odd are split by patterns: both ways give the same.
"""

from typing import Final, NamedTuple

import polars as pl

from ingest.sources._lines import Block, count_ends

#: What makes a block odd: white space that is no blank, lone carriage returns.
_ODD: Final = (b"\r", b"\t", b"\f", b"\v")

#: A line of two cells, or lines of one cell would be taken for all there are.
_FIRST: Final = b"}\n"

_CELLS: Final = {"_head": pl.String(), "_tail": pl.String()}


class Split(NamedTuple):
    """Lines of a block, comments aside.

    Attributes:
        parts: `number`; `series`, the name with its labels; `_value` and `_stamp`, both
            null where there are more words or none.
        odd: Numbers of the lines that were not split, blank ones among them.
    """

    parts: pl.DataFrame
    odd: pl.Series


def split(block: Block) -> Split | None:
    """Return the lines of a block that have labels; none where the block is odd."""
    data = block.data
    data = data.replace(b"\r\n", b"\n") if b"\r" in data else data
    if block.cut or not data.isascii() or any(one in data for one in _ODD):
        return None
    cells = _cells(data)
    if cells is None or cells.height != count_ends(data) + (not data.endswith(b"\n")):
        return None
    head, tail = pl.col("_head"), pl.col("_tail")
    is_comment = head.str.starts_with("#").fill_null(value=False)
    lines = cells.with_row_index("number", block.first).filter(~is_comment)
    # no labels, blanks before them, or an exemplar behind the value
    is_plain = ~head.str.starts_with(" ") & ~tail.str.contains("#", literal=True)
    odd = lines.filter(~is_plain.fill_null(value=False))["number"]
    words = tail.str.strip_chars(" ").str.splitn(" ", 2).struct
    parts = lines.filter(is_plain).select(
        "number",
        series=head + "}",
        _value=words[0],
        _stamp=words[1].str.strip_chars_start(" "),
    )
    has_more = pl.col("_stamp").str.contains(" ", literal=True).fill_null(value=False)
    is_fit = ~has_more & (pl.col("_value") != "")
    return Split(
        parts.with_columns(pl.when(is_fit).then(pl.col("_value", "_stamp"))), odd
    )


def _cells(data: bytes) -> pl.DataFrame | None:
    try:
        cells = pl.read_csv(
            _FIRST + data,
            separator="}",
            has_header=False,
            schema=_CELLS,
            quote_char=None,
        )
    except pl.exceptions.PolarsError:
        return None
    return cells.slice(1)
