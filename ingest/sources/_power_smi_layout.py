"""The header of a log of nvidia-smi: where each field is, and in which unit."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from ingest.sources import _power_smi_cells as cells
from ingest.sources._lines_csv import cell, names_of
from ingest.tables import PowerSamples

#: Field of the time of a sample.
TIME: Final = "timestamp"

#: Other names of a field, as `nvidia-smi --help-query-gpu` lists them.
ALIASES: Final = {
    "gpu.power.draw.average": "power.draw.average",
    "gpu.power.draw.instant": "power.draw.instant",
    "gpu.power.requested_limit": "power.limit",
    "gpu.power.current_limit": "enforced.power.limit",
    "clocks.sm": "clocks.current.sm",
    "gpu_uuid": "uuid",
    "gpu_bus_id": "pci.bus_id",
}

_OLD_REASONS = "clocks_throttle_reasons"
_REASONS = "clocks_event_reasons"
_FIELD = re.compile(r"([^\[\]]+?)\s*(?:\[([^\[\]]*)\])?")

#: Fields that a column is taken from, best first, and its units.
_QUANTITIES: Final = (
    (PowerSamples.power_average_w, ("power.draw.average", "power.draw"), cells.WATTS),
    (PowerSamples.power_instant_w, ("power.draw.instant",), cells.WATTS),
    (
        PowerSamples.power_limit_w,
        ("enforced.power.limit", "power.limit"),
        cells.WATTS,
    ),
    (PowerSamples.temperature_c, ("temperature.gpu",), cells.CELSIUS),
    (PowerSamples.memory_temperature_c, ("temperature.memory",), cells.CELSIUS),
    (PowerSamples.sm_clock_mhz, ("clocks.current.sm",), cells.MEGAHERTZ),
    (PowerSamples.utilization_ratio, ("utilization.gpu",), cells.RATIO),
)

#: Reasons whose counters a column adds up; where two hold at once it is above the
#: time that was lost.
_COUNTERS: Final = (
    (PowerSamples.throttle_power_ns, ("sw_power_cap", "hw_power_brake_slowdown")),
    (PowerSamples.throttle_thermal_ns, ("sw_thermal_slowdown", "hw_thermal_slowdown")),
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of ours from the cells of a line.

    Attributes:
        value: Its value; null where the cells say that there is none.
        broken: Whether a cell of it is neither a value nor says that there is none.
    """

    value: pl.Expr
    broken: pl.Expr


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the fields of a line are.

    Attributes:
        header: The header as it was found.
        width: Fields of a line. [1]
        fields: Position and unit of each field, by name.
    """

    header: str
    width: int
    fields: Mapping[str, tuple[int, str]]

    def field(self, name: str) -> pl.Expr:
        """Return the cell of a field; null where the log has not asked for it."""
        if name not in self.fields:
            return pl.lit(None, pl.String)
        return cells.known(cell(self.fields[name][0]))

    def columns(self) -> dict[str, Column]:
        """Return the columns that the log has fields for."""
        return self._quantities() | self._counters() | self._reasons()

    def _quantities(self) -> dict[str, Column]:
        found: dict[str, Column] = {}
        for column, names, divisors in _QUANTITIES:
            pairs = [
                (known, cells.quantity(known, divisors, unit))
                for known, unit in self._known(names)
            ]
            if pairs:
                found[column.name] = _column(pairs, pl.coalesce(*_values(pairs)))
        return found

    def _counters(self) -> dict[str, Column]:
        found: dict[str, Column] = {}
        for column, reasons in _COUNTERS:
            pairs = [
                (known, cells.duration_ns(known, unit))
                for reason in reasons
                for known, unit in self._known([f"{_REASONS}_counters.{reason}"])
            ]
            if pairs:
                found[column.name] = _column(pairs, _sum(_values(pairs)))
        return found

    def _reasons(self) -> dict[str, Column]:
        masks = [
            (known, cells.mask(known))
            for known, _ in self._known([f"{_REASONS}.active"])
        ]
        bits = [
            (known, cells.bit(known, reason))
            for reason in cells.BIT_OF_REASON
            for known, _ in self._known([f"{_REASONS}.{reason}"])
        ]
        if not masks + bits:
            return {}
        value = pl.coalesce(*_values(masks), _sum(_values(bits)))
        return {PowerSamples.throttle_reasons.name: _column(masks + bits, value)}

    def _known(self, names: Sequence[str]) -> Iterator[tuple[pl.Expr, str]]:
        for name in names:
            if name in self.fields:
                yield self.field(name), self.fields[name][1]


def layout_of(line: str) -> Layout | None:
    """Return the layout that a header gives; None where the line is none for us."""
    names = names_of(line)
    fields: dict[str, tuple[int, str]] = {}
    for index, text in enumerate(names):
        if match := _FIELD.fullmatch(text):
            name = match[1].replace(_OLD_REASONS, _REASONS)
            fields.setdefault(ALIASES.get(name, name), (index, match[2] or ""))
    layout = Layout(line, len(names), fields)
    return layout if TIME in fields and layout.columns() else None


Pairs = list[tuple[pl.Expr, pl.Expr]]


def _values(pairs: Pairs) -> list[pl.Expr]:
    return [value for _, value in pairs]


def _column(pairs: Pairs, value: pl.Expr) -> Column:
    broken = [known.is_not_null() & number.is_null() for known, number in pairs]
    return Column(value, pl.any_horizontal(*broken))


def _sum(values: list[pl.Expr]) -> pl.Expr:
    """Add what is known; null where nothing is."""
    if not values:
        return pl.lit(None, pl.Int64)
    total = pl.sum_horizontal(*values)
    return pl.when(pl.any_horizontal(*(v.is_not_null() for v in values))).then(total)
