"""A cluster that is generated: everything about it but the steps of its ranks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ingest.synthetic.cluster._drawn import drawn_faults
from ingest.synthetic.cluster._placing import NEVER_NS, Maker
from ingest.synthetic.cluster._work import Work
from ingest.synthetic.cluster.calendar import Attempt, run_attempts
from ingest.synthetic.cluster.faults import PlacedFault
from ingest.synthetic.cluster.fleet import Fleet, fleet_of
from ingest.synthetic.cluster.scenario import Scenario
from ingest.times import DAY_NS

__all__ = ["Cluster", "cluster_of"]

_US = 1_000


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster and its run.

    Attributes:
        scenario: What it is made of.
        fleet: Its hosts and GPUs.
        faults: What happens to it, in the order of their numbers; of stops only those
            that struck, with the time at which they did.
        attempts: Attempts of its run, each with the clock of its steps.
        work: Own work of its ranks.
    """

    scenario: Scenario
    fleet: Fleet
    faults: tuple[PlacedFault, ...]
    attempts: tuple[Attempt, ...]
    work: Work

    @property
    def until_ns(self) -> int:
        """End of the calendar. [ns]"""
        return self.scenario.begun_ns + self.scenario.calendar.days * DAY_NS


def cluster_of(scenario: Scenario) -> Cluster:
    """Make a cluster: its fleet, its faults, its calendar."""
    drawn = list(_faults(scenario))
    # those beyond the calendar, too, so that a shorter one has the same draws
    watched = {rank for one in drawn if not one.stops for rank in one.ranks}
    faults = _inside(scenario, drawn)
    work = Work(scenario, tuple(sorted(watched)))
    attempts = _settled(run_attempts(work, faults))
    struck = {one.stop.number: one.stop for one in attempts if one.stop}
    known = [struck.get(one.number, one) for one in _dated(faults, attempts)]
    happened = tuple(one for one in known if not one.stops or one.number in struck)
    return Cluster(scenario, fleet_of(scenario), happened, attempts, work)


def _dated(
    faults: Iterable[PlacedFault], attempts: Iterable[Attempt]
) -> Iterator[PlacedFault]:
    """Yield faults with the times of the steps that they are at, where they have any.

    Those at steps that never came are at no time.
    """
    times: dict[int, list[int]] = defaultdict(list)
    for attempt in attempts:
        clock = attempt.clock
        for touch in attempt.clock.touches:
            bounds = (clock.start[touch.low], clock.end[touch.high - 1])
            times[touch.fault] += [attempt.begin_ns + int(at) * _US for at in bounds]
    for one in faults:
        if one.stops or one.from_step is None:
            yield one
        else:
            felt = times[one.number] or [one.from_ns]
            yield replace(one, from_ns=min(felt), to_ns=max(felt))


def _settled(attempts: Iterable[Attempt]) -> tuple[Attempt, ...]:
    """Keep the steps that the run would have gone back to, but never did."""
    settled: list[Attempt] = []
    goes_on = False
    for attempt in reversed(tuple(attempts)):
        kept = attempt.kept if goes_on else attempt.steps
        settled.append(replace(attempt, kept=kept))
        goes_on = goes_on or attempt.steps > 0
    return tuple(reversed(settled))


def _inside(scenario: Scenario, drawn: Sequence[PlacedFault]) -> list[PlacedFault]:
    """Return the faults that begin before the calendar ends.

    They are numbered before, so that a longer calendar gives none another number.
    """
    until = scenario.begun_ns + scenario.calendar.days * DAY_NS
    found = [replace(one, number=number) for number, one in enumerate(drawn)]
    return [
        one if one.to_ns == NEVER_NS else replace(one, to_ns=min(one.to_ns, until))
        for one in found
        if one.from_ns < until
    ]


def _faults(scenario: Scenario) -> Iterator[PlacedFault]:
    """Yield the faults that are listed, then those that are drawn."""
    make = Maker(scenario)
    for number, fault in enumerate(scenario.faults):
        yield from make.listed(number, fault)
    yield from drawn_faults(scenario)
