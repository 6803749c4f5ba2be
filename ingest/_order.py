"""Whether rows are in the order of their key: far quicker to see than to sort them."""

from collections.abc import Sequence

import polars as pl


def is_constant(column: pl.Series) -> bool:
    """Return whether all rows have one value; no rows have it, too."""
    if column.null_count():
        return column.null_count() == len(column)
    return column.is_empty() or bool((column == column[0]).all())


def ascends(frame: pl.DataFrame, key: Sequence[str], *, strictly: bool) -> bool:
    """Return whether rows are sorted by their key; null is less than any value.

    Args:
        frame: The rows.
        key: Columns of the key.
        strictly: Whether no two rows may have one key.
    """
    names = _varying(frame, key)
    if frame.height <= 1 or not names:
        return frame.height <= 1 or not strictly
    holds = pl.lit(not strictly)
    for name in reversed(names):
        now, before = pl.col(name), pl.col(name).shift()
        if frame[name].null_count():
            is_more = (before < now).fill_null(value=False)
            is_more |= before.is_null() & now.is_not_null()
            holds = is_more | (before.eq_missing(now) & holds)
        else:
            holds = (before < now) | ((before == now) & holds)
    return bool(frame.select(holds.slice(1).all()).item())


def in_order(frame: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Return rows sorted by their key, as they are where they are in order."""
    if ascends(frame, key, strictly=False):
        return frame
    return frame.sort(_varying(frame, key))


def _varying(frame: pl.DataFrame, key: Sequence[str]) -> list[str]:
    return [name for name in key if not is_constant(frame[name])]
