"""The bubble of a synthetic pipeline, from the times that were simulated."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ingest.synthetic._pipeline_clock import Clock
from ingest.synthetic._pipeline_lengths import Times
from ingest.synthetic._pipeline_schedule import Place, Task

if TYPE_CHECKING:
    from ingest.synthetic.pipeline import Simulation


class Bubble(NamedTuple):
    """Time in which stages compute nothing; axes: stage, step, replica. [ns]

    A replica's pipeline lasts from the first forward task of any stage to the end of
    the last backward task of any.

    Attributes:
        warm_up: Before the first backward task of the stage.
        steady: From there to the end of its last forward task.
        cool_down: After both.
        computed: What the stage computes in the pipeline.
    """

    warm_up: Times
    steady: Times
    cool_down: Times
    computed: Times

    @property
    def whole(self) -> Times:
        """The bubble of each stage. [ns]"""
        return self.warm_up + self.steady + self.cool_down


def bubble_of(simulation: "Simulation") -> Bubble:
    """Split the bubble of a simulated pipeline."""
    clock = simulation.clock
    begun = np.min([start for start, _ in clock.tasks.values()], axis=0)
    ended = np.max([end for _, end in clock.tasks.values()], axis=0)
    parts = [
        _of_stage(clock, stage, tasks, begun, ended)
        for stage, tasks in enumerate(clock.order)
    ]
    return Bubble(*(np.stack(some) for some in zip(*parts, strict=True)))


def _of_stage(
    clock: Clock, stage: int, tasks: list[Task], begun: Times, ended: Times
) -> tuple[Times, Times, Times, Times]:
    times = [(task, *clock.tasks[Place(stage, task)]) for task in tasks]
    turn = np.min([start for task, start, _ in times if not task.is_forward], axis=0)
    last = np.max([end for task, _, end in times if task.is_forward], axis=0)
    late = np.maximum(turn, last)
    busy = [
        sum(
            (
                np.maximum(np.minimum(end, until) - np.maximum(start, since), 0)
                for _, start, end in times
            ),
            np.zeros_like(begun),
        )
        for since, until in ((begun, turn), (turn, late), (late, ended))
    ]
    return (
        turn - begun - busy[0],
        late - turn - busy[1],
        ended - late - busy[2],
        busy[0] + busy[1] + busy[2],
    )
