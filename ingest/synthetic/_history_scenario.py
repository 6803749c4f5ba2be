"""What a synthetic history is made of. The defaults are Llama 3's 54 days."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from ingest.synthetic._history_causes import PLANNED, UNEXPECTED

#: Nanoseconds in a second, seconds in a day.
SECOND: Final = 1_000_000_000
DAY_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class History:
    """A long run that stops and goes on. Times in s.

    Steps are counted by the minute, so that the whole is read in seconds: one stands
    for some ten steps of the published run.

    Attributes:
        seed: Seed of every random draw.
        run_id: Name of the run and of its job.
        cluster: Name of the cluster.
        begun: When the first attempt is submitted.
        days: Days that attempts run, all together; the time between them is extra.
        nodes: Nodes of each attempt.
        gpus_per_node: GPUs of a node.
        spare_nodes: Nodes that are paid for beyond them, where the run is reserved.
        is_reserved: Whether GPUs are paid for between attempts, too, and spares at all.
        unexpected: Unexpected stops that are expected in these days. [1]
        planned: Planned stops, exactly as many. [1]
        step_s: Mean time of a step.
        step_sd: Standard deviation of a step, relative. [1]
        checkpoint_every: Steps between two checkpoints. [1]
        stall_s: How long a checkpoint holds the step up.
        react_s: From the first sign of a stop to the end of its attempt, between.
        decide_s: From there to the next submission, between.
        queue_s: From there to the next start, between. With the decision it is longer
            than five minutes, in which a sign may still be laid to the stop before it.
        load_s: From there to the first step, between.
        tokens_per_gpu: Tokens of a step for each GPU: ten of the published steps of
            16,777,216 over 16,384 GPUs. [1]
        usd_per_gpu_hour: Price of a GPU. [USD/h]
    """

    seed: int
    run_id: str = "history-405b"
    cluster: str = "pod-a"
    begun: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    days: int = 54
    nodes: int = 2_048
    gpus_per_node: int = 8
    spare_nodes: int = 8
    is_reserved: bool = True
    unexpected: float = UNEXPECTED
    planned: int = PLANNED
    step_s: float = 60.0
    step_sd: float = 0.005
    checkpoint_every: int = 10
    stall_s: float = 5.0
    react_s: tuple[int, int] = (20, 60)
    decide_s: tuple[int, int] = (60, 120)
    queue_s: tuple[int, int] = (241, 300)
    load_s: tuple[int, int] = (120, 240)
    tokens_per_gpu: int = 10 * 1_024
    usd_per_gpu_hour: float = 2.0

    @property
    def begun_ns(self) -> int:
        """When the first attempt is submitted. [ns]"""
        return round(self.begun.timestamp()) * SECOND

    @property
    def gpus(self) -> int:
        """GPUs of an attempt."""
        return self.nodes * self.gpus_per_node

    @property
    def reserved(self) -> int:
        """GPUs that are paid for, also between attempts where they are reserved."""
        spares = self.spare_nodes if self.is_reserved else 0
        return (self.nodes + spares) * self.gpus_per_node

    @property
    def tokens_per_step(self) -> int:
        """Tokens of a step. [1]"""
        return self.tokens_per_gpu * self.gpus

    def draws(self, what: str) -> random.Random:
        """Return the stream of random numbers for one thing."""
        return random.Random(f"{self.seed}/{what}")  # noqa: S311 - no secret


def node_name(node: int) -> str:
    """Return the name of a node."""
    return f"node-{node + 1:04}"
