"""Fields of DCGM that are stored, by every name that exporters have given them."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Final, Literal

from ingest.tables import PowerSamples

Number = int | float

#: Where the blanks of a 32-bit field begin (dcgm_structs.h, DCGM_INT32_BLANK). Those of
#: floats and of 64-bit fields lie above, and no gauge reaches it.
INT32_BLANK: Final = 0x7FFFFFF0

#: Where the blanks of a 64-bit counter begin (dcgm_structs.h, DCGM_INT64_BLANK).
INT64_BLANK: Final = 0x7FFFFFFFFFFFFFF0

#: Where a counter of time cannot have come; 73 years. Its blanks lie above. [ns]
LONGEST_NS: Final = 2**61

#: Where a counter of energy cannot have come; its mJ would not fit an Int64. [J]
MOST_JOULES: Final = INT64_BLANK // 1_000


@dataclass(frozen=True, slots=True)
class Field:
    """A field that fills a column.

    Attributes:
        number: Its number in DCGM.
        column: The column.
        blank: Values from here on are blanks: tested by >=, since there are several of
            them and a float64 on the way makes yet another of each.
        order: Of the fields of a column those of the lowest order are added up.
        kind: Whether it holds integers, percent, or percent where it is an integer and
            a ratio where it is not: DCGM 4.6 and 4.7 give one name to both, and the
            exporter prints floats with decimals.
        multiplier: What an integer is multiplied by.
    """

    number: int
    column: str
    blank: int = INT32_BLANK
    order: int = 0
    kind: Literal["quantity", "integer", "percent", "percent_or_ratio"] = "quantity"
    multiplier: int = 1

    def convert(self, value: Number) -> Number | None:
        """Return a sample in the column's unit; None where it is blank.

        Raises:
            ValueError: If it cannot be a value of the field.
        """
        if isinstance(value, float) and isnan(value):
            return None
        if value >= self.blank:
            return None
        if value <= -INT32_BLANK:
            raise ValueError(value)
        if self.kind == "integer":
            return _whole(value) * self.multiplier
        is_percent = self.kind == "percent" or isinstance(value, int)
        return value / 100 if is_percent and self.kind != "quantity" else float(value)


def _whole(value: Number) -> int:
    if value < 0 or value != int(value):
        raise ValueError(value)
    return int(value)


_POWER_NS = PowerSamples.throttle_power_ns.name
_THERMAL_NS = PowerSamples.throttle_thermal_ns.name
_LIMIT = PowerSamples.power_limit_w.name
_ENERGY = PowerSamples.energy_mj.name

_AVERAGE: Final = Field(155, PowerSamples.power_average_w.name)
_INSTANT: Final = Field(157, PowerSamples.power_instant_w.name)
_ENFORCED: Final = Field(164, _LIMIT)
_REQUESTED: Final = Field(160, _LIMIT, order=1)
_MILLIJOULES: Final = Field(156, _ENERGY, INT64_BLANK, kind="integer")
_JOULES: Final = Field(
    1611, _ENERGY, MOST_JOULES, order=1, kind="integer", multiplier=1_000
)
_CHIP: Final = Field(150, PowerSamples.temperature_c.name)
_MEMORY: Final = Field(140, PowerSamples.memory_temperature_c.name)
_CLOCK: Final = Field(100, PowerSamples.sm_clock_mhz.name)
_REASONS: Final = Field(112, PowerSamples.throttle_reasons.name, kind="integer")
_POWER_VIOLATION: Final = Field(240, _POWER_NS, LONGEST_NS, kind="integer")
_THERMAL_VIOLATION: Final = Field(241, _THERMAL_NS, LONGEST_NS, kind="integer")
_SOFTWARE_CAP: Final = Field(1420, _POWER_NS, LONGEST_NS, order=1, kind="integer")
_POWER_BRAKE: Final = Field(1424, _POWER_NS, LONGEST_NS, order=1, kind="integer")
_SOFTWARE_HEAT: Final = Field(1422, _THERMAL_NS, LONGEST_NS, order=1, kind="integer")
_HARDWARE_HEAT: Final = Field(1423, _THERMAL_NS, LONGEST_NS, order=1, kind="integer")
_BUSY: Final = Field(203, PowerSamples.utilization_ratio.name, kind="percent")
_BUSY_RATIO: Final = Field(
    1613, PowerSamples.utilization_ratio.name, order=1, kind="percent_or_ratio"
)

#: The one table of names: of the exporter, of DCGM 4.6 and later, of exporter 1.x.
FIELD_OF_NAME: Final[Mapping[str, Field]] = {
    "DCGM_FI_DEV_POWER_USAGE": _AVERAGE,
    "DCGM_FI_DEV_BOARD_POWER_WATTS": _AVERAGE,
    "dcgm_power_usage": _AVERAGE,
    "DCGM_FI_DEV_POWER_USAGE_INSTANT": _INSTANT,
    "DCGM_FI_DEV_BOARD_POWER_RAW_WATTS": _INSTANT,
    "DCGM_FI_DEV_ENFORCED_POWER_LIMIT": _ENFORCED,
    "DCGM_FI_DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS": _ENFORCED,
    "DCGM_FI_DEV_POWER_MGMT_LIMIT": _REQUESTED,
    "DCGM_FI_DEV_BOARD_POWER_LIMIT_REQUESTED_WATTS": _REQUESTED,
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": _MILLIJOULES,
    "dcgm_total_energy_consumption": _MILLIJOULES,
    "DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL": _JOULES,
    "DCGM_FI_DEV_GPU_TEMP": _CHIP,
    "DCGM_FI_DEV_GPU_TEMP_CELSIUS": _CHIP,
    "dcgm_gpu_temp": _CHIP,
    "DCGM_FI_DEV_MEMORY_TEMP": _MEMORY,
    "DCGM_FI_DEV_MEMORY_TEMP_CELSIUS": _MEMORY,
    "dcgm_memory_temp": _MEMORY,
    "DCGM_FI_DEV_SM_CLOCK": _CLOCK,
    "dcgm_sm_clock": _CLOCK,
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": _REASONS,
    "DCGM_FI_DEV_CLOCKS_EVENT_REASONS": _REASONS,
    "DCGM_FI_DEV_POWER_VIOLATION": _POWER_VIOLATION,
    "dcgm_power_violation": _POWER_VIOLATION,
    "DCGM_FI_DEV_THERMAL_VIOLATION": _THERMAL_VIOLATION,
    "dcgm_thermal_violation": _THERMAL_VIOLATION,
    "DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS": _SOFTWARE_CAP,
    "DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN_NS": _POWER_BRAKE,
    "DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN_NS": _SOFTWARE_HEAT,
    "DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS": _HARDWARE_HEAT,
    "DCGM_FI_DEV_GPU_UTIL": _BUSY,
    "dcgm_gpu_utilization": _BUSY,
    "DCGM_FI_DEV_GPU_UTIL_RATIO": _BUSY_RATIO,
}


def field_of(metric: str) -> Field | None:
    """Return the field of a metric; None where it is of no column."""
    return FIELD_OF_NAME.get(metric.removesuffix("_total"))


def combine(cells: Mapping[Field, Number], column: str) -> Number | None:
    """Return what the fields of a GPU say of a column."""
    fields = [field for field in cells if field.column == column]
    order = min((field.order for field in fields), default=0)
    known = [cells[field] for field in fields if field.order == order]
    return sum(known) if known else None
