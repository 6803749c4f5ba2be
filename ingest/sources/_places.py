"""Where in its file a row is: in words, or as a number of which words can be made."""

from typing import Final

import polars as pl

from ingest.phrases import phrase

#: Column of the place in words.
PLACE: Final = "place"

#: Columns of its number, and the words: these are only made for rows that are refused.
PLACE_NUMBERS: Final = {"line_number": "line {}", "row_number": "row {}"}


def with_place(rows: pl.DataFrame, otherwise: pl.Expr | None = None) -> pl.DataFrame:
    """Return rows with their place in words, and without its number.

    Args:
        rows: Rows; of a row, at most one of the columns has a value.
        otherwise: The place of rows that have none.
    """
    told = [PLACE] if PLACE in rows.columns else []
    numbers = [name for name in PLACE_NUMBERS if name in rows.columns]
    made = [phrase(PLACE_NUMBERS[name], name) for name in numbers]
    rest = [] if otherwise is None else [otherwise]
    place = pl.coalesce(*told, *made, *rest, pl.lit(None, pl.String))
    return rows.with_columns(place.alias(PLACE)).drop(numbers)
