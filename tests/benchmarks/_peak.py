"""The most memory that a process has held."""

import re
from pathlib import Path
from typing import Final

#: What Linux tells of a process that runs.
_STATUS: Final = Path("/proc/self/status")


def peak_mb() -> float:
    """Return the most memory that this process has held, by Linux's VmHWM. [MB]

    What getrusage tells is no less than what the process that started this one held.
    """
    (kilobytes,) = re.findall(r"^VmHWM:\s+(\d+) kB$", _STATUS.read_text(), re.MULTILINE)
    return int(kilobytes) * 1_024 / 1e6
