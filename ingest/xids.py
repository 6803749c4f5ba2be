"""Xid codes of the NVIDIA driver: what each means and what to do about it.

The meanings are told in this project's own words after NVIDIA's public Xid catalogue
(docs.nvidia.com/deploy/xid-errors, state of 2025-10-29).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

Component = Literal[
    "gpu", "gpu_memory", "gpu_processor", "nvlink", "pcie", "driver", "software"
]
Severity = Literal["info", "warning", "error", "fatal"]
Action = Literal[
    "none",
    "restart_application",
    "reset_gpu",
    "reboot_node",
    "inspect_hardware",
    "inspect_nvlink",
    "update_software",
    "follow_other_code",
]
Role = Literal["hardware", "user", "cascade"]

#: The catalogue that the codes below were taken from; it is told wherever a code is
#: named, because catalogues contradict each other.
CATALOGUE: Final = "NVIDIA 2025-10-29"

#: Name of a code that the catalogue does not hold.
UNKNOWN_NAME: Final = f"not in catalogue {CATALOGUE}"


class Xid(NamedTuple):
    """What a code means.

    Attributes:
        name: Meaning in words.
        component: Component at fault.
        severity: How bad it is for the work on the GPU.
        action: What to do first.
        role: `user` where the application is the usual cause, `cascade` where the
            code follows another one, else `hardware`.
    """

    name: str
    component: Component
    severity: Severity
    action: Action
    role: Role = "hardware"


def _copy_engine(number: int) -> Xid:
    name = f"copy engine {number} failed"
    return Xid(name, "gpu", "error", "restart_application")


def _nvlink_unit(unit: str) -> Xid:
    return Xid(f"NVLink error in {unit}", "nvlink", "error", "inspect_nvlink")


#: Copy engine of a code: those of one GPU are not numbered in one row.
_COPY_ENGINES: Final = {39: 0, 40: 1, 41: 2, 70: 3, 71: 4, 72: 5, 75: 6, 76: 7, 77: 8}

#: Unit of the fifth generation's links that a code speaks for, as the driver calls it.
_NVLINK_UNITS: Final = {
    144: "SAW",
    145: "RLW",
    146: "TLW",
    147: "TREX",
    148: "NVLPW_CTRL",
    149: "NETIR",
    150: "MSE",
}

_APPLICATION: Final = {
    8: Xid("channel idle timeout", "gpu", "error", "restart_application"),
    11: Xid("bad command stream", "software", "error", "restart_application", "user"),
    13: Xid("compute exception", "software", "error", "restart_application", "user"),
    25: Xid("illegal command", "software", "error", "restart_application", "user"),
    31: Xid("memory page fault", "software", "error", "restart_application", "user"),
    32: Xid("command buffer corrupted", "pcie", "error", "restart_application"),
    43: Xid("application's channel was reset", "software", "error", "none", "user"),
    45: Xid(
        "work removed after another error",
        "gpu",
        "info",
        "follow_other_code",
        "cascade",
    ),
    60: Xid("security processor exception", "gpu", "error", "restart_application"),
    68: Xid("video decoder exception", "gpu", "error", "restart_application"),
    69: Xid("wrong engine class", "software", "error", "restart_application", "user"),
    80: Xid("command buffer checksum wrong", "pcie", "error", "restart_application"),
    86: Xid("optical flow exception", "gpu", "error", "restart_application"),
    141: Xid("CUDA fast path error", "software", "warning", "none"),
}

_MEMORY: Final = {
    48: Xid("double-bit memory error", "gpu_memory", "fatal", "reset_gpu"),
    63: Xid("memory row marked for remapping", "gpu_memory", "warning", "none"),
    64: Xid("memory row could not be remapped", "gpu_memory", "fatal", "reset_gpu"),
    92: Xid("many single-bit memory errors", "gpu_memory", "warning", "none"),
    94: Xid("contained memory error", "gpu_memory", "error", "restart_application"),
    95: Xid("uncontained memory error", "gpu_memory", "fatal", "reset_gpu"),
    140: Xid("memory error not recovered", "gpu_memory", "fatal", "reset_gpu"),
    156: Xid("resource marked for retirement", "gpu_memory", "error", "reset_gpu"),
    157: Xid("resource could not be retired", "gpu_memory", "error", "none"),
    168: Xid("errors in protected memory", "gpu_memory", "fatal", "inspect_hardware"),
    171: Xid("uncorrectable DRAM error", "gpu_memory", "fatal", "reset_gpu"),
    172: Xid("uncorrectable SRAM error", "gpu_memory", "fatal", "reset_gpu"),
}

_PROCESSOR: Final = {
    37: Xid("context-switch firmware error", "driver", "warning", "none"),
    38: Xid("context-switch firmware timeout", "driver", "error", "inspect_hardware"),
    61: Xid("power processor breakpoint", "gpu_processor", "error", "reset_gpu"),
    62: Xid("power processor halted", "gpu_processor", "fatal", "reset_gpu"),
    78: Xid("virtual GPU did not start", "driver", "error", "update_software"),
    93: Xid("configuration memory worn", "gpu", "warning", "none"),
    119: Xid("system processor did not answer", "gpu_processor", "fatal", "reset_gpu"),
    120: Xid("system processor failed", "gpu_processor", "fatal", "reset_gpu"),
    122: Xid("power processor read failed", "gpu_processor", "error", "reset_gpu"),
    123: Xid("power processor write failed", "gpu_processor", "error", "reset_gpu"),
    124: Xid("power processor erase failed", "gpu_processor", "error", "reset_gpu"),
    125: Xid("configuration memory corrupt", "gpu", "error", "inspect_hardware"),
    143: Xid("GPU did not initialize", "gpu", "fatal", "reset_gpu"),
    151: Xid("key rotation failed", "driver", "error", "reboot_node"),
    169: Xid("security processor halted", "gpu_processor", "fatal", "reset_gpu"),
}

_GPU: Final = {
    44: Xid("fault during a context switch", "gpu", "error", "none"),
    46: Xid("GPU stopped processing", "gpu", "fatal", "reset_gpu"),
    54: Xid("auxiliary power not connected", "gpu", "fatal", "inspect_hardware"),
    79: Xid("GPU has fallen off the bus", "gpu", "fatal", "reboot_node"),
    109: Xid("context switch timed out", "gpu", "error", "reset_gpu"),
    110: Xid("security fault", "gpu", "fatal", "reset_gpu"),
    121: Xid("link between CPU and GPU failed", "gpu", "warning", "none"),
    154: Xid(
        "recovery action changed", "gpu", "warning", "follow_other_code", "cascade"
    ),
    158: Xid("fatal timeout", "gpu", "fatal", "reset_gpu"),
    160: Xid("channel retired", "gpu", "warning", "none"),
    161: Xid("channel could not be retired", "gpu", "error", "none"),
    162: Xid("power smoothing back on", "gpu", "info", "none"),
    163: Xid("power smoothing off", "gpu", "warning", "none"),
    164: Xid("power smoothing near its end", "gpu", "warning", "none"),
    165: Xid("power smoothing worn out", "gpu", "warning", "inspect_hardware"),
    167: Xid("PCIe timed out for good", "pcie", "fatal", "reboot_node"),
}

_NVLINK: Final = {
    74: Xid("NVLink error", "nvlink", "error", "inspect_nvlink"),
    136: Xid("NVLink did not train", "nvlink", "fatal", "reset_gpu"),
    137: Xid("NVLink access refused by its peer", "nvlink", "error", "none"),
    155: Xid("NVLink error found by software", "nvlink", "error", "reset_gpu"),
}

#: Codes that the catalogue holds. Others are kept, with UNKNOWN_NAME.
XIDS: Final[Mapping[int, Xid]] = MappingProxyType(
    {
        **_APPLICATION,
        **_MEMORY,
        **_PROCESSOR,
        **_GPU,
        **_NVLINK,
        **{code: _copy_engine(number) for code, number in _COPY_ENGINES.items()},
        **{code: _nvlink_unit(unit) for code, unit in _NVLINK_UNITS.items()},
    }
)

#: What `recovery action changed` (154) asks for, by the number it changed to. After
#: nvmlDeviceGpuRecoveryAction in NVML's public header.
RECOVERY_ACTIONS: Final[Mapping[str, Action]] = MappingProxyType(
    {
        "0": "none",
        "1": "reset_gpu",
        "2": "reboot_node",
        "3": "inspect_nvlink",
        "4": "reset_gpu",
        "5": "inspect_nvlink",
        "6": "reset_gpu",
        "7": "reboot_node",
    }
)
