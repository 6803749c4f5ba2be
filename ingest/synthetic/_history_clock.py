"""The clock of a history: attempts, their steps, and how each of them ended."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ingest.synthetic._history_arrivals import arrivals, lengths
from ingest.synthetic._history_causes import UPGRADE, Cause
from ingest.synthetic._history_scenario import SECOND, History, node_name


class Step(NamedTuple):
    """A step that was completed. Times in ns."""

    number: int
    start: int
    end: int
    stall: int


@dataclass(frozen=True, slots=True)
class Leg:
    """An attempt. Times in ns.

    Attributes:
        number: Attempt of the run.
        submitted: When it was submitted.
        start: When it started.
        end: When it ended.
        cause: Why it ended; None for the last.
        host: Node at fault, where one is.
        signed: First sign that it was over; its end for the last.
        steps: Steps that it completed.
        resumed: Step that the next attempt begins with; this and later ones are lost.
    """

    number: int
    submitted: int
    start: int
    end: int
    cause: Cause | None
    host: str | None
    signed: int
    steps: tuple[Step, ...]
    resumed: int

    @property
    def kept(self) -> tuple[Step, ...]:
        """Steps that the run never went back to."""
        return tuple(step for step in self.steps if step.number < self.resumed)

    @property
    def lost(self) -> tuple[Step, ...]:
        """Steps that were done again."""
        return self.steps[len(self.kept) :]


def run_history(history: History) -> tuple[Leg, ...]:
    """Run a history from its first attempt to its last."""
    return tuple(_legs(history))


def _legs(history: History) -> Iterator[Leg]:
    draw = history.draws("restarts")
    hosts = history.draws("hosts")
    stops = arrivals(history)
    submitted, resumed = history.begun_ns, 0
    for number, length in enumerate(lengths(history, stops)):
        cause = stops[number][1] if number < len(stops) else None
        host = _host(history, hosts) if cause and cause.on_node else None
        start = submitted + draw.randint(*history.queue_s) * SECOND
        end = start + length * SECOND
        react = min(draw.randint(*history.react_s), length // 2)
        signed = end - react * SECOND if cause else end
        begin = start + draw.randint(*history.load_s) * SECOND
        stood = signed - (cause.hang_s if cause else 0) * SECOND
        steps = _steps(history, number, resumed, (begin, stood))
        resumed = _saved(history, steps, resumed, is_planned=cause in (None, UPGRADE))
        yield Leg(number, submitted, start, end, cause, host, signed, steps, resumed)
        submitted = end + draw.randint(*history.decide_s) * SECOND


def _host(history: History, draw: random.Random) -> str:
    """Return the node at fault: any with the same odds, whatever failed before."""
    return node_name(draw.randrange(history.nodes))


def _steps(
    history: History, number: int, resumed: int, bounds: tuple[int, int]
) -> tuple[Step, ...]:
    """Return the steps that an attempt completes between its bounds."""
    draw = history.draws(f"steps of {number}")
    at, until = bounds
    steps: list[Step] = []
    step = resumed
    while True:
        stall = 0
        if (step + 1) % history.checkpoint_every == 0:
            stall = round(history.stall_s * SECOND)
        end = at + _length(history, draw) + stall
        if end > until:
            return tuple(steps)
        steps.append(Step(step, at, end, stall))
        step, at = step + 1, end


def _length(history: History, draw: random.Random) -> int:
    spread = max(draw.gauss(1.0, history.step_sd), 0.5)
    return round(history.step_s * spread * SECOND)


def _saved(
    history: History, steps: tuple[Step, ...], resumed: int, *, is_planned: bool
) -> int:
    """Return the step to go on with: after the last checkpoint, or the last step.

    A stop that is planned saves before it ends.
    """
    if not steps:
        return resumed
    reached = steps[-1].number + 1
    if is_planned:
        return reached
    return max(resumed, reached - reached % history.checkpoint_every)
