"""Numbers of a plan with their price, and as a person reads them."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

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

#: Units that stand behind a number with a letter, from a thousand on, so that numbers
#: of one row read alike.
_LETTERED: Final = ("B", "B/s", "W", "J")
_LETTERS: Final = ("", "k", "M", "G", "T", "P")
_THOUSAND: Final = 1000

#: Lines that are shares of a whole, read as percentages.
_SHARES: Final = frozenset(
    {
        "best_waste",
        "bubble_of_ideal",
        "bubble_of_step",
        "communication_sm_share",
        "data_store_share",
        "interval_waste",
        "mfu",
        "unsharded_memory_share",
    }
)

#: A year of arXiv papers and of calendars on average. [s]
_YEAR_S: Final = 365.25 * 86_400

#: Below this many years a shorter unit says it.
_YEARS_FROM: Final = 2


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


def in_words(value: float | None, unit: str, line: str = "") -> str:
    """Return a value with its unit as a person would say it.

    Args:
        value: The value; None where there is none.
        unit: Its unit.
        line: Name of its line, some of which are shares.
    """
    if value is None:
        return "\N{EN DASH}"
    if unit == "years" and 0 <= value < _YEARS_FROM:
        value, unit = value * _YEAR_S, "s"
    if unit == _GPU_TIME:
        return _gpu_time(value)
    if unit == "s":
        return duration(value * SECOND_NS) if _is_plain(value) else _precise(value, "s")
    if unit in _LETTERED:
        return _lettered(value, unit)
    if unit != "1":
        return f"{_compact(value)}{THIN}{unit}"
    return _plain_number(value, is_share=line in _SHARES)


def _plain_number(value: float, *, is_share: bool) -> str:
    """Return a number without unit, a share in percent."""
    if is_share and value < _WHOLE_BELOW:
        return percent(value)
    return f"<{THIN}{_SMALL}" if 0 < value < _SMALL else _compact(value)


def _lettered(value: float, unit: str) -> str:
    """Return an amount with the letter of its thousands, of three digits."""
    if not _is_plain(value):
        return _precise(value, unit)
    amount, place = float(f"{value:.2e}"), 0
    while abs(amount) >= _THOUSAND and place < len(_LETTERS) - 1:
        amount, place = amount / _THOUSAND, place + 1
    return f"{significant(amount)}{THIN}{_LETTERS[place]}{unit}"


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


def beside(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what was planned, what was measured, and how far apart they are.

    Args:
        row: A line of a plan.
    """
    planned, found = (
        in_words(row[column], row["unit"], row["name"])
        for column in ("value", "measured")
    )
    # a difference below the digits that are shown is none to a reader
    is_alike = planned == found and found != "\N{EN DASH}"
    ratio = 0.0 if is_alike else row["difference_ratio"]
    return planned, found, difference(ratio)
