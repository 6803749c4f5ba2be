"""Columns of numbers and names as the columns of words that people read."""

from collections.abc import Callable
from typing import Any

import polars as pl

from reports._words import NAME_LIMIT, name


def said_by(column: str | pl.Expr, speak: Callable[[Any], str]) -> pl.Expr:
    """Return a column in words, null where it is null.

    Args:
        column: Column of a few rows, those of a drawing.
        speak: Says one value.
    """
    values = pl.col(column) if isinstance(column, str) else column
    return values.map_elements(speak, return_dtype=pl.String)


def named(column: str, limit: int = NAME_LIMIT) -> pl.Expr:
    """Return a column of names from data, fit to be read.

    Args:
        column: Column of names.
        limit: Most characters kept of each.
    """
    return said_by(column, lambda found: name(found, limit))
