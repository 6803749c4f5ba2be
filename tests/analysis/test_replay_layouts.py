"""Layouts of traces: stages, replicas, lanes and chunks, told or not."""

from dataclasses import replace

import polars as pl
import pytest

from ingest.synthetic.pipeline import Pipeline, operations, simulate
from tests.analysis.replayed import answers, reason_of, replay_of

PLAN = Pipeline(stages=2, microbatches=4, replicas=2, steps=3, sd=0.1, seed=4)


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """Operations of three steps of two replicas of two stages."""
    return operations(simulate(PLAN))


def test_transfers_that_are_not_recorded_take_no_time(rows: pl.DataFrame) -> None:
    bare = rows.filter(~pl.col("kind").str.contains("send|recv"))
    (row,) = answers(bare)["Replays"].to_dicts()
    assert (
        row["reason"] == "transfers between stages are not recorded: they take no time"
    )
    truth = simulate(replace(PLAN, transfer_ns=0)).step_ns.mean()
    assert row["simulated_ns"] == round(truth)


def test_a_stage_whose_operations_are_missing(rows: pl.DataFrame) -> None:
    assert "missing" in reason_of(rows.filter(pl.col("pp_rank") == 1))


def test_a_single_stage() -> None:
    simulation = simulate(replace(PLAN, stages=1))
    told = answers(operations(simulation))
    (row,) = told["Replays"].to_dicts()
    assert row["simulated_ns"] == round(simulation.step_ns.mean())
    assert row["m_s_ratio"] == 0


def test_a_single_replica() -> None:
    simulation = simulate(replace(PLAN, replicas=1))
    told = answers(operations(simulation))
    (row,) = told["Replays"].to_dicts()
    assert row["simulated_ns"] == round(simulation.step_ns.mean())
    # all is ideal but the only replica: nothing is
    (cell,) = told["ReplayCells"].filter(pl.col("scope") == "dp_rank").to_dicts()
    assert cell["slowdown_ratio"] == pytest.approx(row["slowdown_ratio"])


@pytest.mark.parametrize("chunks", [1, 2, 3])
def test_transfers_that_move_nothing_may_be_left_out(chunks: int) -> None:
    """At the first and the last chunk of the model there is nobody to send to."""
    simulation = simulate(replace(PLAN, stages=3, microbatches=6, chunks=chunks))
    rows = operations(simulation)
    nothing = pl.col("kind").str.contains("send|recv") & (pl.col("duration_ns") == 0)
    assert bool(rows.select(nothing.any()).item()) is (chunks > 1)
    for some in (rows, rows.filter(~nothing)):
        replay = replay_of(some)
        times = replay.step_times(replay.own_ns()).tolist()
        assert times == simulation.step_ns.tolist()


def test_a_replica_that_is_not_told_where_there_is_one_only() -> None:
    one = operations(simulate(replace(PLAN, replicas=1)))
    told = one.with_columns(dp_rank=pl.lit(None, pl.Int32))
    assert replay_of(told).dp_ranks() == [0]


def test_ranks_of_a_stage_are_lanes_that_only_clipping_joins() -> None:
    one = operations(simulate(replace(PLAN, replicas=1)))
    twin = one.with_columns(rank=pl.col("rank") + 2, tp_rank=pl.lit(1, pl.Int32))
    replay = replay_of(pl.concat([one, twin]))
    assert replay.shape[2:] == (1, 2)
    usual = replay_of(one)
    times = usual.step_times(usual.own_ns()).tolist()
    assert replay.step_times(replay.own_ns()).tolist() == times


@pytest.mark.parametrize("chunks", [1, 2])
def test_transfers_at_the_ends_of_a_step_serve_no_pass(chunks: int) -> None:
    """A receive after the last pass, and a send before the first, are not launched."""
    simulation = simulate(replace(PLAN, stages=3, microbatches=6, chunks=chunks))
    rows = operations(simulation)
    seat = ("step", "rank")
    end = pl.col("start_ns") + pl.col("duration_ns")
    is_forward = pl.col("kind") == "forward-compute"
    is_backward = pl.col("kind") == "backward-compute"
    last = pl.col("start_ns").filter(is_forward).max().over(seat)
    first = end.filter(is_backward).min().over(seat)
    added = [
        rows.with_columns(start_ns=at)
        .unique(seat, keep="first", maintain_order=True)
        .filter(pl.col("pp_rank") == 1)
        .with_columns(
            kind=pl.lit(kind),
            sequence=pl.lit(None, pl.Int64),
            duration_ns=pl.lit(1_000, pl.Int64),
        )
        for kind, at in (
            ("forward-recv", last + 100_000),
            ("backward-send", first - 100_000),
        )
    ]
    replay = replay_of(pl.concat([rows, *added]))
    assert replay.operations.height == rows.height + sum(len(one) for one in added)
    times = replay.step_times(replay.own_ns()).tolist()
    assert times == simulation.step_ns.tolist()


def test_the_first_receive_of_the_first_chunk_may_be_missing() -> None:
    simulation = simulate(replace(PLAN, stages=3, microbatches=6, chunks=2))
    rows = operations(simulation)
    first = (
        (pl.col("kind") == "forward-recv")
        & (pl.col("pp_rank") == 0)
        & (pl.col("sequence") == 0)
    )
    some = rows.filter(~first)
    assert some.height < rows.height
    replay = replay_of(some)
    times = replay.step_times(replay.own_ns()).tolist()
    assert times == simulation.step_ns.tolist()
