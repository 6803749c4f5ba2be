"""Whole numbers out of the columns of SQLite, which keeps any value in any column."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from ingest.sources._source import RAW_CHARACTERS

#: Column with the text of a row that has another value than whole numbers.
OTHER: Final = "other"

#: Numbers below which every float is exact.
_EXACT: Final = float(1 << 53)


def integers(name: str, values: Sequence[object]) -> pl.Series:
    """Return whole numbers, null where a value is none."""
    try:
        return pl.Series(name, values, dtype=pl.Int64)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(name, [_integer(one) for one in values], dtype=pl.Int64)


def _integer(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return value if isinstance(value, int) else None


def others(
    columns: Sequence[pl.Series], rows: Sequence[tuple[object, ...]]
) -> pl.Series:
    """Return the text of the rows that have another value than a whole number."""
    nulls = [column for column in columns if column.null_count()]
    suspects = {at for column in nulls for at in column.is_null().arg_true()}
    others: list[str | None] = [None] * (len(rows) if suspects else 0)
    for at in suspects:
        if any(v is not None and _integer(v) is None for v in rows[at]):
            others[at] = repr(rows[at])[:RAW_CHARACTERS]
    if not suspects:
        return pl.repeat(None, len(rows), dtype=pl.String, eager=True).alias(OTHER)
    return pl.Series(OTHER, others, dtype=pl.String)
