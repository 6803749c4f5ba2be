"""Steps simulated with some operations as they were and all others ideal.

Kinds and stages are the same in every replica, so that what is kept is told by a mask
over the shape of a replay. With all other replicas ideal, one stands for them all:
the slowdown by a replica is simulated beside a single ideal one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from analysis._replay_simulator import PORTION, Times, simulate, step_portions
from analysis._replay_steps import Replay

Mask = npt.NDArray[np.bool_]
Lengths = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Scenarios:
    """A replay with its lengths in shape: node, step, replica, lane.

    Attributes:
        replay: The replay.
        own: Measured lengths. [ns]
        ideal: Ideal lengths, equal for all steps and replicas. [ns]
        stage: Stage of each node.
    """

    replay: Replay
    own: Times
    ideal: Times
    stage: npt.NDArray[np.int64]

    @classmethod
    def of(cls, replay: Replay) -> Self:
        """Return the scenarios of a replay."""
        own, ideal, stage = (
            replay.operations[name].to_numpy().reshape(replay.shape)
            for name in ("own_ns", "ideal_ns", "pp_rank")
        )
        first = (slice(None), slice(1), slice(1), slice(1))
        return cls(replay, own, ideal[first], stage[first].reshape(-1).astype(np.int64))

    def measured(self) -> Lengths:
        """Return the length of every step with measured lengths. [ns]"""
        return self.replay.step_times(self.own)

    def ideal_ns(self) -> int:
        """Return the length of a step in which all is ideal. [ns]"""
        return int(simulate(self.replay.graph, self.ideal).max())

    def keep(self, kept: Mask) -> Lengths:
        """Return the length of every step with all ideal but what is kept. [ns]

        Args:
            kept: What keeps its measured length; one for all steps.
        """
        return self._times(
            np.where(kept, self.own[:, portion], self.ideal)
            for portion in step_portions(self.own.shape)
        )

    def replace(self, lengths: Times, where: Mask) -> Lengths:
        """Return the length of every step with other lengths somewhere. [ns]

        Args:
            lengths: Other lengths; one for all steps, or of each. [ns]
            where: What takes them; one for all steps, or of each.
        """
        return self._times(
            np.where(_cut(where, portion), _cut(lengths, portion), self.own[:, portion])
            for portion in step_portions(self.own.shape)
        )

    def keep_nodes(self, nodes: Mask) -> Lengths:
        """Return the length of every step with all ideal but some nodes. [ns]"""
        return self.keep(nodes.reshape(-1, 1, 1, 1))

    def keep_replicas(self) -> Lengths:
        """Return the length of every step with all ideal but one replica. [ns]

        Returns:
            Of replicas by steps.
        """
        nodes, steps, replicas, lanes = self.own.shape
        if replicas == 1:
            return self.measured().reshape(1, steps)
        together = max(1, PORTION // (nodes * steps * 2 * lanes))
        found = [
            self._beside_ideal(slice(first, first + together))
            for first in range(0, replicas, together)
        ]
        return np.concatenate(found)

    def _beside_ideal(self, chosen: slice) -> Lengths:
        nodes, steps, _, lanes = self.own.shape
        some = np.moveaxis(self.own[:, :, chosen], 2, 1)
        flat = some.reshape(nodes, -1, 1, lanes)
        pair = np.concatenate([flat, np.broadcast_to(self.ideal, flat.shape)], axis=2)
        return self._times(
            pair[:, portion] for portion in step_portions(pair.shape)
        ).reshape(-1, steps)

    def _times(self, portions: Iterator[Times]) -> Lengths:
        graph = self.replay.graph
        found = [simulate(graph, own).max(axis=(0, 2, 3)) for own in portions]
        return np.concatenate(found)


def _cut(values: npt.NDArray[np.generic], steps: slice) -> npt.NDArray[np.generic]:
    return values if values.shape[1] == 1 else values[:, steps]
