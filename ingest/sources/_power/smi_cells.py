"""Cells of power tools as numbers: units in them or in the header, and what is none."""

from collections.abc import Mapping
from typing import Final

import polars as pl

#: What a quantity is divided by, by its unit.
WATTS: Final = {"W": 1.0, "mW": 1_000.0, "": 1.0}
MEGAHERTZ: Final = {"MHz": 1.0, "Mhz": 1.0, "": 1.0}
CELSIUS: Final = {"C": 1.0, "": 1.0}
RATIO: Final = {"%": 100.0, "": 100.0}
MILLIJOULES: Final = {"mJ": 1.0, "J": 0.001, "uJ": 1_000.0, "": 1.0}

#: Nanoseconds of a unit of time.
NANOSECONDS: Final = {"us": 1_000, "ms": 1_000_000, "ns": 1, "": 1_000}

#: Bits of the reasons for a lowered clock (NVML, nvmlClocksEventReasons).
BIT_OF_REASON: Final = {
    "gpu_idle": 0x1,
    "applications_clocks_setting": 0x2,
    "sw_power_cap": 0x4,
    "hw_slowdown": 0x8,
    "sync_boost": 0x10,
    "sw_thermal_slowdown": 0x20,
    "hw_thermal_slowdown": 0x40,
    "hw_power_brake_slowdown": 0x80,
    "display_clocks_setting": 0x100,
}

#: Cells that say that there is no value. Whatever is in brackets is one: [N/A],
#: [Not Supported], [Unknown Error], [Requested functionality has been deprecated].
_NO_VALUE = (
    r"^(?:\[.*\]|N/A|ERR!|Not Supported|Unknown Error|Insufficient Permissions"
    r"|Requested functionality has been deprecated|GPU requires reset|GPU is lost|-)$"
)
_QUANTITY = r"^([+-]?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-z%]*)$"
_WHOLE = r"^([0-9]{1,18})\s*([a-z]*)$"
_HEXADECIMAL = r"^0[xX]([0-9a-fA-F]{1,16})$"
_DECIMAL = r"^[0-9]{1,18}$"

_VALUE: Final = "value"
_UNIT: Final = "unit"

#: Longest state of a counter: the sum of two still fits an Int64; 73 years. [ns]
_LONGEST_NS: Final = 2**61

#: Highest state of a counter of energy: up to it float64 holds every mJ. [mJ]
_MOST_MJ: Final = 2**53


def known(cell: pl.Expr) -> pl.Expr:
    """Return a cell, null where it says that there is no value."""
    return pl.when(~cell.str.contains(_NO_VALUE)).then(cell)


def quantity(
    cell: pl.Expr, unit: str, divisors: Mapping[str, float], *, signed: bool = False
) -> pl.Expr:
    """Return a known cell as a number; null where it is none.

    Args:
        cell: The cell, perhaps with a unit in it.
        unit: Unit that the header gives, for a cell without one.
        divisors: What to divide by, by unit.
        signed: Whether it may be below zero.
    """
    divisor = _of_unit(pl.field(_UNIT), unit, divisors, pl.Float64())
    value = pl.field(_VALUE).cast(pl.Float64, strict=False) / divisor
    told = _parts(cell, _QUANTITY).struct.with_fields(value.alias(_VALUE))
    if not signed:
        is_fit = pl.field(_VALUE) >= 0
        told = told.struct.with_fields(pl.when(is_fit).then(pl.field(_VALUE)))
    return told.struct.field(_VALUE)


def energy_mj(cell: pl.Expr, unit: str) -> pl.Expr:
    """Return a known cell as a state of a counter of energy; null where it is none."""
    value = quantity(cell, unit, MILLIJOULES)
    return pl.when(value.is_between(0, _MOST_MJ)).then(value.round().cast(pl.Int64))


def duration_ns(cell: pl.Expr, unit: str) -> pl.Expr:
    """Return a known cell as a whole duration; null where it is none. [ns]"""
    value = pl.field(_VALUE).cast(pl.Int64, strict=False)
    factor = _of_unit(pl.field(_UNIT), unit, NANOSECONDS, pl.Int64())
    told = _parts(cell, _WHOLE).struct.with_fields(value, factor.alias(_UNIT))
    number, factor = pl.field(_VALUE), pl.field(_UNIT)
    is_fit = number <= _LONGEST_NS // factor
    told = told.struct.with_fields(pl.when(is_fit).then(number * factor).alias(_VALUE))
    return told.struct.field(_VALUE)


def _parts(cell: pl.Expr, pattern: str) -> pl.Expr:
    """Return number and unit of a cell, looked for once however often they are used."""
    return cell.str.extract_groups(pattern).struct.rename_fields([_VALUE, _UNIT])


def mask(cell: pl.Expr, _unit: str) -> pl.Expr:
    """Return a known cell as bits; null where it is neither 0x... nor a number."""
    digits = cell.str.extract(_HEXADECIMAL)
    decimal = pl.when(cell.str.contains(_DECIMAL)).then(cell)
    return pl.coalesce(
        digits.str.to_integer(base=16, strict=False),
        decimal.cast(pl.Int64, strict=False),
    )


def bit(cell: pl.Expr, _unit: str, reason: str) -> pl.Expr:
    """Return the bit of a reason where it is active, 0 where not, else null."""
    active = pl.when(cell == "Active").then(BIT_OF_REASON[reason])
    return active.when(cell == "Not Active").then(0).cast(pl.Int64)


def _of_unit(
    found: pl.Expr, unit: str, table: Mapping[str, float], dtype: pl.DataType
) -> pl.Expr:
    """Look up the unit of a cell, or else that of its header; null where unknown."""
    own = found.replace_strict(table, default=None, return_dtype=dtype)
    return pl.when(found == "").then(pl.lit(table.get(unit), dtype)).otherwise(own)
