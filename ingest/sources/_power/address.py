"""PCI addresses in the one form in which other telemetry names a GPU."""

import re
from typing import Final

#: A lower-case address: the group is its last four digits of domain, bus and device.
PATTERN: Final = r"^[0-9a-f]*([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-9a-f])?$"

#: What an identity that is an address starts with.
PREFIX: Final = "pci:"

_ADDRESS = re.compile(PATTERN)


def identity(address: str) -> str | None:
    """Return the identity of a GPU by its address (00000000:5D:00.0 is 0000:5d:00)."""
    match = _ADDRESS.match(address.lower())
    return PREFIX + match[1] if match else None
