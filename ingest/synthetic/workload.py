"""One training step of every rank: compute, collectives that wait, and their sums.

Tensor-parallel ranks meet in an all-reduce after each layer and pass. Gradients are
reduced over the data-parallel ranks in buckets on a stream of their own while the
backward pass goes on; only the last bucket blocks. An all-reduce ends for all its ranks
at once: when the last has come, plus the transfer.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from ingest.synthetic.scenario import Scenario

#: Ranks leave a collective within a few microseconds of each other. [ns]
EXIT_SKEW_NS: Final = 4_000

Group = Literal["tp", "dp", "world"]
Kind = Literal["forward", "backward", "optimizer", "copy", "tp", "dp", "world"]


class Operation(NamedTuple):
    """Work of one rank's GPU, on the true clock. [ns]

    Attributes:
        kind: What it is; those of a group are collectives.
        start: Start.
        end: End, for a collective with the wait for the others.
        position: Position among the collectives of its kind in the step.
    """

    kind: Kind
    start: int
    end: int
    position: int = 0


@dataclass(slots=True)
class RankStep:
    """A step of one rank. Times in ns on the true clock; parts never overlap."""

    rank: int
    start: int
    now: int
    data: int = 0
    compute: int = 0
    communication: int = 0
    wait: int = 0
    checkpoint: int = 0
    operations: list[Operation] = field(default_factory=list)

    @property
    def duration(self) -> int:
        """Length of the step. [ns]"""
        return self.now - self.start

    def work(self, kind: Kind, length: int) -> None:
        """Compute for a while. [ns]"""
        self.operations.append(Operation(kind, self.now, self.now + length))
        self.compute += length
        self.now += length

    def block(self, arrival: int, end: int) -> None:
        """Be blocked by a collective until it ends. [ns]"""
        wait = max(arrival - self.now, 0)
        self.wait += wait
        self.communication += end - self.now - wait
        self.now = end


class Workload:
    """Simulates steps; its draws do not depend on how fast the ranks are."""

    def __init__(self, scenario: Scenario, speeds: Sequence[float]) -> None:
        """Take the time that each rank needs over the nominal one. [1]"""
        self._scenario = scenario
        self._speeds = speeds
        tp_heads = range(0, scenario.ranks, scenario.tp)
        self._tp_groups = [scenario.tp_group(rank) for rank in tp_heads]
        self._dp_groups = [scenario.dp_group(rank) for rank in range(scenario.tp)]
        self._world = (tuple(range(scenario.ranks)),)

    def step(self, number: int, starts: Sequence[int]) -> list[RankStep]:
        """Return a step of all ranks, without its checkpoint.

        Args:
            number: The step.
            starts: When each rank begins. [ns]
        """
        scenario = self._scenario
        draw = scenario.draws("step", number)
        steps = [RankStep(rank, start, start) for rank, start in enumerate(starts)]
        pace = [speed * draw.gauss(1, scenario.step_sd) for speed in self._speeds]
        self._load(steps, number in scenario.data_stall_steps, draw)
        for layer in range(scenario.layers):
            self._compute(steps, "forward", scenario.forward_ns, pace, draw)
            self._meet(steps, layer, "tp", draw)
        self._backward(steps, pace, draw)
        self._meet(steps, 0, "world", draw)
        self._compute(steps, "optimizer", scenario.optimizer_ns, pace, draw)
        return steps

    def _load(self, steps: list[RankStep], stalls: bool, draw: random.Random) -> None:
        scenario = self._scenario
        for step in steps:
            length = scenario.data_ns * draw.uniform(0.8, 1.2)
            step.data = round(length) + stalls * scenario.data_stall_ns
            step.now += step.data
            copied = step.now + scenario.copy_ns
            step.operations.append(Operation("copy", step.now, copied))
            step.now = copied

    def _compute(
        self,
        steps: list[RankStep],
        kind: Kind,
        nominal_ns: int,
        pace: Sequence[float],
        draw: random.Random,
    ) -> None:
        for step, factor in zip(steps, pace, strict=True):
            jitter = draw.gauss(1, self._scenario.layer_sd)
            step.work(kind, round(nominal_ns * factor * jitter))

    def _backward(
        self, steps: list[RankStep], pace: Sequence[float], draw: random.Random
    ) -> None:
        scenario = self._scenario
        free = [step.now for step in steps]
        per_bucket = scenario.layers // scenario.buckets
        for layer in range(scenario.layers):
            self._compute(steps, "backward", scenario.backward_ns, pace, draw)
            if (layer + 1) % per_bucket == 0:
                arrivals, free = self._reduce(steps, free, layer // per_bucket, draw)
            self._meet(steps, scenario.layers + layer, "tp", draw)
        for step, arrival, end in zip(steps, arrivals, free, strict=True):
            step.block(arrival, max(end, step.now))

    def _reduce(
        self, steps: list[RankStep], free: list[int], bucket: int, draw: random.Random
    ) -> tuple[list[int], list[int]]:
        """Reduce a bucket beside the backward pass; return arrivals and ends. [ns]"""
        arrivals, ends = [0] * len(steps), [0] * len(steps)
        for group in self._dp_groups:
            starts = {rank: max(steps[rank].now, free[rank]) for rank in group}
            arrival = max(starts.values())
            end = arrival + _scatter(self._scenario.dp_transfer_ns, draw)
            for rank, start in starts.items():
                arrivals[rank] = arrival
                ends[rank] = end + draw.randrange(EXIT_SKEW_NS)
                reduced = Operation("dp", start, ends[rank], bucket)
                steps[rank].operations.append(reduced)
        return arrivals, ends

    def _meet(
        self, steps: list[RankStep], index: int, kind: Group, draw: random.Random
    ) -> None:
        """Let the ranks of each group wait for each other in an all-reduce."""
        scenario = self._scenario
        nominal = {"tp": scenario.tp_transfer_ns, "world": scenario.norm_transfer_ns}
        for group in self._tp_groups if kind == "tp" else self._world:
            arrival = max(steps[rank].now for rank in group)
            end = arrival + _scatter(nominal[kind], draw)
            for rank in group:
                left = end + draw.randrange(EXIT_SKEW_NS)
                steps[rank].operations.append(
                    Operation(kind, steps[rank].now, left, index)
                )
                steps[rank].block(arrival, left)


def _scatter(nominal_ns: int, draw: random.Random) -> int:
    """Return a transfer time: never under the nominal one, with a small tail. [ns]"""
    return round(nominal_ns * (1 + abs(draw.gauss(0, 0.02))))
