"""Numbers of a plan with their price, and as a person reads them."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Final

import polars as pl

from ingest.times import SECOND_NS
from reports._numbers import THIN, compact, duration, grouped, percent, significant
from reports.dollars import Price, dollars, energy_dollars, price_of

#: Unit of time on GPUs, and how a person counts it.
_GPU_TIME: Final = "GPU s"
_HOUR_S: Final = 3600

#: More than there is of any currency: an amount above it is a mistake on a card. [USD]
_MOST_USD: Final = Decimal(10) ** 18

#: From here on a number is read by its exponent. [1]
_LARGE: Final = 1e15

#: Below this a number without unit is read by its exponent, too. [1]
_SMALL: Final = 1e-4

#: Below this a whole number is read with all its digits. [1]
_WHOLE_BELOW: Final = 1e6

#: Below this a quantity is read by its exponent, too: less than a nanosecond.
_TINY: Final = 1e-9

#: Units that stand behind a number with k, M or G.
_COMPACT: Final = ("B", "B/s", "W", "J")


def priced(rows: pl.DataFrame, prices: Mapping[str, Price]) -> pl.DataFrame:
    """Return lines of plans with what each costs. [USD]

    GPU time has a price; energy has one where GPUs are owned, as rent contains it.

    Args:
        rows: Rows of Plans.
        prices: Price of each run, and the fallback under no name.
    """
    columns = ("run_id", "unit", "value", "measured")
    told = [
        (
            _usd(value, unit, price_of(prices, run)),
            _usd(found, unit, price_of(prices, run)),
        )
        for run, unit, value, found in rows.select(columns).iter_rows()
    ]
    return rows.with_columns(
        pl.Series("usd", [usd for usd, _ in told], pl.Float64),
        pl.Series("measured_usd", [usd for _, usd in told], pl.Float64),
    )


def _usd(value: float | None, unit: str, price: Price) -> float | None:
    if value is None or unit not in {_GPU_TIME, "J"}:
        return None
    amount = (
        dollars(round(Fraction(value) * SECOND_NS), price)
        if unit == _GPU_TIME
        else energy_dollars(value, price)
    )
    # a float ends at 1e308, a card's price times its GPUs may not
    return None if amount is None or amount > _MOST_USD else float(amount)


def in_words(value: float | None, unit: str) -> str:
    """Return a value with its unit as a person would say it."""
    if value is None:
        return "\N{EN DASH}"
    if unit == _GPU_TIME:
        return _gpu_time(value)
    if unit == "s":
        return duration(value * SECOND_NS) if _is_plain(value) else _precise(value, "s")
    if unit in _COMPACT:
        amount = compact(value) if _is_plain(value) else _exponent(value)
        apart = "" if amount[-1].isalpha() else THIN
        return f"{amount}{apart}{unit}"
    return _compact(value) if unit == "1" else f"{_compact(value)}{THIN}{unit}"


def _is_plain(value: float) -> bool:
    """Return whether a quantity is of a size that units have words for."""
    return not value or _TINY <= abs(value) < _LARGE


def _exponent(value: float) -> str:
    """Return a number of any size by its exponent, as 3.79e25."""
    digits, _, power = f"{value:.2e}".partition("e")
    return f"{digits}e{int(power)}"


def _precise(value: float, unit: str) -> str:
    return f"{_exponent(value)}{THIN}{unit}"


def _gpu_time(seconds: float) -> str:
    if 0 < abs(seconds) < _HOUR_S:
        return f"{_compact(seconds)}{THIN}GPU-s"
    return f"{_compact(seconds / _HOUR_S)}{THIN}GPU-h"


def _compact(value: float) -> str:
    if abs(value) >= _LARGE or 0 < abs(value) < _SMALL:
        return _exponent(value)
    if value.is_integer() and abs(value) < _WHOLE_BELOW:
        return grouped(int(value))
    return compact(value)


def difference(ratio: float | None) -> str:
    """Return how far what was measured is from the plan, with its sign."""
    if ratio is None:
        return "\N{EN DASH}"
    if abs(ratio) >= 1:
        times = 1 + ratio
        is_plain = abs(times) < _WHOLE_BELOW
        return f"{significant(times, 2) if is_plain else _exponent(times)}{THIN}times"
    if not ratio:
        return "as planned"
    sign = "+" if ratio > 0 else "\N{MINUS SIGN}"
    return f"{sign}{percent(abs(ratio))}"
