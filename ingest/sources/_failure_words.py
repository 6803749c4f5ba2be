"""Values of documents about failures: texts, times, numbers, GPUs in a sentence."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from ingest.sources._kernel.patterns import ADDRESS, SXID, SXID_LINK, XID
from ingest.times import SECOND_NS

_XID: Final = re.compile(XID)
_SXID: Final = re.compile(SXID)
_SXID_LINK: Final = re.compile(SXID_LINK)

#: RFC 3339: date, time, fraction, offset.
_RFC3339: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})"
    r"(?:[.,]([0-9]{1,9})[0-9]*)?(Z|[+-][0-9]{2}:[0-9]{2})",
    re.ASCII,
)
_UUID: Final = re.compile(
    r"GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
)

#: An address that is no piece of a longer one; `PCI:` may stand before it.
_ADDRESS: Final = re.compile(
    rf"(?<![0-9A-Fa-f])(?<![0-9A-Fa-f]:){ADDRESS}(?![0-9A-Fa-f:])"
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def text(value: object) -> str:
    """Return a text, empty where the value is none."""
    return value if isinstance(value, str) else ""


def number(value: object) -> int | None:
    """Return a whole number that is written as one or as a text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    digits = text(value)
    is_number = re.fullmatch(r"-?[0-9]{1,18}", digits, re.ASCII)
    return int(digits) if is_number else None


def fields(value: object) -> dict[str, object]:
    """Return an object, an empty one where the value is none."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """Return a list, an empty one where the value is none."""
    return value if isinstance(value, list) else []


def rfc3339_ns(value: object) -> int | None:
    """Return the instant of a stamp; None of what is none, and of year 1. [ns]"""
    match = _RFC3339.fullmatch(text(value))
    if match is None:
        return None
    day, time, fraction, offset = match.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{time}{offset}")
    except ValueError:
        return None
    if moment.year == 1:
        return None
    seconds = (moment - _EPOCH) // timedelta(seconds=1)
    return seconds * SECOND_NS + int((fraction or "0").ljust(9, "0"))


def pci_address(value: str) -> str | None:
    """Return the first PCI address in a text, as 0000:5d:00."""
    match = _ADDRESS.search(value)
    if match is None:
        return None
    return re.sub("^0{1,4}([0-9a-f]{4}:)", r"\1", match[1].lower())


def gpu_in(value: str) -> str | None:
    """Return the GPU that a sentence names: by its UUID, else by its PCI address.

    The address in the driver's line of an SXid is that of a switch.
    """
    match = _UUID.search(value)
    if match:
        return "GPU-" + match[0][4:].lower()
    return None if _SXID.search(value) else pci_address(value)


def xid_in(value: str) -> int | None:
    """Return the code of an Xid that the driver's own line in a text tells."""
    match = _XID.search(value)
    return int(match[2]) if match else None


def sxid_in(value: str) -> tuple[int, str] | None:
    """Return code and severity of an SXid that the driver's own line tells."""
    match = _SXID.search(value)
    if match is None:
        return None
    words = match[3] or ""
    if words.startswith("Fatal"):
        return int(match[2]), "fatal"
    return int(match[2]), "warning" if words.startswith("Non-fatal") else "error"


def switch_in(value: str) -> str | None:
    """Return the switch that the driver's own line of an SXid names, and its link."""
    match = _SXID.search(value)
    if match is None:
        return None
    link = _SXID_LINK.search(value)
    switch = f"switch {pci_address(match[1])}"
    return f"{switch} link {link[1]}" if link else switch
