"""An attempt before its steps."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opened:
    """An attempt before its steps. Times in ns since the epoch.

    Attributes:
        number: Position among the attempts.
        submitted_ns: When it was submitted.
        start_ns: When it started.
        begin_ns: When its first step begins.
        first_step: Number of that step.
    """

    number: int
    submitted_ns: int
    start_ns: int
    begin_ns: int
    first_step: int
