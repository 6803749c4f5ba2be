"""What an incident cost: GPU-hours and dollars, to the cent."""

from decimal import Decimal
from typing import Final

from reports._claim_facts import Facts
from reports._numbers import apportion, grouped
from reports._partly import partly
from reports._section import Scope
from reports.dollars import NS_PER_GPU_HOUR, Price, dollars

#: Digits of GPU-hours and of dollars: what is claimed is said to the cent.
_HOURS: Final = Decimal("0.0001")
_CENTS: Final = Decimal("0.01")

#: GPU-hours from which two digits say enough.
_MANY: Final = 10


def cost(facts: Facts, scope: Scope) -> str:
    """Return what was lost to the stops, in words, as far as it is known."""
    hours, usd = total(facts, scope)
    is_whole = not facts.phases["gpu_ns"].null_count()
    if not hours and not is_whole:
        return "an amount that is not known"
    paid, lost = hours.quantize(_unit(hours)), usd.quantize(_CENTS)
    words = f"{grouped(paid)} GPU-hours, {grouped(lost)} USD"
    return partly(words, has_known=True, is_whole=is_whole)


def total(facts: Facts, scope: Scope) -> tuple[Decimal, Decimal]:
    """Return the GPU time [h] and the dollars [USD] lost to all stops."""
    rows = facts.phases.select("run_id", "gpu_ns").drop_nulls().iter_rows()
    paid = [(int(gpu_ns), scope.price(run)) for run, gpu_ns in rows]
    hours = Decimal(sum(gpu_ns for gpu_ns, _ in paid)) / NS_PER_GPU_HOUR
    return hours, sum((dollars(ns, price) for ns, price in paid), Decimal(0))


def rounded(gpu_ns: list[int], price: Price) -> tuple[list[Decimal], list[Decimal]]:
    """Return GPU-hours and dollars, rounded so that they still add up."""
    hours = [Decimal(ns) / NS_PER_GPU_HOUR for ns in gpu_ns]
    usd = [dollars(ns, price) for ns in gpu_ns]
    unit = _unit(sum(hours, Decimal()))
    return apportion(hours, unit), apportion(usd, _CENTS)


def _unit(hours: Decimal) -> Decimal:
    """Return what GPU-hours are rounded to: hundredths where there are many."""
    return _CENTS if hours >= _MANY else _HOURS
