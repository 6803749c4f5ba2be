"""What a synthetic run is made of: fleet, workload, faults. The defaults are pod16."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

#: Nanoseconds in a millisecond and in a second. [ns]
MS: Final = 1_000_000
SECOND: Final = 1_000 * MS


@dataclass(frozen=True, slots=True)
class Scenario:
    """A run to be simulated. Times in ns, power in W.

    Attributes:
        seed: Seed of every random draw.
        run_id: Name of the run and of its job.
        cluster: Name of the cluster.
        zone: Zone that the cluster's tools write local time in.
        submitted: When the job is submitted.
        nodes: Nodes of the job.
        gpus_per_node: GPUs of a node.
        tp: Tensor-parallel ranks; the others are data-parallel.
        layers: Layers of the model.
        buckets: Gradient buckets that are reduced while the backward pass runs.
        planned_steps: Steps that the run is meant to take.
        checkpoint_every: Steps between two checkpoints.
        failed_step: Step in which the GPU is lost; None for a run without failure.
        failed_rank: Rank that loses its GPU.
        slow_rank: Rank with the slow GPU; None for a healthy fleet.
        slowdown_ratio: Its compute time over that of the others.
        data_stall_steps: Steps that wait for their input.
        traced_steps: Steps of the first attempt that the profiler sees.
        clock_offsets_ns: How far ahead the nodes' clocks are, in turn. [ns]
    """

    seed: int
    run_id: str = "pod16-demo"
    cluster: str = "pod-a"
    zone: str = "Europe/Berlin"
    submitted: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    nodes: int = 2
    gpus_per_node: int = 8
    tp: int = 2
    layers: int = 16
    buckets: int = 4
    planned_steps: int = 100
    checkpoint_every: int = 25
    failed_step: int | None = 60
    failed_rank: int = 11
    slow_rank: int | None = 5
    slowdown_ratio: float = 1.12
    data_stall_steps: tuple[int, ...] = (31, 32, 33, 82)
    traced_steps: tuple[int, ...] = (10, 11, 12)
    clock_offsets_ns: tuple[int, ...] = (0, 420_000)

    forward_ns: int = 16 * MS
    backward_ns: int = 32 * MS
    optimizer_ns: int = 18 * MS
    tp_transfer_ns: int = 1_600_000
    dp_transfer_ns: int = 40 * MS
    norm_transfer_ns: int = 300_000
    data_ns: int = 5 * MS
    data_stall_ns: int = 320 * MS
    copy_ns: int = 800_000
    checkpoint_ns: int = 2_400 * MS
    persistent_sd: float = 0.003
    step_sd: float = 0.004
    layer_sd: float = 0.008

    job_id: int = 48217
    queue_ns: int = 45 * SECOND
    startup_ns: tuple[int, ...] = (4_200 * MS, 5_100 * MS)
    hang_ns: int = 13 * SECOND
    requeue_ns: int = 183 * SECOND
    teardown_ns: int = 1_200 * MS
    failure_delay_ns: int = 412 * MS

    power_limit_w: int = 700
    capped_limit_w: int = 500
    sm_clock_mhz: int = 1_980

    parameters: int = 3_221_225_472
    hidden: int = 4_096
    sequence_length: int = 8_192
    tokens_per_step: int = 327_680

    def draws(self, *names: object) -> random.Random:
        """Return random draws that only the seed and these names decide."""
        words = " ".join(map(str, (self.seed, *names)))
        return random.Random(words)  # noqa: S311 - no secret depends on it

    @property
    def ranks(self) -> int:
        """Ranks of the run."""
        return self.nodes * self.gpus_per_node

    @property
    def dp(self) -> int:
        """Data-parallel replicas."""
        return self.ranks // self.tp

    @property
    def submitted_ns(self) -> int:
        """When the job is submitted. [ns]"""
        return int(self.submitted.timestamp()) * SECOND

    @property
    def resumed_step(self) -> int:
        """Step that the second attempt starts with: that after the last checkpoint."""
        failed = self.failed_step or 0
        return failed - failed % self.checkpoint_every

    def offset_ns(self, rank: int) -> int:
        """Return how far ahead the clock of a rank's node is. [ns]"""
        return self.node_offset_ns(rank // self.gpus_per_node)

    def node_offset_ns(self, node: int) -> int:
        """Return how far ahead the clock of a node is. [ns]"""
        return self.clock_offsets_ns[node % len(self.clock_offsets_ns)]

    def tp_group(self, rank: int) -> tuple[int, ...]:
        """Return the tensor-parallel group of a rank."""
        first = rank - rank % self.tp
        return tuple(range(first, first + self.tp))

    def dp_group(self, rank: int) -> tuple[int, ...]:
        """Return the data-parallel group of a rank."""
        return tuple(range(rank % self.tp, self.ranks, self.tp))

    def has_checkpoint(self, step: int) -> bool:
        """Return whether a checkpoint is written at the end of a step."""
        return (step + 1) % self.checkpoint_every == 0
