"""How the text of a field becomes the value of a column, unit by unit."""

from datetime import tzinfo
from typing import Any, Final

import dataframely as dy
import polars as pl

from ingest._mapping_card import Value
from ingest._mapping_instants import Kind, instant_kind, refuse_keys
from ingest._mapping_numbers import as_int64, integer, real
from ingest._mapping_scalars import fault_of
from ingest._mapping_times import Instants
from ingest._mapping_units import UNITS
from ingest.errors import SettingError
from ingest.tables import unit_of

#: A text that stands for every other one.
ANY: Final = "*"

_NEVER: Final = pl.lit(value=False)
_BOOLEANS: Final = {"true": True, "True": True, "TRUE": True} | {
    "false": False,
    "False": False,
    "FALSE": False,
}


def kind_of(column: dy.Column, value: Value) -> Kind:
    """Return how a field becomes a column.

    Raises:
        SettingError: If a unit is missing, unknown, or said of what has none.
    """
    if value.values:
        refuse_keys(value, "values", ("unit", "since", "format", "zone", "repeated"))
        return _words(column, value)
    if is_instant(column):
        return instant_kind(value)
    refuse_keys(
        value, "a column that is no time", ("since", "format", "zone", "repeated")
    )
    if needs_unit(column):
        return _scaled(column, value)
    refuse_keys(value, "a column without a unit", ("unit",))
    return _plain(column)


def is_instant(column: dy.Column) -> bool:
    """Return whether a column is a point in time: a length of time has a minimum."""
    return unit_of(column) == "ns" and getattr(column, "min", None) is None


def needs_unit(column: dy.Column) -> bool:
    """Return whether the numbers of a column are in a unit; a count is in none."""
    unit = unit_of(column)
    return bool(unit) and not (unit == "1" and column.dtype.is_integer())


def _words(column: dy.Column, value: Value) -> Kind:
    for text, word in value.values.items():
        if fault := fault_of(column, word):
            message = f"values.{text}: {fault}"
            raise SettingError(message)
    known = {text: word for text, word in value.values.items() if text != ANY}
    other = pl.lit(value.values.get(ANY), column.dtype)

    def convert(text: pl.Expr, _: tzinfo) -> Instants:
        found = text.replace_strict(
            list(known),
            pl.Series(list(known.values()), dtype=column.dtype),
            default=other,
            return_dtype=column.dtype,
        )
        return Instants(found if known else other, _NEVER)

    return Kind("values", f"one of {', '.join(known)}", convert)


def _scaled(column: dy.Column, value: Value) -> Kind:
    units = UNITS[unit_of(column)]
    unit = value.unit
    if unit is None or unit not in units:
        found = f"found {unit!r}" if unit else "and none is said"
        message = (
            f"unit: the numbers of the source need one of {', '.join(units)}; {found}"
        )
        raise SettingError(message)
    scale = units[unit]

    def convert(text: pl.Expr, _: tzinfo) -> Instants:
        if column.dtype.is_integer():
            return Instants(as_int64(integer(text, scale.factor)), _NEVER)
        return Instants(real(text, scale), _NEVER)

    expected = f"a decimal number in {unit}, without separators or a unit"
    return Kind("number", expected, convert)


def _plain(column: dy.Column) -> Kind:
    dtype = column.dtype
    if dtype == pl.String:
        return Kind("text", "a text", lambda text, _: Instants(text, _NEVER))
    if dtype == pl.Boolean:
        return Kind("boolean", "true or false", _boolean)
    if dtype.is_integer():
        return Kind(
            "integer",
            "a whole number that the column can hold, without separators",
            lambda text, _: Instants(integer(text).cast(dtype, strict=False), _NEVER),
        )
    expected = "a decimal number, without separators or a unit"
    return Kind("number", expected, lambda text, _: Instants(real(text), _NEVER))


def _boolean(text: pl.Expr, _: tzinfo) -> Instants:
    found: Any = text.replace_strict(_BOOLEANS, default=None, return_dtype=pl.Boolean)
    return Instants(found, _NEVER)
