"""The header of a log of nvidia-smi: where each field is, and in which unit."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import polars as pl

from ingest.sources import _power_smi_cells as smi
from ingest.sources._lines_csv import cell, names_of
from ingest.tables import PowerSamples

#: Field of the time of a sample.
TIME: Final = "timestamp"

#: Fields that name the GPU of a sample.
UUID: Final = "uuid"
ADDRESS: Final = "pci.bus_id"
INDEX: Final = "index"

#: Other names of a field, as `nvidia-smi --help-query-gpu` lists them.
ALIASES: Final = {
    "gpu.power.draw.average": "power.draw.average",
    "gpu.power.draw.instant": "power.draw.instant",
    "gpu.power.requested_limit": "power.limit",
    "gpu.power.current_limit": "enforced.power.limit",
    "clocks.sm": "clocks.current.sm",
    "gpu_uuid": UUID,
    "gpu_bus_id": ADDRESS,
}

_REASONS = "clocks_event_reasons"
_OLD_REASONS = "clocks_throttle_reasons"
_FIELD = re.compile(r"([^\[\]]+?)\s*(?:\[([^\[\]]*)\])?")

_BITS: Final = {f"{_REASONS}.{reason}": reason for reason in smi.BIT_OF_REASON}
_POWER_COUNTERS: Final = (
    f"{_REASONS}_counters.sw_power_cap",
    f"{_REASONS}_counters.hw_power_brake_slowdown",
)
_THERMAL_COUNTERS: Final = (
    f"{_REASONS}_counters.sw_thermal_slowdown",
    f"{_REASONS}_counters.hw_thermal_slowdown",
)

#: How a cell of a field becomes a number, given the unit in the header.
_NUMBER_OF: Final[Mapping[str, Callable[[pl.Expr, str], pl.Expr]]] = {
    "power.draw.average": partial(smi.quantity, divisors=smi.WATTS),
    "power.draw": partial(smi.quantity, divisors=smi.WATTS),
    "power.draw.instant": partial(smi.quantity, divisors=smi.WATTS),
    "enforced.power.limit": partial(smi.quantity, divisors=smi.WATTS),
    "power.limit": partial(smi.quantity, divisors=smi.WATTS),
    "temperature.gpu": partial(smi.quantity, divisors=smi.CELSIUS),
    "temperature.memory": partial(smi.quantity, divisors=smi.CELSIUS),
    "clocks.current.sm": partial(smi.quantity, divisors=smi.MEGAHERTZ),
    "utilization.gpu": partial(smi.quantity, divisors=smi.RATIO),
    f"{_REASONS}.active": smi.mask,
    **{field: partial(smi.bit, reason=reason) for field, reason in _BITS.items()},
    **dict.fromkeys((*_POWER_COUNTERS, *_THERMAL_COUNTERS), smi.duration_ns),
}

#: Groups of fields that a column is taken from, best first; those of a group are added.
#: The sum of two counters is above the time that was lost where both reasons held.
_GROUPS_OF: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    PowerSamples.power_average_w.name: (("power.draw.average",), ("power.draw",)),
    PowerSamples.power_instant_w.name: (("power.draw.instant",),),
    PowerSamples.power_limit_w.name: (("enforced.power.limit",), ("power.limit",)),
    PowerSamples.temperature_c.name: (("temperature.gpu",),),
    PowerSamples.memory_temperature_c.name: (("temperature.memory",),),
    PowerSamples.sm_clock_mhz.name: (("clocks.current.sm",),),
    PowerSamples.utilization_ratio.name: (("utilization.gpu",),),
    PowerSamples.throttle_reasons.name: ((f"{_REASONS}.active",), tuple(_BITS)),
    PowerSamples.throttle_power_ns.name: (_POWER_COUNTERS,),
    PowerSamples.throttle_thermal_ns.name: (_THERMAL_COUNTERS,),
}


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the fields of a line are.

    Attributes:
        header: The header as it was found.
        width: Fields of a line. [1]
        fields: Position and unit of each field that is read, by name.
    """

    header: str
    width: int
    fields: Mapping[str, tuple[int, str]]

    @property
    def measures(self) -> bool:
        """Whether a field fills a column."""
        return not self.fields.keys().isdisjoint(_NUMBER_OF)

    def cells(self) -> list[pl.Expr]:
        """Return the fields of split lines as columns; null where there is no value."""
        named = [
            smi.known(cell(index)).alias(field)
            for field, (index, _) in self.fields.items()
        ]
        absent = {TIME, UUID, ADDRESS, INDEX} - self.fields.keys()
        return named + [pl.lit(None, pl.String).alias(field) for field in absent]

    def numbers(self) -> list[pl.Expr]:
        """Return the columns of `cells` as numbers; null where one is none."""
        return [
            _NUMBER_OF[field](pl.col(field), unit).alias(_number(field))
            for field, (_, unit) in self.fields.items()
            if field in _NUMBER_OF
        ]

    def columns(self) -> dict[str, tuple[pl.Expr, pl.Expr]]:
        """Return what `cells` and `numbers` make of our columns.

        Returns:
            The value, and whether a cell is neither a number nor says that there is
            none, by column.
        """
        found: dict[str, tuple[pl.Expr, pl.Expr]] = {}
        for column, groups in _GROUPS_OF.items():
            there = [[f for f in group if f in self.fields] for group in groups]
            used = [field for group in there for field in group]
            if used:
                value = pl.coalesce(*(_sum(group) for group in there if group))
                broken = [
                    pl.col(field).is_not_null() & pl.col(_number(field)).is_null()
                    for field in used
                ]
                found[column] = (value, pl.any_horizontal(*broken))
        return found


def layout_of(line: str) -> Layout | None:
    """Return the layout that a header gives; None where the line is none for us."""
    names = names_of(line)
    fields: dict[str, tuple[int, str]] = {}
    for index, text in enumerate(names):
        if match := _FIELD.fullmatch(text):
            name = match[1].replace(_OLD_REASONS, _REASONS)
            name = ALIASES.get(name, name)
            if name in _NUMBER_OF or name in {TIME, UUID, ADDRESS, INDEX}:
                fields.setdefault(name, (index, match[2] or ""))
    layout = Layout(line, len(names), fields)
    return layout if TIME in fields and layout.measures else None


def _number(field: str) -> str:
    return f"{field} as a number"


def _sum(fields: list[str]) -> pl.Expr:
    """Add what is known; null where nothing is."""
    numbers = [pl.col(_number(field)) for field in fields]
    if len(numbers) == 1:
        return numbers[0]
    any_known = pl.any_horizontal(*(number.is_not_null() for number in numbers))
    return pl.when(any_known).then(pl.sum_horizontal(*numbers))
