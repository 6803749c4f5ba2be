"""Planted causes of slow steps and their names; shortcuts against the long way."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from analysis._replay_scenarios import Scenarios
from ingest.synthetic.pipeline import (
    MS,
    Fault,
    LongSequences,
    Pauses,
    Pipeline,
    SlowLink,
    SlowStage,
    SlowWorker,
    operations,
    simulate,
)
from tests.analysis.replayed import answers, replay_of

PLAN = Pipeline(stages=4, microbatches=8, replicas=4, steps=4, sd=0.01)

#: A fault, the cause that it is, and what the evidence must name.
FAULTS: list[tuple[Fault, str, str]] = [
    (SlowWorker(dp_rank=2, stage=1, ratio=1.5), "worker", "dp 2 stage 1 (rank 6)"),
    (SlowWorker(dp_rank=2, stage=3, ratio=1.5), "worker", "dp 2 stage 3 (rank 14)"),
    (SlowStage(3), "last_stage", "stage 3"),
    (SlowStage(1), "stage", "stage 1"),
    (LongSequences(0.4), "sequence_length", "correlate at 1.00"),
    (Pauses(0.05, 300 * MS), "garbage_collection", "forward passes alone"),
    (SlowLink(stage=1, ratio=60.0), "communication", "backward-pp-comm"),
]


@pytest.mark.parametrize("chunks", [1, 2])
@pytest.mark.parametrize(("fault", "cause", "named"), FAULTS)
def test_a_planted_cause_is_named(
    fault: Fault, cause: str, named: str, chunks: int
) -> None:
    slow = replace(PLAN, chunks=chunks, faults=(fault,))
    (row,) = answers(operations(simulate(slow)))["Replays"].to_dicts()
    assert row["cause"] == cause
    assert named in row["evidence"]


@pytest.mark.parametrize("chunks", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_a_healthy_pipeline_has_no_cause(chunks: int, seed: int) -> None:
    (row,) = answers(operations(simulate(replace(PLAN, chunks=chunks, seed=seed))))[
        "Replays"
    ].to_dicts()
    assert row["cause"] == "not_straggling"


@pytest.mark.parametrize(
    ("lengths", "stage", "cause"),
    [
        (0.2, SlowStage(3), "last_stage"),
        (0.5, SlowStage(3), "sequence_length"),
        (0.4, SlowStage(3, 1.3, 1.2), "sequence_length"),
    ],
)
def test_the_larger_of_two_causes_is_named(
    lengths: float, stage: SlowStage, cause: str
) -> None:
    """The cause is the fault without which a step would be shorter."""
    sequences = LongSequences(lengths)
    simulation = simulate(replace(PLAN, faults=(sequences, stage)))
    by_lengths, by_stage = (
        simulation.lost_ns(fault).mean() for fault in (sequences, stage)
    )
    assert bool(by_lengths > by_stage) is (cause == "sequence_length")
    (row,) = answers(operations(simulation))["Replays"].to_dicts()
    assert row["cause"] == cause


def test_a_slow_stage_of_one_replica_may_be_a_slow_gpu() -> None:
    slow = replace(PLAN, replicas=1, faults=(SlowStage(3),))
    (row,) = answers(operations(simulate(slow)))["Replays"].to_dicts()
    assert row["cause"] == "last_stage"
    assert "a slow GPU there" in row["evidence"]


def test_a_replica_beside_one_ideal_replica_is_enough() -> None:
    """All other replicas are alike when ideal: the same with all of them."""
    slow = replace(PLAN, faults=(SlowWorker(dp_rank=2, stage=1, ratio=1.5),))
    scenarios = Scenarios.of(replay_of(operations(simulate(slow))))
    short = scenarios.keep_replicas()
    for replica, steps in enumerate(short):
        kept = np.zeros((1, 1, slow.replicas, 1), dtype=bool)
        kept[:, :, replica] = True
        assert steps.tolist() == scenarios.keep(kept).tolist()


def test_shares_are_not_clipped() -> None:
    slow = replace(PLAN, faults=(SlowWorker(dp_rank=2, stage=1, ratio=1.5),))
    (row,) = answers(operations(simulate(slow)))["Replays"].to_dicts()
    # with the slow worker ideal, the mean that counts as ideal is longer than the rest
    assert row["m_w_ratio"] > 1
    assert row["m_s_ratio"] < 0


def test_a_worker_is_measured_in_every_trace() -> None:
    cells = answers(operations(simulate(PLAN)))["ReplayCells"]
    workers = cells.filter(pl.col("scope") == "worker")
    assert workers.height == PLAN.ranks
    assert workers["rank"].n_unique() == PLAN.ranks
