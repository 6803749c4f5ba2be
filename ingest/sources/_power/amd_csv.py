"""CSV of AMD's tools: a header that may come again, with other columns or the same."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from ingest.sources._lines import TRUNCATED, Block
from ingest.sources._lines_csv import CELL_COUNT, cell, names_of
from ingest.sources._power.amd import Named

#: Column of the time of a sample.
TIME: Final = "timestamp"

#: A cell in quotes, such as a list of what each engine does.
_QUOTED: Final = r'"[^"]*"'

#: A card of rocm-smi, by its number.
_CARD: Final = r"^card([0-9]+)$"

#: Numbers that stand for none: the largest of 16 and of 32 bits.
_UNSUPPORTED: Final = ("65535", "4294967295")


@dataclass(frozen=True, slots=True)
class AmdLayout:
    """Where the columns of a line are.

    Attributes:
        header: The header as it was found.
        names: Its columns.
    """

    header: str
    names: tuple[str, ...]


def header_of(line: str, first: str, named: Named) -> AmdLayout | None:
    """Return the layout of a header; None where the line is none.

    Args:
        line: The line.
        first: A column that every header has.
        named: Columns of which it has another one, too.
    """
    if first not in line:
        return None
    names = tuple(names_of(line))
    other = named.keys() - {first}
    fits = first in names and not other.isdisjoint(names)
    return AmdLayout(line, names) if fits else None


def parts(
    block: Block, layout: AmdLayout | None, header: Callable[[str], AmdLayout | None]
) -> Iterator[tuple[AmdLayout | None, pl.DataFrame]]:
    """Cut the lines of a block at its headers, which are in no part."""
    lines = block.table()
    if block.cut_short:
        last = pl.int_range(pl.len()) == pl.len() - 1
        lines = lines.with_columns(
            rule=pl.when(last).then(pl.lit(TRUNCATED)).otherwise("rule")
        )
    begin = 0
    marked = lines.with_row_index("row").filter(
        pl.col("line").str.contains("^[A-Za-z]")
    )
    for row, line in marked.select("row", "line").iter_rows():
        if layout and line == layout.header:
            continue
        if other := header(line):
            yield layout, _samples(lines.slice(begin, row - begin), layout)
            layout, begin = other, row + 1
    yield layout, _samples(lines.slice(begin), layout)


def _samples(lines: pl.DataFrame, layout: AmdLayout | None) -> pl.DataFrame:
    return lines.filter(pl.col("line") != layout.header) if layout else lines


def cells(lines: pl.DataFrame, layout: AmdLayout, named: Named) -> pl.DataFrame:
    """Return the cells of lines by the names of fields, and the time as it is."""
    found: dict[str, pl.Expr] = {}
    for index, name in enumerate(layout.names):
        if name in named or name == TIME:
            field = named[name][0] if name in named else TIME
            found.setdefault(field, _cell(index))
    # of what is in quotes nothing is read, so its commas may go with it
    plain = pl.col("line").str.replace_all(_QUOTED, "")
    taken = lines.with_columns(cells=plain.str.split(","))
    is_ragged = pl.col("cells").list.len() != len(layout.names)
    return taken.select(
        "place",
        "line",
        pl.coalesce("rule", pl.when(is_ragged).then(pl.lit(CELL_COUNT))).alias("rule"),
        *[text.alias(name) for name, text in found.items()],
    )


def _cell(index: int) -> pl.Expr:
    text = cell(index).str.strip_chars("()").str.replace(_CARD, "$1")
    return pl.when(~text.is_in(_UNSUPPORTED)).then(text)
