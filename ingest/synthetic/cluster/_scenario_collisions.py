"""Faults of a list that cannot both be, or never come."""

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ingest.synthetic.cluster._scenario_faults import STOPPING, Fault

if TYPE_CHECKING:
    from ingest.synthetic.cluster.scenario import Scenario

_DAY_S: Final = 86_400

#: What is at all cards of a host, and what is everyone's.
_OF_HOST: Final = "flow_collision"
_OF_ALL: Final = "checkpoint_storm"


def collisions(scenario: "Scenario") -> Iterator[str]:
    """Yield faults that begin after the calendar, and those that are there already."""
    until_s = scenario.calendar.days * _DAY_S
    slow: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for number, fault in enumerate(scenario.faults):
        if fault.from_s is not None and fault.from_s >= until_s:
            yield (
                f"faults[{number}].from_s: {fault.from_s:.15g}: expected less than"
                f" {until_s}, the calendar's end; lower it, or raise calendar.days"
            )
        most = round(until_s / scenario.schedule.step_s)
        if fault.from_step is not None and fault.from_step >= most:
            yield (
                f"faults[{number}].from_step: {fault.from_step:,}: expected less than"
                f" {most:,}, steps of schedule.step_s until the calendar's end; lower"
                " it, or raise calendar.days"
            )
        if fault.kind not in STOPPING:
            slow[fault.kind, fault.from_step is None].append(number)
    for same in slow.values():
        yield from _twice(scenario, same)


def _twice(scenario: "Scenario", numbers: list[int]) -> Iterator[str]:
    """Yield faults of a kind that one of them is at already."""
    faults = scenario.faults
    known: dict[int | None, int] = {}
    for number in sorted(numbers, key=lambda one: _bounds(faults[one])):
        begin, _ = _bounds(faults[number])
        for place in _places(scenario, faults[number]):
            before = known.get(place)
            if before is not None and begin < _bounds(faults[before])[1]:
                yield (
                    f"faults[{number}]: {faults[number].kind} at the place and time of"
                    f" faults[{before}]; move one of them"
                )
                return
            known[place] = number


def _places(scenario: "Scenario", fault: Fault) -> range | tuple[None]:
    """Return the ranks that a fault is at; None for all."""
    per_node = scenario.fleet.gpus_per_node
    if fault.kind == _OF_ALL or (fault.rank is None and fault.host is None):
        return (None,)
    if fault.rank is not None and fault.kind != _OF_HOST:
        return range(fault.rank, fault.rank + 1)
    host = fault.host if fault.host is not None else (fault.rank or 0) // per_node
    return range(host * per_node, (host + 1) * per_node)


def _bounds(fault: Fault) -> tuple[float, float]:
    """Return when a fault begins and ends, in seconds or steps."""
    begin = fault.from_s if fault.from_step is None else fault.from_step
    length = fault.length_s if fault.from_step is None else fault.steps
    return begin or 0, (begin or 0) + (length or 0)
