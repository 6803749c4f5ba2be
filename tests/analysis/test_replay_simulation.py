"""Level by level against one operation after another, and against known truths."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis._replay import Replay
from analysis._replay_levels import ALL, ALONE
from ingest.synthetic.pipeline import (
    MS,
    Pipeline,
    SlowStage,
    SlowWorker,
    operations,
    simulate,
)
from tests.analysis.replayed import replay_of
from tests.examples import examples

#: A time in each of the cells of a node: step, replica and lane.
Cell = tuple[int, int, int]


def pipelines() -> st.SearchStrategy[Pipeline]:
    """Return small pipelines; micro-batches come in whole rounds over the stages."""
    return st.builds(
        lambda stages, rounds, chunks, replicas, steps, seed: Pipeline(
            stages=stages,
            microbatches=stages * rounds,
            chunks=chunks,
            replicas=replicas,
            steps=steps,
            seed=seed,
            sd=0.2,
        ),
        st.integers(1, 4),
        st.integers(1, 3),
        st.integers(1, 3),
        st.integers(1, 3),
        st.integers(1, 2),
        st.integers(0, 1_000),
    )


def replayed(pipeline: Pipeline) -> Replay:
    """Return the replay of a synthetic pipeline."""
    return replay_of(operations(simulate(pipeline)))


class EventByEvent:
    """A simulation that asks for each operation what it waits for."""

    def __init__(self, replay: Replay, own: npt.NDArray[np.int64]) -> None:
        """Remember what waits for what, and no end yet."""
        self._graph = replay.graph
        self._own = own.reshape(replay.shape)
        self._before: dict[int, list[int]] = defaultdict(list)
        for before, after in replay.graph.edges.iter_rows():
            self._before[after].append(before)
        self._members: dict[int, list[int]] = defaultdict(list)
        for node, group in enumerate(replay.graph.group.tolist()):
            self._members[group].append(node)
        self._ends: dict[tuple[int, Cell], int] = {}

    def end(self, node: int, cell: Cell) -> int:
        """Return when an operation ends. [ns]"""
        if (node, cell) not in self._ends:
            arrived = max(
                self._launch(member, other)
                for member in self._members[int(self._graph.group[node])]
                for other in self._together(node, cell)
            )
            self._ends[node, cell] = arrived + int(self._own[node, *cell])
        return self._ends[node, cell]

    def _launch(self, node: int, cell: Cell) -> int:
        return max((self.end(one, cell) for one in self._before[node]), default=0)

    def _together(self, node: int, cell: Cell) -> list[Cell]:
        step, _, lane = cell
        _, _, replicas, lanes = self._own.shape
        reach = int(self._graph.reach[node])
        if reach == ALONE:
            return [cell]
        over = range(lanes) if reach == ALL else [lane]
        return [(step, other, one) for other in range(replicas) for one in over]


@pytest.mark.thorough
@given(pipelines(), st.integers(0, 1_000))
@settings(max_examples=examples(15))
def test_levels_give_what_events_give(pipeline: Pipeline, seed: int) -> None:
    replay = replayed(pipeline)
    own = np.random.default_rng(seed).integers(0, 100, replay.operations.height)
    events = EventByEvent(replay, own)
    ends = replay.schedule(own)["end_ns"].to_numpy().reshape(replay.shape)
    for place in np.ndindex(*replay.shape):
        node, *cell = (int(one) for one in place)
        assert ends[place] == events.end(node, (cell[0], cell[1], cell[2]))
    assert replay.step_times(own).tolist() == ends.max(axis=(0, 2, 3)).tolist()


@given(pipelines())
@settings(max_examples=examples(15))
def test_measured_lengths_give_the_step_as_it_was(pipeline: Pipeline) -> None:
    """A simulation that shares no code with the replay made these steps."""
    simulation = simulate(pipeline)
    replay = replay_of(operations(simulation))
    assert replay.step_times(replay.own_ns()).tolist() == simulation.step_ns.tolist()


def test_a_repair_gives_the_step_of_the_healthy_pipeline() -> None:
    healthy = Pipeline(stages=4, microbatches=8, chunks=2, replicas=3, steps=2)
    slow = replace(
        healthy, faults=(SlowWorker(dp_rank=1, stage=2, ratio=2.0), SlowStage(3))
    )
    replay = replayed(slow)
    usual = {"forward-compute": 10 * MS, "backward-compute": 20 * MS}
    kind = pl.col("kind").cast(pl.String)
    repaired = replay.operations.select(
        kind.replace_strict(usual, default=pl.col("own_ns"), return_dtype=pl.Int64)
    ).to_series()
    times = replay.step_times(repaired.to_numpy())
    assert times.tolist() == simulate(healthy).step_ns.tolist()


def test_portions_of_steps_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    replay = replayed(Pipeline(stages=2, microbatches=4, replicas=2, steps=7, sd=0.1))
    whole = replay.step_times(replay.own_ns())
    schedule = replay.schedule(replay.own_ns())
    monkeypatch.setattr("analysis._replay_simulator.PORTION", 1)
    assert replay.step_times(replay.own_ns()).tolist() == whole.tolist()
    assert replay.schedule(replay.own_ns()).equals(schedule)


def test_a_start_is_when_all_before_it_have_ended() -> None:
    replay = replayed(Pipeline(stages=3, microbatches=6, replicas=2, steps=2, sd=0.1))
    schedule = replay.schedule(replay.own_ns())
    shape = (replay.shape[0], -1)
    starts, ends = (
        schedule[name].to_numpy().reshape(shape) for name in ("start_ns", "end_ns")
    )
    before, after = (
        replay.graph.edges[name].to_numpy() for name in ("before", "after")
    )
    latest = np.zeros_like(starts)
    np.maximum.at(latest, after, ends[before])
    assert (starts == latest).all()
