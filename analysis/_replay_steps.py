"""A trace's steps as a graph that can be run again with other lengths of operations.

The method is that of "Understanding Stragglers in Large Model Training Using What-if
Analysis" (arXiv 2505.05713). All steps and replicas share the graph of one; lengths are
arrays over steps and replicas, and levels of the graph are simulated one by one.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._replay_doubts import NONE, Doubts
from analysis._replay_graph import Graph
from analysis._replay_simulator import Times, simulate, starts_of, step_portions
from analysis._replay_simulator import step_times as times_of_steps
from analysis._replay_traces import Trace


@dataclass(frozen=True, slots=True)
class _Traced:
    """What is told of a trace.

    Attributes:
        trace: The trace, or those that are its parts.
    """

    trace: Trace

    @property
    def run_id(self) -> str:
        """Run of the trace."""
        return self.trace.run_id

    @property
    def attempt(self) -> int:
        """Attempt of the run."""
        return self.trace.attempt

    @property
    def trace_id(self) -> str:
        """Name of the trace: that of its first part."""
        return self.trace.parts[0]


@dataclass(frozen=True, slots=True)
class NotReplayable(_Traced):
    """A trace that cannot be replayed.

    Attributes:
        reason: Why, in words.
    """

    reason: str

    @property
    def steps(self) -> int:
        """Steps seen. [1]"""
        return len(self.trace.steps)

    @property
    def operations(self) -> int:
        """Operations seen. [1]"""
        return self.trace.operations


@dataclass(frozen=True, slots=True)
class Replay(_Traced):
    """The steps of a trace, ready to be run with other lengths of operations.

    Attributes:
        operations: One row per replayed operation, in the order of `row`: that of
            stage, kind and place, then step, then replica. `own_ns` is the length of
            a pass and the transfer alone of what ranks leave together, `ideal_ns`
            what it would be if all were alike, `start_ns` counts from the beginning
            of the step. `group` is equal where ranks of one step leave together, as
            far as one replica goes.
        graph: What waits for what.
        shape: Operations of a cell, steps, replicas, lanes.
        steps: Steps, ascending.
        steps_passed_over: Steps between those that are held in memory. [1]
        steps_left_out: Steps that do not fit the graph. [1]
        replicas_left_out: Replicas that do not fit it. [1]
        operations_left_out: Operations of kinds without use, or that do not fit. [1]
        doubts: What the trace lacks, and what is not told then.
    """

    operations: pl.DataFrame
    graph: Graph
    shape: tuple[int, int, int, int]
    steps: tuple[int, ...]
    steps_passed_over: int
    steps_left_out: int
    replicas_left_out: int
    operations_left_out: int
    doubts: Doubts = NONE

    def step_times(self, own_ns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the simulated length of each step. [ns]

        Args:
            own_ns: Length of every operation, by row. [ns]
        """
        return times_of_steps(self.graph, self._shaped(own_ns))

    def simulate(self, own_ns: npt.NDArray[np.int64]) -> pl.DataFrame:
        """Return `step` and `simulated_ns` for other lengths of operations. [ns]

        Args:
            own_ns: Length of every operation, by row. [ns]
        """
        return self._by_step("simulated_ns", self.step_times(own_ns))

    def schedule(self, own_ns: npt.NDArray[np.int64]) -> pl.DataFrame:
        """Return `row`, and `start_ns` and `end_ns` since the step's beginning. [ns]

        Args:
            own_ns: Length of every operation, by row. [ns]
        """
        own = self._shaped(own_ns)
        starts, ends = np.empty_like(own), np.empty_like(own)
        for portion in step_portions(self.shape):
            ends[:, portion] = simulate(self.graph, own[:, portion])
            starts[:, portion] = starts_of(self.graph, ends[:, portion])
        return pl.DataFrame(
            {
                "row": self.operations["row"],
                "start_ns": starts.reshape(-1),
                "end_ns": ends.reshape(-1),
            }
        )

    def actual_steps(self) -> pl.DataFrame:
        """Return `step` and `actual_ns`: first start to last end of a step."""
        end = pl.col("start_ns") + pl.col("duration_ns")
        lengths = self.operations.group_by("step").agg(actual_ns=end.max())
        return lengths.sort("step")

    def own_ns(self) -> npt.NDArray[np.int64]:
        """Return the measured length of every operation, by row. [ns]"""
        return self.operations["own_ns"].to_numpy().copy()

    def ideal_ns(self) -> npt.NDArray[np.int64]:
        """Return the ideal length of every operation, by row. [ns]"""
        return self.operations["ideal_ns"].to_numpy().copy()

    def nodes(self) -> pl.DataFrame:
        """Return the operations of a cell, one row per node, those of its first."""
        return self.operations.gather_every(self._cells())

    def node_kinds(self) -> list[str]:
        """Return the kind of each operation of a cell."""
        return self.nodes()["kind"].cast(pl.String).to_list()

    def dp_ranks(self) -> list[int]:
        """Return the replicas, ascending, as they stand in the shape."""
        return self.operations["dp_rank"].unique().sort().to_list()

    def workers(self) -> pl.DataFrame:
        """Return `dp_rank` and `pp_rank` of each worker, and the `rank` of its first.

        A worker is a stage of a replica, on one rank or on several in parallel.
        """
        step = self.operations.filter(pl.col("step") == self.steps[0])
        return step.group_by("dp_rank", "pp_rank").agg(pl.col("rank").min())

    def alone(self) -> "Replay":
        """Return the first lane of the first replica, as if it were the only one.

        Where all replicas take the same time, it tells of all of them.
        """
        nodes, steps, _, _ = self.shape
        step_cells = self.shape[2] * self.shape[3]
        rows = self.operations.gather_every(step_cells).drop("row")
        first = rows.with_row_index("row")
        return replace(self, operations=first, shape=(nodes, steps, 1, 1))

    def _cells(self) -> int:
        _, steps, replicas, lanes = self.shape
        return steps * replicas * lanes

    def _shaped(self, own_ns: npt.NDArray[np.int64]) -> Times:
        return np.asarray(own_ns, dtype=np.int64).reshape(self.shape)

    def _by_step(self, name: str, values: npt.NDArray[np.int64]) -> pl.DataFrame:
        return pl.DataFrame({"step": self.steps, name: values})
