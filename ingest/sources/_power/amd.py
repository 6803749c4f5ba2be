"""What the tools of AMD call the fields of a GPU.

* rocm-smi has `Average Graphics Package Power` up to MI200 and `Current Socket Graphics
  Package Power` from MI300 on; `Max ... Power` is the limit that is set.
* amd-smi has one `socket_power`, which is the average up to MI200 and the current power
  from MI300 on (amdsmi_power_info_t): it is stored as `power_average_w` like the
  `power.draw` of NVIDIA, which has the same two meanings.
* The temperature is that of the hottest point, and that of the edge where it is not
  told. Of several graphics clocks the first is taken.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ingest.sources._power.fields import ADDRESS, EDGE, ENERGY, INDEX, UUID

#: Fields of rocm-smi by its label, and the unit that the label gives.
ROCM: Final[Mapping[str, tuple[str, str]]] = {
    "device": (INDEX, ""),
    "Unique ID": (UUID, ""),
    "PCI Bus": (ADDRESS, ""),
    "Average Graphics Package Power (W)": ("power.draw.average", "W"),
    "Current Socket Graphics Package Power (W)": ("power.draw.instant", "W"),
    "Max Graphics Package Power (W)": ("enforced.power.limit", "W"),
    "Accumulated Energy (uJ)": (ENERGY, "uJ"),
    "Temperature (Sensor junction) (C)": ("temperature.gpu", "C"),
    "Temperature (Sensor edge) (C)": (EDGE, "C"),
    "Temperature (Sensor memory) (C)": ("temperature.memory", "C"),
    "sclk clock speed:": ("clocks.current.sm", "MHz"),
    "GPU use (%)": ("utilization.gpu", "%"),
}

#: Fields of amd-smi by the name of its column, and the unit of a bare number.
AMD: Final[Mapping[str, tuple[str, str]]] = {
    "gpu": (INDEX, ""),
    "uuid": (UUID, ""),
    "bdf": (ADDRESS, ""),
    "socket_power": ("power.draw", "W"),
    "average_socket_power": ("power.draw.average", "W"),
    "current_socket_power": ("power.draw.instant", "W"),
    "total_energy_consumption": (ENERGY, "J"),
    "hotspot": ("temperature.gpu", "C"),
    "edge": (EDGE, "C"),
    "mem": ("temperature.memory", "C"),
    "gfx_0_clk": ("clocks.current.sm", "MHz"),
    "gfx_clk": ("clocks.current.sm", "MHz"),
    "gfx_activity": ("utilization.gpu", "%"),
}

#: Columns of amd-smi by where its JSON has the same.
AMD_PATHS: Final[Mapping[tuple[str, ...], str]] = {
    ("gpu",): "gpu",
    ("uuid",): "uuid",
    ("bdf",): "bdf",
    ("power", "socket_power"): "socket_power",
    ("power", "average_socket_power"): "average_socket_power",
    ("power", "current_socket_power"): "current_socket_power",
    ("energy", "total_energy_consumption"): "total_energy_consumption",
    ("temperature", "hotspot"): "hotspot",
    ("temperature", "edge"): "edge",
    ("temperature", "mem"): "mem",
    ("clock", "gfx_0", "clk"): "gfx_0_clk",
    ("clock", "gfx", "clk"): "gfx_clk",
    ("usage", "gfx_activity"): "gfx_activity",
}

_CARD: Final = re.compile(r"card([0-9]+)")

#: Numbers that stand for none: the largest of 16 and of 32 bits (amd_smi, unsupported).
_UNSUPPORTED: Final = frozenset({"65535", "4294967295", "None", "null", ""})

Named = Mapping[str, tuple[str, str]]


def units_of(named: Named, names: Iterable[str]) -> dict[str, str]:
    """Return the unit of each field among the names of a tool."""
    return dict(named[name] for name in names if name in named)


def card(name: str) -> str | None:
    """Return the number of a card of rocm-smi; None where the name is of none."""
    match = _CARD.fullmatch(name)
    return match[1] if match else None


def cell(value: object) -> str | None:
    """Return a value of AMD's JSON or CSV as a cell; None where it says none.

    A value is text, a number as text, or an object with `value` and `unit`.
    """
    if isinstance(value, dict):
        number, unit = value.get("value"), value.get("unit")
        known = cell(number)
        return f"{known} {unit}" if known and isinstance(unit, str) else known
    if not isinstance(value, str) or value.strip() in _UNSUPPORTED:
        return None
    return value.strip().strip("()")


def at(record: object, path: tuple[str, ...]) -> object:
    """Return what is at a path of objects in each other; None where nothing is."""
    for key in path:
        record = record.get(key) if isinstance(record, dict) else None
    return record
