"""What power tools measure of a GPU, by one name each, and the columns it fills.

The names are those that `nvidia-smi --help-query-gpu` lists. A source that finds the
same quantity under another name or at another place (an element of XML, a line of
`nvidia-smi -q`, a column of `dmon`, a key of an AMD tool) calls its cells by them.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

import polars as pl

from ingest.sources._power import smi_cells as smi
from ingest.tables import PowerSamples

#: Fields that name the GPU of a sample, and its node.
UUID: Final = "uuid"
ADDRESS: Final = "pci.bus_id"
INDEX: Final = "index"
HOST: Final = "hostname"
IDENTITY: Final = (UUID, ADDRESS, INDEX, HOST)

#: The counter of energy, which nvidia-smi does not query, but other tools do.
ENERGY: Final = "energy"

#: The edge of a chip, which AMD tools tell beside its hottest point: taken where that
#: is not told.
EDGE: Final = "temperature.edge"

#: Other names of a field, as `nvidia-smi --help-query-gpu` lists them.
ALIASES: Final = {
    "gpu.power.draw.average": "power.draw.average",
    "gpu.power.draw.instant": "power.draw.instant",
    "gpu.power.requested_limit": "power.limit",
    "gpu.power.current_limit": "enforced.power.limit",
    "module.power.requested_limit": "module.power.limit",
    "module.power.current_limit": "module.enforced.power.limit",
    "clocks.sm": "clocks.current.sm",
    "gpu_uuid": UUID,
    "gpu_bus_id": ADDRESS,
}

#: What the fields of the module start with: a GPU with the CPU that shares its supply.
MODULE: Final = "module."

REASONS: Final = "clocks_event_reasons"
_OLD_REASONS = "clocks_throttle_reasons"

_BITS: Final = {f"{REASONS}.{reason}": reason for reason in smi.BIT_OF_REASON}
_POWER_COUNTERS: Final = (
    f"{REASONS}_counters.sw_power_cap",
    f"{REASONS}_counters.hw_power_brake_slowdown",
)
_THERMAL_COUNTERS: Final = (
    f"{REASONS}_counters.sw_thermal_slowdown",
    f"{REASONS}_counters.hw_thermal_slowdown",
)
_WATTS: Final = (
    "power.draw.average",
    "power.draw",
    "power.draw.instant",
    "enforced.power.limit",
    "power.limit",
)

#: How a cell of a field becomes a number, given the unit in the header.
_NUMBER_OF: Final[Mapping[str, Callable[[pl.Expr, str], pl.Expr]]] = {
    **dict.fromkeys(_WATTS, partial(smi.quantity, divisors=smi.WATTS)),
    ENERGY: smi.energy_mj,
    "temperature.gpu": partial(smi.quantity, divisors=smi.CELSIUS, signed=True),
    EDGE: partial(smi.quantity, divisors=smi.CELSIUS, signed=True),
    "temperature.memory": partial(smi.quantity, divisors=smi.CELSIUS, signed=True),
    "clocks.current.sm": partial(smi.quantity, divisors=smi.MEGAHERTZ),
    "utilization.gpu": partial(smi.quantity, divisors=smi.RATIO),
    f"{REASONS}.active": smi.mask,
    **{field: partial(smi.bit, reason=reason) for field, reason in _BITS.items()},
    **dict.fromkeys((*_POWER_COUNTERS, *_THERMAL_COUNTERS), smi.duration_ns),
}

#: Groups of fields that a column is taken from, best first; those of a group are added.
#: The sum of two counters is above the time that was lost where both reasons held.
_GROUPS_OF: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    PowerSamples.power_average_w.name: (("power.draw.average",), ("power.draw",)),
    PowerSamples.power_instant_w.name: (("power.draw.instant",),),
    PowerSamples.power_limit_w.name: (("enforced.power.limit",), ("power.limit",)),
    PowerSamples.energy_mj.name: ((ENERGY,),),
    PowerSamples.temperature_c.name: (("temperature.gpu",), (EDGE,)),
    PowerSamples.memory_temperature_c.name: (("temperature.memory",),),
    PowerSamples.sm_clock_mhz.name: (("clocks.current.sm",),),
    PowerSamples.utilization_ratio.name: (("utilization.gpu",),),
    PowerSamples.throttle_reasons.name: ((f"{REASONS}.active",), tuple(_BITS)),
    PowerSamples.throttle_power_ns.name: (_POWER_COUNTERS,),
    PowerSamples.throttle_thermal_ns.name: (_THERMAL_COUNTERS,),
}


def canonical(name: str) -> str | None:
    """Return the one name of a field; None where it is neither stored nor a name."""
    name = name.replace(_OLD_REASONS, REASONS)
    name = ALIASES.get(name, name)
    return name if name in IDENTITY or measures([name]) else None


def measures(fields: Iterable[str]) -> bool:
    """Return whether one of the fields fills a column, of the GPU or of its module."""
    return any(
        field in _NUMBER_OF or field.removeprefix(MODULE) in _WATTS for field in fields
    )


def of_module(fields: Iterable[str]) -> list[str]:
    """Return the fields of the module, by the names that those of a GPU have."""
    own = [field.removeprefix(MODULE) for field in fields if field.startswith(MODULE)]
    return [field for field in own if field in _WATTS]


def numbers(units: Mapping[str, str]) -> list[pl.Expr]:
    """Return the known cells of fields as numbers; null where one is none.

    Args:
        units: Unit in the header of each field, by its name.
    """
    return [
        _NUMBER_OF[field](pl.col(field), unit).alias(_number(field))
        for field, unit in units.items()
        if field in _NUMBER_OF
    ]


def columns(fields: Iterable[str]) -> dict[str, tuple[pl.Expr, pl.Expr]]:
    """Return what known cells of fields and their `numbers` make of our columns.

    Returns:
        The value, and whether a cell is neither a number nor says that there is none,
        by column.
    """
    known = set(fields)
    found: dict[str, tuple[pl.Expr, pl.Expr]] = {}
    for column, groups in _GROUPS_OF.items():
        there = [[field for field in group if field in known] for group in groups]
        used = [field for group in there for field in group]
        if used:
            value = pl.coalesce(*(_sum(group) for group in there if group))
            broken = [
                pl.col(field).is_not_null() & pl.col(_number(field)).is_null()
                for field in used
            ]
            found[column] = (value, pl.any_horizontal(*broken))
    return found


def _number(field: str) -> str:
    return f"{field} as a number"


def _sum(fields: list[str]) -> pl.Expr:
    """Add what is known; null where nothing is."""
    found = [pl.col(_number(field)) for field in fields]
    if len(found) == 1:
        return found[0]
    any_known = pl.any_horizontal(*(number.is_not_null() for number in found))
    return pl.when(any_known).then(pl.sum_horizontal(*found))
