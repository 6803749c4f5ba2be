"""The ladder of causes, the strongest evidence first."""

from collections.abc import Iterator

from analysis._straggler_cause_limits import CauseLimits
from analysis._straggler_machine_rungs import of_faults, of_power, victim
from analysis._straggler_rung import Rung
from analysis._straggler_work_rungs import of_work


def ladder(limits: CauseLimits) -> Iterator[Rung]:
    """Go down the ladder; what clears a thing comes last.

    Args:
        limits: When something is a cause.
    """
    yield from of_power(limits)
    yield from of_faults(limits)
    yield from of_work(limits)
    yield victim(limits)
