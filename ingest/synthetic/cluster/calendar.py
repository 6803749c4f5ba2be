"""The calendar of a run: its attempts, and how each of them ends."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ingest.synthetic.cluster._attempt import Attempt
from ingest.synthetic.cluster._draws import draws
from ingest.synthetic.cluster._opened import Opened
from ingest.synthetic.cluster._work import Work
from ingest.synthetic.cluster.clock import Clock, clock_of
from ingest.synthetic.cluster.faults import NEVER_NS, PlacedFault
from ingest.synthetic.cluster.scenario import Scenario
from ingest.times import SECOND_NS

__all__ = ["Attempt", "run_attempts"]


#: Steps are at least so long, over the usual: how many are drawn for a time.
_SHORTEST: Final = 0.8


def run_attempts(
    work: Work, faults: Sequence[PlacedFault], until: int
) -> Iterator[Attempt]:
    """Run the attempts of a scenario, one after the other, to the end of its time.

    A stop that would strike while nothing runs strikes as much later as the run takes
    to come back: the count of stops stays. What goes on when the time ends is cut
    there.

    Args:
        work: Own work of the ranks.
        faults: All faults, in order of time.
        until: End of the time. [ns]
    """
    scenario = work.scenario
    stops = [fault for fault in faults if fault.stops]
    slow = [fault for fault in faults if not fault.stops]
    number, first_step, submitted = 0, 0, scenario.begun_ns
    ended, cause = submitted, 0
    while True:
        opened = _open(scenario, number, submitted, first_step, cause)
        if opened.start_ns >= until:
            return
        stop, strike = _next(stops, opened, ended)
        limit = (stop, strike) if strike < until else (None, until)
        attempt = _cut(_run(work, slow, opened, limit, stops), until)
        yield attempt
        if attempt.stop is None:
            return
        stops = [one for one in stops if one.number != attempt.stop.number]
        number, first_step = number + 1, opened.first_step + attempt.kept
        ended, cause = attempt.end_ns, attempt.stop.draw
        submitted = _resubmitted(scenario, attempt)


def _open(
    scenario: Scenario, number: int, submitted: int, first_step: int, cause: int
) -> Opened:
    """Open an attempt: how long it queues and loads goes by the stop before it."""
    calendar = scenario.calendar
    draw = draws(scenario.seed, "restarts", cause)
    queue, load = (
        _between(draw, bounds) for bounds in (calendar.queue_s, calendar.load_s)
    )
    start = submitted + queue
    return Opened(number, submitted, start, start + load, first_step)


def _between(draw: np.random.Generator, bounds: tuple[float, float]) -> int:
    """Draw a time in whole seconds. [ns]"""
    low, high = (round(one) for one in bounds)
    return int(draw.integers(low, high + 1)) * SECOND_NS


def _next(
    stops: Sequence[PlacedFault], opened: Opened, ended: int
) -> tuple[PlacedFault | None, int]:
    """Return the stop that comes first by the time, and when it strikes."""
    timed = [one for one in stops if one.from_step is None]
    if not timed:
        return None, NEVER_NS
    stop = min(timed, key=lambda one: (one.from_ns, one.number))
    if stop.from_ns >= opened.begin_ns:
        return stop, stop.from_ns
    return stop, opened.begin_ns + max(stop.from_ns - ended, 0)


def _run(
    work: Work,
    slow: Sequence[PlacedFault],
    opened: Opened,
    limit: tuple[PlacedFault | None, int],
    stops: Sequence[PlacedFault],
) -> Attempt:
    """Run an attempt until something stops it, or it is done."""
    scenario = work.scenario
    stop, strike = limit
    length = max(strike - opened.begin_ns, 0)
    count = int(length / (scenario.schedule.step_s * _SHORTEST * SECOND_NS)) + 2
    planned = scenario.schedule.planned_steps
    if planned:
        count = min(count, max(planned - opened.first_step, 0))
    clock = clock_of(work, slow, opened, count)
    stop, strike = _by_steps(stops, opened, clock, (stop, strike))
    done = int(np.searchsorted(clock.end * 1_000, strike - opened.begin_ns, "right"))
    if planned and opened.first_step + done >= planned:
        stop, strike = None, opened.begin_ns + int(clock.end[-1]) * 1_000
    return _close(scenario, opened, clock.first(done), stop, strike)


def _by_steps(
    stops: Sequence[PlacedFault],
    opened: Opened,
    clock: Clock,
    limit: tuple[PlacedFault | None, int],
) -> tuple[PlacedFault | None, int]:
    """Return what stops first: the limit, or a stop in the middle of a step."""
    found = [limit]
    for one in stops:
        at = -1 if one.from_step is None else one.from_step - opened.first_step
        if 0 <= at < clock.steps:
            middle = int(clock.start[at] + clock.duration[at] // 2)
            found.append((one, opened.begin_ns + middle * 1_000))
    return min(found, key=lambda one: one[1])


def _close(
    scenario: Scenario,
    opened: Opened,
    clock: Clock,
    stop: PlacedFault | None,
    strike: int,
) -> Attempt:
    """End an attempt: what tells of its stop, and what is kept of its steps."""
    calendar = scenario.calendar
    reached = opened.first_step + clock.steps
    signed = end = -(-strike // SECOND_NS) * SECOND_NS
    kept = reached
    if stop is not None:
        stop = replace(stop, from_ns=strike, to_ns=max(stop.to_ns, strike))
        draw = draws(scenario.seed, "reactions", stop.draw)
        hang = round(calendar.watchdog_s * SECOND_NS) if stop.hangs else 0
        signed = strike + hang + int(draw.integers(1, 2_000)) * 1_000_000
        end = -(-(signed + _between(draw, calendar.react_s)) // SECOND_NS) * SECOND_NS
        if not stop.saves:
            kept = reached - reached % scenario.schedule.checkpoint_every
    return Attempt(
        number=opened.number,
        submitted_ns=opened.submitted_ns,
        start_ns=opened.start_ns,
        begin_ns=opened.begin_ns,
        stood_ns=strike,
        signed_ns=signed,
        end_ns=end,
        first_step=opened.first_step,
        kept=max(kept - opened.first_step, 0),
        stop=stop,
        clock=clock,
    )


def _cut(attempt: Attempt, until: int) -> Attempt:
    """Return what there is of an attempt by the end of the time. [ns]"""
    if attempt.end_ns <= until:
        return attempt
    signed = min(attempt.signed_ns, until)
    return replace(attempt, signed_ns=signed, end_ns=until, is_cut=True)


def _resubmitted(scenario: Scenario, attempt: Attempt) -> int:
    """Return when the run is submitted again: once its nodes are its own. [ns]"""
    stop = attempt.stop
    draw = draws(scenario.seed, "decisions", stop.draw if stop else 0)
    submitted = attempt.end_ns + _between(draw, scenario.calendar.decide_s)
    if stop is not None and stop.kind == "preemption":
        submitted = max(submitted, -(-stop.to_ns // SECOND_NS) * SECOND_NS)
    return submitted
