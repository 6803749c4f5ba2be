"""PCI addresses in the one form in which other telemetry names a GPU; masked UUIDs."""

import re
from typing import Final

#: A lower-case address: the group is its last four digits of domain, bus and device.
PATTERN: Final = r"^[0-9a-f]*([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-9a-f])?$"

#: What an identity that is an address starts with.
PREFIX: Final = "pci:"

#: A UUID that was blanked out, which tells no GPU from another.
MASKED: Final = r"^(?:[A-Z]+-)?0{8}-0{4}-0{4}-0{4}-0{12}$"

_ADDRESS = re.compile(PATTERN)


def identity(address: str) -> str | None:
    """Return the identity of a GPU by its address (00000000:5D:00.0 is 0000:5d:00)."""
    match = _ADDRESS.match(address.lower())
    return PREFIX + match[1] if match else None


def is_masked(uuid: str) -> bool:
    """Return whether a UUID was blanked out."""
    return re.fullmatch(MASKED, uuid) is not None
