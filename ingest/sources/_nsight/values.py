"""Whole numbers out of the columns of SQLite, which keeps any value in any column."""

from collections.abc import Iterable, Sequence
from typing import Final

import polars as pl

from ingest.sources._source import RAW_CHARACTERS

#: Column with the text of a row that has another value than whole numbers.
OTHER: Final = "other"

#: Numbers below which every float is exact.
_EXACT: Final = float(1 << 53)


def integers(name: str, values: Sequence[object]) -> pl.Series:
    """Return whole numbers, null where a value is none."""
    sound = _sound(name, values)
    if sound is not None:
        return sound
    return pl.Series(name, [_integer(one) for one in values], dtype=pl.Int64)


def numbers_of(
    names: Sequence[str], rows: Sequence[tuple[object, ...]]
) -> list[pl.Series]:
    """Return the columns of some rows, and the text of those with another value."""
    columns = list(zip(*rows, strict=True))
    sound = [_sound(*pair) for pair in zip(names, columns, strict=True)]
    mixed = [values for one, values in zip(sound, columns, strict=True) if one is None]
    found = [
        integers(name, values) if one is None else one
        for name, one, values in zip(names, sound, columns, strict=True)
    ]
    if not mixed:
        none = pl.repeat(None, len(rows), dtype=pl.String, eager=True)
        return [*found, none.alias(OTHER)]
    others = [_text(row) if _is_other(row) else None for row in rows]
    return [*found, pl.Series(OTHER, others, dtype=pl.String)]


def _sound(name: str, values: Sequence[object]) -> pl.Series | None:
    try:
        return pl.Series(name, values, dtype=pl.Int64)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return None


def _integer(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return value if isinstance(value, int) else None


def _is_other(row: Iterable[object]) -> bool:
    return any(one is not None and _integer(one) is None for one in row)


def _text(row: tuple[object, ...]) -> str:
    return repr(row)[:RAW_CHARACTERS]
