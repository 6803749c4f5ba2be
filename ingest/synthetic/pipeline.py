"""Synthetic pipelines: operations of 1F1B and interleaved 1F1B, and the truth of them.

`simulate(Pipeline(...))` gives the start of every operation by a simulation that no
analysis shares; `operations` makes rows of the table of that name of it.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from ingest.synthetic._pipeline_clock import Clock, run_clock
from ingest.synthetic._pipeline_faults import (
    Fault,
    LongSequences,
    Pauses,
    SlowLink,
    SlowStage,
    SlowWorker,
)
from ingest.synthetic._pipeline_files import write_pipeline
from ingest.synthetic._pipeline_lengths import Lengths, Times, draw_lengths
from ingest.synthetic._pipeline_rows import operations
from ingest.synthetic._pipeline_truth import Bubble, bubble_of

__all__ = [
    "Bubble",
    "Fault",
    "LongSequences",
    "Pauses",
    "Pipeline",
    "Simulation",
    "SlowLink",
    "SlowStage",
    "SlowWorker",
    "bubble_of",
    "operations",
    "simulate",
    "write_pipeline",
]

#: Nanoseconds in a millisecond. [ns]
MS: Final = 1_000_000

#: When the first step begins, where operations are dated.
_BEGUN: Final = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A run of a pipeline. Lengths are means, in ns.

    Attributes:
        stages: Stages, p.
        microbatches: Micro-batches of a step and replica, m.
        chunks: Chunks of layers that a stage has, v; more than one are interleaved.
        replicas: Data-parallel replicas.
        steps: Steps.
        seed: Seed of every random draw.
        forward_ns: A forward task: one micro-batch through one chunk.
        backward_ns: A backward task.
        transfer_ns: A send to the next stage, or back.
        gather_ns: Bringing the parameters together before a step.
        scatter_ns: Spreading the gradients after it.
        optimizer_ns: The optimizer.
        between_ns: Time between two steps.
        sd: Scatter of every length: standard deviation of its logarithm. [1]
        faults: What is wrong.
        first_step: Number of the first step.
        begun_ns: When the first step begins.
    """

    stages: int
    microbatches: int
    chunks: int = 1
    replicas: int = 1
    steps: int = 1
    seed: int = 0
    forward_ns: int = 10 * MS
    backward_ns: int = 20 * MS
    transfer_ns: int = MS // 2
    gather_ns: int = 5 * MS
    scatter_ns: int = 8 * MS
    optimizer_ns: int = 6 * MS
    between_ns: int = MS
    sd: float = 0.0
    faults: tuple[Fault, ...] = ()
    first_step: int = 0
    begun_ns: int = int(_BEGUN.timestamp()) * 1_000 * MS

    @property
    def ranks(self) -> int:
        """Workers; replicas of a stage have neighbouring ranks. [1]"""
        return self.stages * self.replicas

    @property
    def expected_ratio(self) -> float:
        """Bubble over compute of a pipeline in balance, (p - 1) / (v m). [1]

        Source: Narayanan et al., arXiv 2104.04473.
        """
        return (self.stages - 1) / (self.chunks * self.microbatches)


@dataclass(frozen=True, slots=True)
class Simulation:
    """What became of a pipeline.

    Attributes:
        pipeline: What was simulated.
        lengths: What every operation takes by itself.
        clock: When every operation started and ended.
    """

    pipeline: Pipeline
    lengths: Lengths
    clock: Clock

    @property
    def step_ns(self) -> Times:
        """Length of each step. [ns]"""
        return self.clock.step_ns

    def lost_ns(self, *faults: Fault) -> Times:
        """Return what faults cost each step: its length less that without them. [ns]

        Without arguments all faults are taken away. What single faults cost need not
        add up to that.
        """
        gone = faults or self.pipeline.faults
        kept = tuple(one for one in self.pipeline.faults if one not in gone)
        return self.step_ns - simulate(replace(self.pipeline, faults=kept)).step_ns


def simulate(pipeline: Pipeline) -> Simulation:
    """Simulate a pipeline. The same pipeline gives the same operations."""
    lengths = draw_lengths(pipeline)
    return Simulation(pipeline, lengths, run_clock(pipeline, lengths))
