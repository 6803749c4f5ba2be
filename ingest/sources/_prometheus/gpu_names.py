"""Metrics of GPUs, by every name that exporters have given them.

* dcgm-exporter: the names of DCGM, those of DCGM 4.6 and later, and of exporter 1.x
  (etc/*.csv of NVIDIA/dcgm-exporter, dcgm_fields.h of NVIDIA/DCGM). Fields 240 to 247
  count nanoseconds, whatever a help text says.
* nvidia_gpu_exporter (utkuozdemir): fields of `nvidia-smi --query-gpu`, the unit in the
  name: MHz have become Hz, percent a ratio, and microseconds seconds.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final

from ingest.sources._prometheus.kinds import (
    INT64_BLANK,
    LONGEST_NS,
    LONGEST_S,
    MOST_JOULES,
    Field,
)
from ingest.tables import PowerSamples

_Gpu: Final = partial(Field, table=PowerSamples)
_Ns: Final = partial(_Gpu, kind="integer", blank=LONGEST_NS)
_Seconds: Final = partial(_Gpu, kind="seconds", blank=LONGEST_S)
_Energy: Final = partial(_Gpu, kind="integer", column=PowerSamples.energy_mj.name)

_POWER_NS: Final = PowerSamples.throttle_power_ns.name
_HEAT_NS: Final = PowerSamples.throttle_thermal_ns.name
_LIMIT: Final = PowerSamples.power_limit_w.name
_BUSY: Final = PowerSamples.utilization_ratio.name

_AVERAGE: Final = _Gpu("average", column=PowerSamples.power_average_w.name)
_DRAW: Final = _Gpu("draw", column=PowerSamples.power_average_w.name, order=1)
_INSTANT: Final = _Gpu("instant", column=PowerSamples.power_instant_w.name)
_ENFORCED: Final = _Gpu("enforced limit", column=_LIMIT)
_REQUESTED: Final = _Gpu("requested limit", column=_LIMIT, order=1)
_MILLIJOULES: Final = _Energy("mJ", blank=INT64_BLANK)
_JOULES: Final = _Energy("J", blank=MOST_JOULES, order=1, multiplier=1_000)
_CHIP: Final = _Gpu("chip", column=PowerSamples.temperature_c.name)
_MEMORY: Final = _Gpu("memory", column=PowerSamples.memory_temperature_c.name)
_CLOCK: Final = _Gpu("MHz", column=PowerSamples.sm_clock_mhz.name)
_CLOCK_HZ: Final = _Gpu(
    "Hz", column=PowerSamples.sm_clock_mhz.name, divisor=1e6, blank=INT64_BLANK
)
_REASONS: Final = _Gpu(
    "reasons", column=PowerSamples.throttle_reasons.name, kind="integer"
)
_XID: Final = _Gpu("last Xid", column=PowerSamples.last_xid.name, kind="integer")
_POWER: Final = _Ns("power", column=_POWER_NS)
_HEAT: Final = _Ns("heat", column=_HEAT_NS)
_PART: Final = {"order": 1, "is_part": True}
_CAP: Final = _Ns("software cap", column=_POWER_NS, **_PART)
_BRAKE: Final = _Ns("power brake", column=_POWER_NS, **_PART)
_SOFTWARE_HEAT: Final = _Ns("software heat", column=_HEAT_NS, **_PART)
_HARDWARE_HEAT: Final = _Ns("hardware heat", column=_HEAT_NS, **_PART)
_CAP_S: Final = _Seconds("software cap [s]", column=_POWER_NS, **_PART)
_BRAKE_S: Final = _Seconds("power brake [s]", column=_POWER_NS, **_PART)
_SOFTWARE_HEAT_S: Final = _Seconds("software heat [s]", column=_HEAT_NS, **_PART)
_HARDWARE_HEAT_S: Final = _Seconds("hardware heat [s]", column=_HEAT_NS, **_PART)
_PERCENT: Final = _Gpu("busy", column=_BUSY, kind="percent")
_EITHER: Final = _Gpu("busy, either", column=_BUSY, kind="percent_or_ratio", order=1)
_RATIO: Final = _Gpu("busy ratio", column=_BUSY)

#: Of the engine where the GPU itself has no utilization: it is absent under MIG.
_ENGINE: Final = _Gpu("engine", column=_BUSY, order=2)

_DCGM: Final = {
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
    "DCGM_FI_DEV_XID_ERRORS": _XID,
    "DCGM_FI_DEV_XID_ERROR": _XID,
    "dcgm_xid_errors": _XID,
    "DCGM_FI_DEV_POWER_VIOLATION": _POWER,
    "dcgm_power_violation": _POWER,
    "DCGM_FI_DEV_THERMAL_VIOLATION": _HEAT,
    "dcgm_thermal_violation": _HEAT,
    "DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS": _CAP,
    "DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN_NS": _BRAKE,
    "DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN_NS": _SOFTWARE_HEAT,
    "DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS": _HARDWARE_HEAT,
    "DCGM_FI_DEV_GPU_UTIL": _PERCENT,
    "dcgm_gpu_utilization": _PERCENT,
    "DCGM_FI_DEV_GPU_UTIL_RATIO": _EITHER,
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": _ENGINE,
    "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO": _ENGINE,
}

#: Names of before driver 535 say `throttle` where later ones say `event`.
_REASON: Final = ("clocks_event_reasons", "clocks_throttle_reasons")

_SMI: Final = {
    "power_draw_average_watts": _AVERAGE,
    "power_draw_watts": _DRAW,
    "power_draw_instant_watts": _INSTANT,
    "enforced_power_limit_watts": _ENFORCED,
    "power_limit_watts": _REQUESTED,
    "temperature_gpu": _CHIP,
    "temperature_memory": _MEMORY,
    "clocks_current_sm_clock_hz": _CLOCK_HZ,
    "utilization_gpu_ratio": _RATIO,
    **{f"{reason}_active": _REASONS for reason in _REASON},
    **{
        f"{reason}_counters_{name}_seconds": field
        for reason in _REASON
        for name, field in (
            ("sw_power_cap", _CAP_S),
            ("hw_power_brake_slowdown", _BRAKE_S),
            ("sw_thermal_slowdown", _SOFTWARE_HEAT_S),
            ("hw_thermal_slowdown", _HARDWARE_HEAT_S),
        )
    },
}

#: What the metrics of nvidia_gpu_exporter start with.
SMI_PREFIX: Final = "nvidia_smi_"

#: Fields that a part of a GPU has for itself; not the GPU's where a label names a part.
PER_INSTANCE: Final = frozenset({_ENGINE})

#: The one table of names.
GPU_FIELDS: Final[Mapping[str, Field]] = _DCGM | {
    SMI_PREFIX + name: field for name, field in _SMI.items()
}
