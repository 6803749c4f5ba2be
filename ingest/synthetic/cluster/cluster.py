"""A cluster that is generated: everything about it but the steps of its ranks."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ingest.synthetic.cluster._drawn import drawn_faults
from ingest.synthetic.cluster._placing import Maker
from ingest.synthetic.cluster._work import Work
from ingest.synthetic.cluster.calendar import Attempt, run_attempts
from ingest.synthetic.cluster.faults import NEVER_NS, PlacedFault
from ingest.synthetic.cluster.fleet import Fleet, fleet_of
from ingest.synthetic.cluster.scenario import Scenario

__all__ = ["Cluster", "cluster_of"]

_US = 1_000


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster and its run.

    Attributes:
        scenario: What it is made of.
        fleet: Its hosts and GPUs.
        faults: What happens to it, in the order of their numbers, with the times at
            which it did.
        missed: What was to happen by its end and did not, by kinds: stops that had no
            time to strike, and faults of steps that were not reached. [1]
        attempts: Attempts of its run, each with the clock of its steps.
        work: Own work of its ranks.
        until_ns: When all of it ends. [ns]
    """

    scenario: Scenario
    fleet: Fleet
    faults: tuple[PlacedFault, ...]
    missed: Mapping[str, int]
    attempts: tuple[Attempt, ...]
    work: Work
    until_ns: int


def cluster_of(scenario: Scenario, until_ns: int | None = None) -> Cluster:
    """Make a cluster: its fleet, its faults, its calendar.

    Args:
        scenario: What it is made of.
        until_ns: End of its time, a whole second; without, that of the calendar. [ns]
    """
    until = scenario.until_ns if until_ns is None else until_ns
    drawn = list(_faults(scenario))
    # those beyond the calendar, too, so that a shorter one has the same draws
    watched = {rank for one in drawn if not one.stops for rank in one.ranks}
    faults = _inside(drawn, until)
    work = Work(scenario, tuple(sorted(watched)))
    attempts = _settled(run_attempts(work, faults, until))
    happened = tuple(_happened(faults, attempts))
    there = {one.number for one in happened}
    missed = Counter(one.kind for one in faults if one.number not in there)
    fleet = fleet_of(scenario)
    return Cluster(scenario, fleet, happened, missed, attempts, work, until)


def _happened(
    faults: Iterable[PlacedFault], attempts: Sequence[Attempt]
) -> Iterator[PlacedFault]:
    """Yield faults that came, with the times at which they did.

    Stops have those at which they struck; what is at steps has theirs.
    """
    struck = {one.stop.number: one.stop for one in attempts if one.stop}
    times: dict[int, list[int]] = defaultdict(list)
    for attempt in attempts:
        clock = attempt.clock
        for touch in attempt.clock.touches:
            bounds = (clock.start[touch.low], clock.end[touch.high - 1])
            times[touch.fault] += [attempt.begin_ns + int(at) * _US for at in bounds]
    for one in faults:
        if one.stops:
            if one.number in struck:
                yield struck[one.number]
        elif one.from_step is None:
            yield one
        elif felt := times[one.number]:
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


def _inside(drawn: Sequence[PlacedFault], until: int) -> list[PlacedFault]:
    """Return the faults that begin before the time ends. [ns]

    They are numbered before, so that a longer calendar gives none another number.
    """
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
