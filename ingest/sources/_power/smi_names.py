"""Where `nvidia-smi -q` has each field, in its XML and in its text.

The names of `nvidia-smi --query-gpu` stand for both. Power moved twice: schema 11 has
`power_readings`, schema 12 `gpu_power_readings` with a `power_draw`, schema 13 the same
with an average and an instant draw; driver 610 has the limits in a group of their own,
one deeper. The text took the same steps.
"""

from typing import Final

from ingest.sources._power.fields import ADDRESS, REASONS, UUID

_COUNTERS = f"{REASONS}_counters"

#: Fields of a group of power, by their elements.
_OF_POWER: Final = {
    "power_draw": "power.draw",
    "average_power_draw": "power.draw.average",
    "instant_power_draw": "power.draw.instant",
    "enforced_power_limit": "enforced.power.limit",
    "current_power_limit": "enforced.power.limit",
    "power_limit": "power.limit",
    "requested_power_limit": "power.limit",
}

#: Elements of the reasons for a lowered clock, without what each starts with.
_REASONS: Final = {
    "gpu_idle": "Idle",
    "applications_clocks_setting": "Applications Clocks Setting",
    "sw_power_cap": "SW Power Cap",
    "hw_slowdown": "HW Slowdown",
    "hw_thermal_slowdown": "HW Thermal Slowdown",
    "hw_power_brake_slowdown": "HW Power Brake Slowdown",
    "sync_boost": "Sync Boost",
    "sw_thermal_slowdown": "SW Thermal Slowdown",
    "display_clocks_setting": "Display Clock Setting",
}

#: Counters of time at a lowered clock, by element and line.
_TIMES: Final = {
    "sw_power_cap": ("sw_power_cap", "SW Power Capping"),
    "hw_power_brake": ("hw_power_brake_slowdown", "HW Power Braking"),
    "sw_therm_slowdown": ("sw_thermal_slowdown", "SW Thermal Slowdown"),
    "hw_therm_slowdown": ("hw_thermal_slowdown", "HW Thermal Slowdown"),
}

#: Fields by the path of their element below `gpu`.
FIELD_OF_PATH: Final[dict[tuple[str, ...], str]] = {
    ("uuid",): UUID,
    ("pci", "pci_bus_id"): ADDRESS,
    ("temperature", "gpu_temp"): "temperature.gpu",
    ("temperature", "memory_temp"): "temperature.memory",
    ("clocks", "sm_clock"): "clocks.current.sm",
    ("utilization", "gpu_util"): "utilization.gpu",
    **{("power_readings", tag): field for tag, field in _OF_POWER.items()},
    **{("gpu_power_readings", tag): field for tag, field in _OF_POWER.items()},
    **{
        ("gpu_power_readings", "gpu_ceiling_power_limit", tag): field
        for tag, field in _OF_POWER.items()
        if tag.endswith("power_limit")
    },
    **{
        ("module_power_readings", tag): f"module.{field}"
        for tag, field in _OF_POWER.items()
    },
    **{
        (f"clocks_{word}_reasons", f"clocks_{word}_reason_{tag}"): f"{REASONS}.{tag}"
        for word in ("throttle", "event")
        for tag in _REASONS
    },
    **{
        (_COUNTERS, f"{_COUNTERS}_{tag}"): f"{_COUNTERS}.{name}"
        for tag, (name, _) in _TIMES.items()
    },
}

#: Fields by the heading above their line and its key.
FIELD_OF_LINE: Final[dict[tuple[str, str], str]] = {
    ("Temperature", "GPU Current Temp"): "temperature.gpu",
    ("Temperature", "Memory Current Temp"): "temperature.memory",
    ("Clocks", "SM"): "clocks.current.sm",
    ("Utilization", "GPU"): "utilization.gpu",
    ("Utilization", "Gpu"): "utilization.gpu",
    **{
        (heading, key): prefix + field
        for heading, prefix in (
            ("Power Readings", ""),
            ("GPU Power Readings", ""),
            ("GPU Ceiling Power Limit", ""),
            ("Module Power Readings", "module."),
        )
        for key, field in (
            ("Power Draw", "power.draw"),
            ("Average Power Draw", "power.draw.average"),
            ("Instantaneous Power Draw", "power.draw.instant"),
            ("Enforced Power Limit", "enforced.power.limit"),
            ("Current Power Limit", "enforced.power.limit"),
            ("Power Limit", "power.limit"),
            ("Requested Power Limit", "power.limit"),
        )
    },
    **{
        (f"Clocks {word} Reasons", key): f"{REASONS}.{tag}"
        for word in ("Throttle", "Event")
        for tag, key in _REASONS.items()
    },
    **{
        ("Clocks Event Reasons Counters", key): f"{_COUNTERS}.{name}"
        for name, key in _TIMES.values()
    },
}

#: Every field that either has.
FIELDS: Final = tuple(dict.fromkeys([*FIELD_OF_PATH.values(), *FIELD_OF_LINE.values()]))
