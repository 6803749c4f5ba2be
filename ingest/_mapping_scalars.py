"""Values that a mapping writes out: constants, defaults, and words for words."""

import math
from typing import Final

import dataframely as dy
import polars as pl

from ingest._mapping_card import Scalar

_TYPES: Final = {"String": "text", "Boolean": "true or false", "Float64": "a number"}


def fault_of(column: dy.Column, value: Scalar) -> str | None:
    """Return why a column cannot have a value; None where it can."""
    dtype = column.dtype
    if not _is_of(dtype, value):
        wanted = _TYPES.get(str(dtype), "a whole number that it can hold")
        return f"expected {wanted}, found {value!r}"
    frame = pl.DataFrame({"value": [value]}, schema={"value": dtype})
    for rule, holds in column.validation_rules(pl.col("value")).items():
        if frame.select(holds.fill_null(value=True)).item() is False:
            about = column.description or ""
            return f"{value!r} breaks the rule {rule!r} of the column: {about}"
    return None


def _is_of(dtype: pl.DataType, value: Scalar) -> bool:
    if dtype == pl.String:
        return isinstance(value, str)
    if dtype == pl.Boolean:
        return isinstance(value, bool)
    if isinstance(value, bool | str):
        return False
    if dtype.is_integer():
        bits = 31 if dtype == pl.Int32 else 63
        return isinstance(value, int) and -(2**bits) <= value < 2**bits
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
