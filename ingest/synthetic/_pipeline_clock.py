"""When every operation of a synthetic pipeline starts and ends: its own simulation.

Each worker has a stream for computing, one for collectives with its replicas, and four
for what it sends and receives. A send starts when its task has ended and the stream is
free; a receive is posted one task ahead: when the task of its kind before the one that
needs it has ended, and the stream is free. Both end together, a transfer after the
later of the two. A task starts when the stage is free and its input is there.
Steps begin for all workers at once, so that each is simulated from zero; all steps and
replicas are simulated side by side, and nothing else is in a loop but tasks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ingest.synthetic._pipeline_lengths import Lengths, Times
from ingest.synthetic._pipeline_schedule import Place, Task, order_of

if TYPE_CHECKING:
    from ingest.synthetic.pipeline import Pipeline

#: Streams of a worker for what it sends and receives, by direction.
FORWARD, BACKWARD = 0, 1


@dataclass(slots=True)
class Clock:
    """Starts and ends since the beginning of each step; axes: step, replica. [ns]

    Attributes:
        order: The tasks of each stage in order.
        tasks: Start and end of each task.
        sends: Start and end of what each task sends, by the task that sends it.
        receives: Start and end of it at the other side, by the task that gets it.
        gathered: Start and end, by stage.
        scattered: Start and end, by stage.
        optimized: Start and end, by stage.
    """

    order: list[list[Task]]
    tasks: dict[Place, tuple[Times, Times]]
    sends: dict[Place, tuple[Times, Times]]
    receives: dict[Place, tuple[Times, Times]]
    gathered: list[tuple[Times, Times]]
    scattered: list[tuple[Times, Times]]
    optimized: list[tuple[Times, Times]]

    @property
    def step_ns(self) -> Times:
        """Length of each step. [ns]"""
        ends = np.stack([end for _, end in self.optimized])
        return np.asarray(ends.max(axis=(0, 2)), np.int64)


def run_clock(pipeline: "Pipeline", lengths: Lengths) -> Clock:
    """Simulate every step of a pipeline."""
    order = [
        order_of(stage, pipeline.stages, pipeline.chunks, pipeline.microbatches)
        for stage in range(pipeline.stages)
    ]
    opened = np.zeros((pipeline.steps, pipeline.replicas), np.int64)
    gathered = [_meet(opened, length) for length in lengths.gathered]
    clock = Clock(order, {}, {}, {}, gathered, [], [])
    streams = _Streams(pipeline, lengths, clock)
    for place in _in_turn(order, streams):
        streams.do(place)
    if pipeline.chunks > 1:
        _move_nothing(clock)
    for stage in range(pipeline.stages):
        scattered = _meet(streams.computed[stage], lengths.scattered[stage])
        clock.scattered.append(scattered)
        end = scattered[1] + lengths.optimized[stage]
        clock.optimized.append((scattered[1], end))
    return clock


def _move_nothing(clock: Clock) -> None:
    """Add what schedules of several chunks record at the ends of the model.

    There each task is received and sent, too, but nothing is moved and nothing waits.
    """
    for stage, tasks in enumerate(clock.order):
        for way in (FORWARD, BACKWARD):
            same = [Place(stage, task) for task in tasks if _way(task) == way]
            ended = sent = received = clock.gathered[stage][1]
            for place in same:
                at = np.maximum(received, ended)
                received = clock.receives.setdefault(place, (at, at))[1]
                ended = clock.tasks[place][1]
                at = np.maximum(sent, ended)
                sent = clock.sends.setdefault(place, (at, at))[1]


def _meet(arrival: Times, length: Times) -> tuple[Times, Times]:
    """Let the replicas of a stage wait for each other; return starts and ends."""
    return arrival, arrival.max(axis=-1, keepdims=True) + length


def _in_turn(order: list[list[Task]], streams: "_Streams") -> Iterator[Place]:
    """Yield tasks, each when its input is there. Stages take turns."""
    done = [0] * len(order)
    while any(count < len(tasks) for count, tasks in zip(done, order, strict=True)):
        before = sum(done)
        for stage, tasks in enumerate(order):
            while done[stage] < len(tasks):
                place = Place(stage, tasks[done[stage]])
                if not streams.has_input(place):
                    break
                yield place
                done[stage] += 1
        if sum(done) == before:
            message = "the schedule waits for itself"
            raise ValueError(message)


class _Streams:
    """When each stream of each stage is free; axes: step, replica. [ns]"""

    def __init__(self, pipeline: "Pipeline", lengths: Lengths, clock: Clock) -> None:
        opened = [end for _, end in clock.gathered]
        self._size = pipeline.stages, pipeline.chunks
        self._lengths = lengths
        self._clock = clock
        self.computed = list(opened)
        self._sent = [list(opened), list(opened)]
        self._received = [list(opened), list(opened)]
        self._ended = [list(opened), list(opened)]

    def has_input(self, place: Place) -> bool:
        source = place.task.upstream(place.stage, *self._size)
        return source is None or source in self._clock.tasks

    def do(self, place: Place) -> None:
        """Receive the input of a task, and compute it."""
        stage, task = place
        start = self.computed[stage]
        source = task.upstream(stage, *self._size)
        if source is not None and source.stage != stage:
            start = np.maximum(start, self._receive(source, place))
        lengths = self._lengths.forward if task.is_forward else self._lengths.backward
        end = start + lengths[stage, task.chunk, task.microbatch]
        self._clock.tasks[place] = start, end
        self.computed[stage] = end
        self._ended[_way(task)][stage] = end

    def _receive(self, source: Place, place: Place) -> Times:
        """Move what a task needs to its stage; return when it is there. [ns]"""
        task, way = source.task, _way(source.task)
        sent = self._clock.tasks[source][1]
        started = np.maximum(sent, self._sent[way][source.stage])
        posted = np.maximum(
            self._received[way][place.stage], self._ended[way][place.stage]
        )
        lengths = self._lengths.sent if task.is_forward else self._lengths.returned
        length = lengths[source.stage, task.chunk, task.microbatch]
        end = np.maximum(started, posted) + length
        self._clock.sends[source] = started, end
        self._clock.receives[place] = posted, end
        self._sent[way][source.stage] = self._received[way][place.stage] = end
        return np.asarray(end, np.int64)


def _way(task: Task) -> int:
    return FORWARD if task.is_forward else BACKWARD
