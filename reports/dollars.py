"""Money: the only file that multiplies by a price."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from reports._numbers import compact, rounding_unit
from reports._sql import literal

#: Nanoseconds of a GPU-hour.
NS_PER_GPU_HOUR: Final = 3_600_000_000_000

#: Joules of a kilowatt-hour.
J_PER_KWH: Final = 3_600_000

#: Below this, two significant digits say enough of an amount. [USD]
CENT: Final = Decimal("0.01")

#: Less than this is said to be less: its digits say nothing to anybody. [USD]
_LEAST: Final = Decimal("0.000001")

#: Significant digits of an amount, and of one below a cent. [1]
_DIGITS: Final = 3
_DIGITS_BELOW_CENT: Final = 2

#: Below this a cent is too coarse to tell accounts apart.
_CENTS_FROM: Final = 10

#: Cents say nothing beside a hundred dollars.
_WHOLE_DOLLARS_FROM: Final = 100


@dataclass(frozen=True)
class Price:
    """What a GPU-hour costs, and who said so.

    Attributes:
        usd_per_gpu_hour: Rent of a GPU-hour; when owned, its capital cost. [USD]
        source: Where the price came from.
        mode: Rented, electricity included, or owned, electricity apart.
        usd_per_kwh: Price of electricity, for owned GPUs. [USD]
        pue: Power of the facility over that of the machines. [1]
    """

    usd_per_gpu_hour: Decimal
    source: Literal["run card", "setting", "default"]
    mode: Literal["rental", "owned"] = "rental"
    usd_per_kwh: Decimal | None = None
    pue: Decimal = Decimal(1)


def price_of(prices: Mapping[str, Price], run_id: str) -> Price:
    """Return the price of a run: its own, or the fallback under the empty name."""
    return prices.get(run_id, prices[""])


def dollars(gpu_ns: int, price: Price) -> Decimal:
    """Return what GPU time costs. [USD]

    Args:
        gpu_ns: GPU time. [ns]
        price: Price of the run that paid for it.
    """
    return Decimal(gpu_ns) * price.usd_per_gpu_hour / NS_PER_GPU_HOUR


def energy_dollars(energy_j: float, price: Price) -> Decimal | None:
    """Return what energy costs, None where the price already contains it. [USD]

    A rental price contains electricity, so that energy is priced for owned GPUs only.

    Args:
        energy_j: Energy of the GPUs. [J]
        price: Price of the run that used it.
    """
    if price.mode != "owned" or price.usd_per_kwh is None:
        return None
    return Decimal(energy_j) * price.usd_per_kwh * price.pue / J_PER_KWH


def rounding_unit_usd(total: Decimal) -> Decimal:
    """Return what rows of a table are rounded to: whole dollars or cents, if it can be.

    Args:
        total: Sum of the rows. [USD]
    """
    unit = rounding_unit(total)
    if total < _CENTS_FROM:
        return unit
    return max(unit, Decimal(1) if total >= _WHOLE_DOLLARS_FROM else Decimal("0.01"))


def price_sql(prices: Mapping[str, Price]) -> str:
    """Return the SQL expression for the price of a row's run."""
    fallback = f"{prices[''].usd_per_gpu_hour}"
    own = [
        f"WHEN {literal(run_id)} THEN {price.usd_per_gpu_hour}"
        for run_id, price in sorted(prices.items())
        if run_id
    ]
    if not own:
        return fallback
    return f"CASE run_id {' '.join(own)} ELSE {fallback} END"


def in_words(amount: Decimal) -> str:
    """Return an amount with its unit: three significant digits, two below a cent."""
    return f"{figure(amount)}\N{NARROW NO-BREAK SPACE}USD"


def figure(amount: Decimal) -> str:
    """Return an amount as it stands under a title that says its unit."""
    if 0 < amount < _LEAST:
        return f"<\N{NARROW NO-BREAK SPACE}{_LEAST:f}"
    is_little = 0 < amount < CENT
    return compact(amount, _DIGITS_BELOW_CENT if is_little else _DIGITS)


def rate_in_words(price: Price) -> str:
    """Return a price as a person would say it."""
    rate = f"{price.usd_per_gpu_hour:f}"
    owned = ", owned: capital cost" if price.mode == "owned" else ""
    return f"{rate}\N{NARROW NO-BREAK SPACE}USD per GPU-hour ({price.source}{owned})"
