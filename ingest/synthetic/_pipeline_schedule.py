"""The order in which a pipeline stage computes: 1F1B, plain and interleaved."""

from collections.abc import Iterator
from typing import NamedTuple


class Task(NamedTuple):
    """A computation of one stage: a micro-batch through one of its chunks.

    Attributes:
        is_forward: Forward, else backward.
        chunk: Chunk of the stage's layers.
        microbatch: Micro-batch.
    """

    is_forward: bool
    chunk: int
    microbatch: int

    def upstream(self, stage: int, stages: int, chunks: int) -> "Place | None":
        """Return where its input comes from; None where the stage has it."""
        if self.is_forward:
            return _before(Place(stage, self), stages)
        return _after(Place(stage, self), stages, chunks)

    def downstream(self, stage: int, stages: int, chunks: int) -> "Place | None":
        """Return where its output is sent to; None where the stage keeps it."""
        if self.is_forward:
            return _after(Place(stage, self), stages, chunks)
        return _before(Place(stage, self), stages)


class Place(NamedTuple):
    """A task at a stage."""

    stage: int
    task: Task


def order_of(stage: int, stages: int, chunks: int, microbatches: int) -> list[Task]:
    """Return the tasks of a stage in the order in which it does them.

    Forward tasks warm the stage up; then one forward and one backward take turns; the
    backward tasks that are left cool it down. With chunks, micro-batches go through
    them in groups as many as there are stages.

    Source: Narayanan et al., arXiv 2104.04473, and Megatron-LM's schedules.

    Raises:
        ValueError: If there are chunks, and no whole number of groups.
    """
    if chunks > 1 and microbatches % stages:
        message = f"{microbatches} micro-batches are not a multiple of {stages} stages"
        raise ValueError(message)
    forward = list(_tasks(stages, chunks, microbatches, is_forward=True))
    backward = list(_tasks(stages, chunks, microbatches, is_forward=False))
    warm_up = min(warm_up_count(stage, stages, chunks), len(forward))
    steady = len(forward) - warm_up
    turns = zip(forward[warm_up:], backward[:steady], strict=True)
    return [
        *forward[:warm_up],
        *(task for turn in turns for task in turn),
        *backward[steady:],
    ]


def warm_up_count(stage: int, stages: int, chunks: int) -> int:
    """Return how many forward tasks a stage does before it takes turns. [1]"""
    if chunks == 1:
        return stages - stage - 1
    return 2 * (stages - stage - 1) + (chunks - 1) * stages


def _tasks(
    stages: int, chunks: int, microbatches: int, *, is_forward: bool
) -> Iterator[Task]:
    if chunks == 1:
        yield from (Task(is_forward, 0, number) for number in range(microbatches))
        return
    for first in range(0, microbatches, stages):
        for position in range(chunks):
            chunk = position if is_forward else chunks - 1 - position
            for microbatch in range(first, first + stages):
                yield Task(is_forward, chunk, microbatch)


def _before(place: Place, stages: int) -> Place | None:
    """Return the task one stage nearer to the input of the model."""
    task = place.task
    if place.stage > 0:
        return Place(place.stage - 1, task)
    if task.chunk > 0:
        return Place(stages - 1, task._replace(chunk=task.chunk - 1))
    return None


def _after(place: Place, stages: int, chunks: int) -> Place | None:
    """Return the task one stage nearer to the loss."""
    task = place.task
    if place.stage < stages - 1:
        return Place(place.stage + 1, task)
    if task.chunk < chunks - 1:
        return Place(0, task._replace(chunk=task.chunk + 1))
    return None
