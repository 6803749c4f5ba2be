"""The ladder of causes, the strongest evidence first."""

from collections.abc import Iterator

from analysis._straggler_machine_rungs import of_faults, of_power, victim
from analysis._straggler_rung import Rung
from analysis._straggler_work_rungs import of_work


def ladder() -> Iterator[Rung]:
    """Go down the ladder; what clears a thing comes last."""
    yield from of_power()
    yield from of_faults()
    yield from of_work()
    yield victim()
