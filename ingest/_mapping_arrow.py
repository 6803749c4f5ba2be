"""Values of an Arrow column as text that keeps every digit."""

from typing import Any, Final

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from polars.exceptions import PanicException, PolarsError

#: What Polars may raise where it cannot take or write a column of Arrow.
_UNFIT: Final = (pa.ArrowException, PolarsError, PanicException)

_STAMP: Final = "%Y-%m-%dT%H:%M:%S%.9f"

#: Nanoseconds of a unit. [ns]
_UNIT_NS: Final = {"ns": 1, "us": 1_000, "ms": 1_000_000}

#: First and last second of the years that ISO 8601 writes with four digits. [s]
_YEAR_1: Final = -62_135_596_800
_YEAR_9999: Final = 253_402_300_799

_DAY_S: Final = 86_400


class UnfitColumnError(Exception):
    """A column is of a type that has no text."""


def column_text(array: Any, way: tuple[int, ...]) -> tuple[pl.Series, int]:
    """Return values as text: stamps as ISO 8601, lengths of time in nanoseconds.

    A stamp of more than four digits of a year is the number that is stored. Bytes that
    are not UTF-8 are replaced.

    Args:
        array: The column, of Arrow.
        way: Positions of the fields in each other that lead to the values.

    Returns:
        The text, and how many values had bytes that are not UTF-8.

    Raises:
        UnfitColumnError: If the values have no text.
    """
    try:
        plain, repairs = _plain(pc.struct_field(array, list(way)) if way else array)
        return _as_text(pl.Series("v", plain)), repairs
    except _UNFIT as error:
        raise UnfitColumnError(type(error).__name__) from error


def _plain(array: Any) -> tuple[Any, int]:
    """Return values as a type that Polars takes, and how many were repaired."""
    kind = array.type
    if pa.types.is_timestamp(kind) and kind.tz:
        return array.cast(pa.timestamp(kind.unit, "UTC")), 0
    if pa.types.is_decimal256(kind):
        return array.cast(pa.large_string()), 0
    if _is_bytes(kind):
        return _decoded(array)
    if pa.types.is_nested(kind) and not _has_text(kind):
        raise UnfitColumnError(str(kind))
    return array, 0


def _decoded(array: Any) -> tuple[Any, int]:
    """Return bytes as text, and how many values had some that are not UTF-8."""
    try:
        return array.cast(pa.large_string()), 0
    except pa.ArrowInvalid:
        found = array.to_pylist()
    texts = [v if v is None else v.decode("utf-8", errors="replace") for v in found]
    pairs = zip(texts, found, strict=True)
    broken = sum(text is not None and text.encode() != raw for text, raw in pairs)
    return pa.array(texts, pa.large_string()), broken


def _is_bytes(kind: pa.DataType) -> bool:
    types = pa.types
    held = kind.value_type if types.is_dictionary(kind) else kind
    is_some = (
        types.is_binary,
        types.is_large_binary,
        types.is_binary_view,
        types.is_fixed_size_binary,
    )
    return any(is_one(held) for is_one in is_some)


def _has_text(kind: pa.DataType) -> bool:
    """Return whether nested values can be written as JSON."""
    parts = [kind.field(i) for i in range(kind.num_fields)]
    names = {part.name for part in parts}
    is_whole = len(names) == len(parts) and not _is_bytes(kind)
    return is_whole and all(_has_text(part.type) for part in parts)


def _as_text(value: pl.Series) -> pl.Series:
    kind = value.dtype
    if isinstance(kind, pl.Datetime):
        second = 10**9 // _UNIT_NS[kind.time_unit]
        stamp = f"{_STAMP}Z" if kind.time_zone else _STAMP
        return _stamped(value.dt.replace_time_zone(None), second, stamp)
    if kind == pl.Date:
        return _stamped(value, 1 / _DAY_S, "%Y-%m-%d")
    if isinstance(kind, pl.Duration):
        unit = pl.lit(_UNIT_NS[kind.time_unit], pl.Int128)
        length = pl.lit(value.to_physical()).cast(pl.Int128) * unit
        return pl.select(v=length.cast(pl.String))["v"]
    if kind.is_nested():
        nested = value.to_frame("v").select(v=pl.struct("v").struct.json_encode())
        return nested["v"]
    return value.cast(pl.String, strict=False)


def _stamped(value: pl.Series, second: float, form: str) -> pl.Series:
    """Return stamps as text; those of no year of four digits as the number stored."""
    number = value.to_physical()
    first, last = _YEAR_1 * second, _YEAR_9999 * second
    fits = number.is_between(max(first, -(2**63)), min(last, 2**63 - 1))
    text = value.zip_with(fits, pl.Series([None], dtype=value.dtype)).dt.strftime(form)
    return text.zip_with(fits, number.cast(pl.String))
