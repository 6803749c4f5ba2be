"""Errors of DCGM: what their numbers, categories and severities mean.

After dcgm_errors.h of NVIDIA's DCGM 4 (Apache-2.0), told in this project's words. An
error that a diagnosis reports carries its category and severity as numbers, so only
names are needed here, and only of errors of hardware.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

#: Severity of an error by DCGM's number: monitor, isolate, unknown, triage, config,
#: reset. A setting that is not as DCGM wants it (5) is a notice.
SEVERITIES: Final[Mapping[int, str | None]] = MappingProxyType(
    {0: "info", 1: "warning", 2: "fatal", 3: None, 4: "error", 5: "info", 6: "error"}
)

#: What to do about an error, by DCGM's number of its severity.
ACTIONS: Final[Mapping[int, str | None]] = MappingProxyType(
    {
        0: "none",
        1: "none",
        2: "inspect_hardware",
        3: None,
        4: "inspect_hardware",
        5: "none",
        6: "reset_gpu",
    }
)

#: Component at fault by DCGM's number of a category.
CATEGORIES: Final[Mapping[int, str]] = MappingProxyType(
    {
        **dict.fromkeys((1, 2, 15), "gpu"),
        **dict.fromkeys((3, 4, 6, 7, 8, 16), "software"),
        5: "gpu",
        9: "thermal",
        10: "gpu_memory",
        11: "nvlink",
        12: "nvlink",
        13: "pcie",
        14: "power",
    }
)

#: Identifiers of errors of hardware by their number.
IDENTIFIERS: Final[Mapping[int, str]] = MappingProxyType(
    {
        3: "DCGM_FR_PCI_REPLAY_RATE",
        4: "DCGM_FR_VOLATILE_DBE_DETECTED",
        5: "DCGM_FR_VOLATILE_SBE_DETECTED",
        6: "DCGM_FR_PENDING_PAGE_RETIREMENTS",
        7: "DCGM_FR_RETIRED_PAGES_LIMIT",
        8: "DCGM_FR_RETIRED_PAGES_DBE_LIMIT",
        9: "DCGM_FR_CORRUPT_INFOROM",
        10: "DCGM_FR_CLOCKS_EVENT_THERMAL",
        11: "DCGM_FR_POWER_UNREADABLE",
        12: "DCGM_FR_CLOCKS_EVENT_POWER",
        13: "DCGM_FR_NVLINK_ERROR_THRESHOLD",
        14: "DCGM_FR_NVLINK_DOWN",
        15: "DCGM_FR_NVSWITCH_FATAL_ERROR",
        16: "DCGM_FR_NVSWITCH_NON_FATAL_ERROR",
        17: "DCGM_FR_NVSWITCH_DOWN",
        29: "DCGM_FR_PERSISTENCE_MODE",
        30: "DCGM_FR_LOW_BANDWIDTH",
        31: "DCGM_FR_HIGH_LATENCY",
        33: "DCGM_FR_FIELD_VIOLATION",
        40: "DCGM_FR_THERMAL_VIOLATIONS",
        42: "DCGM_FR_TEMP_VIOLATION",
        45: "DCGM_FR_PCIE_GENERATION",
        46: "DCGM_FR_PCIE_WIDTH",
        50: "DCGM_FR_STRESS_LEVEL",
        52: "DCGM_FR_FAULTY_MEMORY",
        57: "DCGM_FR_CUDA_DBE",
        58: "DCGM_FR_MEMORY_MISMATCH",
        62: "DCGM_FR_MEMORY_BANDWIDTH",
        63: "DCGM_FR_TARGET_POWER",
        70: "DCGM_FR_NVLINK_CRC_ERROR_THRESHOLD",
        71: "DCGM_FR_NVLINK_ERROR_CRITICAL",
        79: "DCGM_FR_L1TAG_MISCOMPARE",
        80: "DCGM_FR_ROW_REMAP_FAILURE",
        81: "DCGM_FR_UNCONTAINED_ERROR",
        83: "DCGM_FR_DBE_PENDING_PAGE_RETIREMENTS",
        84: "DCGM_FR_UNCORRECTABLE_ROW_REMAP",
        85: "DCGM_FR_PENDING_ROW_REMAP",
        88: "DCGM_FR_NVSWITCH_NVLINK_DOWN",
        95: "DCGM_FR_EUD_TEST_FAILED",
        98: "DCGM_FR_PCIE_H_REPLAY_VIOLATION",
        99: "DCGM_FR_GPU_EXPECTED_NVLINKS_UP",
        100: "DCGM_FR_NVSWITCH_EXPECTED_NVLINKS_UP",
        101: "DCGM_FR_XID_ERROR",
        102: "DCGM_FR_SBE_VIOLATION",
        103: "DCGM_FR_DBE_VIOLATION",
        104: "DCGM_FR_PCIE_REPLAY_VIOLATION",
        109: "DCGM_FR_SXID_ERROR",
        110: "DCGM_FR_GFLOPS_THRESHOLD_VIOLATION",
        111: "DCGM_FR_NAN_VALUE",
        118: "DCGM_FR_SRAM_THRESHOLD",
        119: "DCGM_FR_NVLINK_EFFECTIVE_BER_THRESHOLD",
        120: "DCGM_FR_FALLEN_OFF_BUS",
        121: "DCGM_FR_NVLINK_SYMBOL_BER_THRESHOLD",
        125: "DCGM_FR_GPU_RECOVERY_RESET",
        126: "DCGM_FR_GPU_RECOVERY_REBOOT",
        128: "DCGM_FR_GPU_RECOVERY_DRAIN_RESET",
        131: "DCGM_FR_CONTAINED_ERROR",
        132: "DCGM_FR_UNCORRECTABLE_ROW_REMAP_LIMIT",
    }
)
