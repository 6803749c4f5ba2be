"""The node that the name of a power log gives, for tools that do not print theirs."""

import re
from typing import Final

_HOST: Final = r"([A-Za-z][A-Za-z0-9.-]*?)"
_TOOL: Final = (
    r"(?:nvidia-smi|smi|dmon|dcgmi|rocm-smi|amd-smi|zeus|codecarbon|ipmitool|redfish)"
)
_NAME: Final = re.compile(
    rf"(?:{_TOOL}[-_]{_HOST}|{_HOST}\.{_TOOL})\.(?:csv|json|log|txt|xml)"
)


def host_of(name: str) -> str | None:
    """Return the host in the name of a file; None where it has none.

    A name is `<tool>-<host>.<ending>`, `<tool>_<host>.<ending>` or
    `<host>.<tool>.<ending>`.
    """
    match = _NAME.fullmatch(name)
    return (match[1] or match[2]) if match else None
