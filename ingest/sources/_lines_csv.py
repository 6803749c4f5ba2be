"""Lines of comma-separated cells, split in bulk."""

import csv

import polars as pl

#: Rule of a line that has more or fewer cells than its header.
CELL_COUNT = "cell_count"


def names_of(header: str) -> list[str]:
    """Return the cells of a header line, without blanks around them."""
    return [name.strip() for name in _cells(header) or []]


def split(lines: pl.DataFrame, width: int, *, quotes: bool) -> pl.DataFrame:
    """Add the `cells` of every line, and a `rule` to those that have not `width`.

    Args:
        lines: Lines as Block.table gives them.
        width: Cells that a line must have. [1]
        quotes: Whether a cell may be in quotes; it then may hold commas, but no line
            break.
    """
    cells = pl.col("line").str.split(",")
    quoted = lines.filter(pl.col("line").str.contains('"', literal=True))
    if quotes and not quoted.is_empty():
        parsed = [_cells(line) for line in quoted["line"]]
        known = quoted.select(
            "place", parsed=pl.Series(parsed, dtype=pl.List(pl.String))
        )
        lines = lines.join(known, on="place", how="left", maintain_order="left")
        unquoted = ~pl.col("line").str.contains('"', literal=True)
        cells = pl.when(unquoted).then(cells).otherwise("parsed")
    found = pl.when(pl.col("cells").list.len().ne_missing(width)).then(
        pl.lit(CELL_COUNT)
    )
    return lines.select("place", "line", "rule", cells=cells).with_columns(
        rule=pl.coalesce("rule", found)
    )


def cell(index: int) -> pl.Expr:
    """Return one cell of split lines, without blanks around it; null where empty."""
    text = pl.col("cells").list.get(index, null_on_oob=True).str.strip_chars()
    return pl.when(text != "").then(text)


def _cells(line: str) -> list[str] | None:
    try:
        (cells,) = csv.reader([line], strict=True)
    except (csv.Error, ValueError):
        return None
    return cells
