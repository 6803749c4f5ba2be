"""What the GPUs of a run do from moment to moment: its steps, and the time between."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingest.synthetic.cluster._power_levels import (
    CHECKPOINT,
    IDLE,
    LOADED,
    WAIT,
)
from ingest.synthetic.cluster.calendar import Attempt
from ingest.synthetic.cluster.steps import StepWindow

#: Longest piece of time between steps that is one row. [ns]
LONGEST_NS: Final = 900 * 1_000_000_000

Nanos = NDArray[np.int64]


class State(NamedTuple):
    """What GPUs do outside of steps, from a time on.

    Attributes:
        from_ns: Since when. [ns]
        level: Their power, as a share of what they may draw. [1]
        is_busy: Whether a kernel runs; one that waits for a lost rank runs, too.
    """

    from_ns: int
    level: float
    is_busy: bool


@dataclass(frozen=True, slots=True)
class Rows:
    """Stretches of time without a gap, and how each GPU spends them.

    Attributes:
        start: When each begins, and when the last is over. [ns]
        data: Part that waits for the input, from its start on. [ns]
        compute: Own work, after it; rows x GPUs. [ns]
        wait: Waiting for others, after it; rows x GPUs. [ns]
        communication: Communication alone, after it; rows x GPUs. [ns]
        level: Power in the rest, as a share of what a GPU may draw. [1]
        is_busy: Whether a kernel runs in the rest.
    """

    start: Nanos
    data: Nanos
    compute: Nanos
    wait: Nanos
    communication: Nanos
    level: NDArray[np.float32]
    is_busy: NDArray[np.bool_]


def states(attempts: Sequence[Attempt]) -> tuple[State, ...]:
    """Return what the GPUs do outside of steps: a hang spins until its first sign."""
    found = [State(0, IDLE, is_busy=False)]
    for attempt in attempts:
        found.append(State(attempt.start_ns, LOADED, is_busy=False))
        if attempt.stop is not None and not attempt.stop.planned:
            found.append(State(attempt.stood_ns, WAIT, is_busy=True))
        found.append(State(attempt.signed_ns, LOADED, is_busy=False))
        found.append(State(attempt.end_ns, IDLE, is_busy=False))
    return tuple(found)


def steps(window: StepWindow) -> Rows:
    """Return the rows of the steps of a window; all ranks begin and end together."""
    start = window.start[:, 0]
    end = start[-1:] + window.duration[-1:, 0]
    saves = window.checkpoint[:, 0] > 0
    return Rows(
        start=np.concatenate([start, end]),
        data=window.data[:, 0],
        compute=window.compute,
        wait=window.wait,
        communication=window.communication,
        level=np.where(saves, CHECKPOINT, LOADED).astype(np.float32),
        is_busy=saves,
    )


def between(
    known: Sequence[State], from_ns: int, to_ns: int, ranks: int
) -> Iterator[Rows]:
    """Yield the rows of a time without steps, none of them long."""
    at = from_ns
    while at < to_ns:
        position = bisect_right(known, at, key=lambda state: state.from_ns)
        state = known[position - 1]
        after = known[position].from_ns if position < len(known) else to_ns
        end = min(to_ns, after, at + LONGEST_NS)
        yield _row(at, end, state, ranks)
        at = end


def without_run(rows: Rows, gpus: int) -> Rows:
    """Return the time of rows as GPUs spend it that no run holds."""
    state = State(0, IDLE, is_busy=False)
    return _row(int(rows.start[0]), int(rows.start[-1]), state, gpus)


def _row(from_ns: int, to_ns: int, state: State, gpus: int) -> Rows:
    """Return one row in which nothing is done."""
    nothing = np.broadcast_to(np.int64(0), (1, gpus))
    return Rows(
        start=np.array([from_ns, to_ns]),
        data=np.zeros(1, np.int64),
        compute=nothing,
        wait=nothing,
        communication=nothing,
        level=np.array([state.level], np.float32),
        is_busy=np.array([state.is_busy]),
    )
