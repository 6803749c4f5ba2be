"""Messages of NVIDIA's drivers and of its network cards in a kernel log."""

import re
from typing import Final

from ingest.sources._kernel import evidence

#: PCI address: domain, bus and device; the function is left out.
ADDRESS: Final = r"([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})(?:\.[0-9A-Fa-f])?"

#: First words of every message that matters, wherever in a line it starts.
STARTS: Final = (
    r"(?:NVRM: |(?:nvidia-nvswitch[0-9]{0,4}: )?SXid |mlx5_|Port module event"
    rf"|rtc_cmos |setting system clock |{evidence.ANY})"
)

XID: Final = (
    rf"NVRM: Xid \((?:PCI:)?{ADDRESS}[^)]{{0,40}}\):? ?([0-9]{{1,9}})(?:[,\s]|$)"
)
SXID: Final = rf"SXid \(PCI:{ADDRESS}\): ([0-9]{{1,9}})(?:, ?(.*)|\s|$)"
SXID_LINK: Final = r"SXid .*, Link (-?[0-9]{1,4})(?:\s|$)"
OFF_BUS: Final = (
    rf"NVRM: GPU (?:at )?(?:PCI:)?{ADDRESS}:? (?:GPU )?has fallen off the bus"
)
OFF_BUS_HEAD: Final = rf"NVRM: The NVIDIA GPU {ADDRESS}"
OFF_BUS_TAIL: Final = r"NVRM: .{0,200}fallen off the bus and is not responding"
_OFF_BUS_TAIL_BARE: Final = r"NVRM: fallen off the bus and is not responding"
UUID: Final = rf"NVRM: GPU at (?:PCI:)?{ADDRESS}: (GPU-[0-9A-Fa-f-]{{36}})"
SERIAL: Final = r"NVRM: GPU Board Serial Number: ([0-9A-Za-z]{6,32})"
SERIAL_AT: Final = rf"NVRM: GPU {ADDRESS}: GPU serial number is ([0-9A-Za-z]{{6,32}})"
NIC_MODULE: Final = r"Port module event\[([0-9A-Za-z_]{1,20})\]"
CLOCK: Final = r"setting system clock to .{0,60}\(([0-9]{9,10})\)"

_SXID_MORE: Final = r"SXid \(PCI:[^)]+\): [0-9]+, (?:Severity|Data) "
_MALFORMED: Final = r"NVRM: Xid|nvswitch[0-9]{0,4}: SXid"

#: What an error of the fifth generation's links tells: unit, severity, whether it was
#: injected (`i1`; it is no instance), link. 145 `RLW_RXPIPE Nonfatal XC0 i0 Link 13`.
NVLINK5: Final = (
    r"[ ,]([A-Z][A-Z0-9_/]{1,60}) +(Fatal|Nonfatal) +XC[0-9]+ +i([0-9]+)"
    r" +Link +(-?[0-9]+)"
)

#: Instances of a partitioned GPU, and where in the chip an exception was.
MIG: Final = r"\(PCI:[^)]* GPU-I:([0-9A-Za-z_]+)(?: GPU-CI:([0-9A-Za-z_]+))?\)"
PLACE: Final = r"\((GPC [0-9]+(?:, TPC [0-9]+)?(?:, SM [0-9]+)?)\)"

#: Kinds of messages of network cards, with their meaning and severity.
NICS: Final = {
    "insufficient_power": (
        r"^mlx5_.*insufficient power on the PCIe slot",
        "slot gives the network card too little power",
        "warning",
    ),
    "high_temperature": (
        rf"{NIC_MODULE}.*High Temperature",
        "network cable or its module is too hot",
        "warning",
    ),
    "cable_error": (NIC_MODULE, "network cable or its module is at fault", "warning"),
    "card_hot": (
        r"^mlx5_core .*High temperature on sensors",
        "network card is too hot",
        "warning",
    ),
    "card_health": (
        r"^mlx5_core .*(?:Health issue observed|health compromised|recovery failed)",
        "network card reports that it is unwell",
        "error",
    ),
    "link_down": (
        r"^mlx5_core [0-9a-f:.]{10,16}:? [0-9A-Za-z_.-]+: Link down",
        "network link went down",
        "warning",
    ),
}

#: Kind of message by pattern, the first that fits.
KINDS: Final = {
    "xid": XID,
    "sxid_more": _SXID_MORE,
    "sxid": SXID,
    "malformed": _MALFORMED,
    "off_bus": OFF_BUS,
    "off_bus_tail": rf"{OFF_BUS_TAIL}|{_OFF_BUS_TAIL_BARE}",
    "off_bus_head": OFF_BUS_HEAD,
    "uuid": UUID,
    "serial": rf"{SERIAL}|{SERIAL_AT}",
    "nic": "|".join(pattern for pattern, _, _ in NICS.values()),
    "clock": CLOCK,
    "kernel": rf"^(?:{evidence.ANY})",
}

#: Kinds that are about one GPU's Xid, read or inferred.
OF_XID: Final = ("xid", "off_bus", "off_bus_tail")

#: Kinds that are rows of their own.
EVENTS: Final = (*OF_XID, "sxid", "nic", "kernel")

#: Words that lines of every kind have one of, but for those of a network card's module.
_WORDS: Final = (
    *("NVRM: ", "SXid", "insufficient power", "setting system clock"),
    *("High temperature on", "Health issue", "health compromised", "health recovery"),
    *(": Link down", "EDAC ", "Memory failure: ", "[Hardware Error]"),
    *("PCIe Bus Error: ", ": pciehp: Slot", "nvme nvme", "error, dev ", "EXT4-fs "),
    *("XFS (", "nfs: server ", "Killed process ", "BUG: ", "kernel BUG at "),
    *("hard LOCKUP", "INFO: rcu_", "blocked for more than ", "critical temperature"),
    *("above threshold, cpu clock", "Kernel panic - ", "amdgpu", "nvidia-peermem "),
)

#: A line that may hold one of the kinds; cheap, so that it can run over every line.
CANDIDATE: Final = "|".join(
    re.sub(r"([\[\](])", r"\\\1", word) for word in ("Port module event", *_WORDS)
)

#: What lines hold one of that are of a kind. A cable that was plugged is none.
TELLING: Final = tuple(word.encode() for word in ("Port module event[", *_WORDS))
