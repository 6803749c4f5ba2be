"""The ledger by traced operations: clocks, simulated faults, published traces."""

from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

from analysis._ledger_best import best_cells
from analysis._ledger_clock import on_a_clock
from analysis._ledger_operated import operated_cells
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.lost_time import LostTime
from ingest.lake import snapshot
from ingest.sources import straggler_trace
from ingest.synthetic.pipeline import (
    MS,
    LongSequences,
    Pauses,
    Pipeline,
    Simulation,
    SlowStage,
    SlowWorker,
    operations,
    simulate,
)
from ingest.tables import Jobs, Operations, StepTimings
from tests.analysis.ledgers import booked, job, rows, step
from tests.ingest.tiny import candidate, ingest

HOUR: Final = 3_600 * 10**9

#: Four stages of four replicas; a step of all of it takes 379 ms.
HEALTHY: Final = Pipeline(stages=4, microbatches=8, replicas=4, steps=3)


def told(simulation: Simulation, **more: Any) -> pl.DataFrame:
    """What the operations of a simulation tell of each step of each rank."""
    nobody = Attempts.create_empty().lazy()
    return operated_cells(operations(simulation).lazy(), nobody, **more)


def accounts(known: pl.DataFrame) -> dict[str, int]:
    """GPU time by account. [ns]"""
    summed = known.group_by("category").agg(pl.col("gpu_ns").cast(pl.Int64).sum())
    return dict(summed.iter_rows())


def test_clocks_of_steps_are_laid_out_and_those_of_traces_are_not() -> None:
    # GIVEN offsets since each step, and offsets since the trace
    per_step = [(1, 0, 10), (1, 4, 10), (4, 1, 20), (9, 0, 5)]
    per_trace = [(1, 0, 10), (2, 9, 10), (3, 25, 5)]
    for given_rows, starts in (
        (per_step, [0, 4, 15, 35]),
        (per_trace, [0, 9, 25]),
    ):
        timed = [
            {"step": step, "offset_ns": offset, "duration_ns": length}
            | {"trace_id": "t", "rank": 0, "kind": "forward"}
            for step, offset, length in given_rows
        ]
        clocked = on_a_clock(rows(Operations, *timed)).collect()
        assert sorted(clocked["start_ns"]) == starts


def test_every_step_is_split_whole() -> None:
    simulation = simulate(HEALTHY)
    found = told(simulation)
    assert found["basis"].unique().to_list() == ["operations"]
    parts = pl.sum_horizontal(
        *("straggler_wait", "pipeline_bubble", "exposed_communication", "productive")
    )
    idle = found.select(pl.col("end_ns") - pl.col("start_ns") - parts).to_series()
    # between two steps nothing is done: 1 ms
    between = HEALTHY.between_ns
    assert sorted(set(idle)) == [0, between]
    assert found["straggler_wait"].max() == 0
    computed = 8 * (HEALTHY.forward_ns + HEALTHY.backward_ns) + HEALTHY.optimizer_ns
    assert found["productive"].unique().to_list() == [computed]


@pytest.mark.parametrize(
    ("fault", "share"),
    [
        (SlowWorker(1, 2, 1.3), 0.9),
        (Pauses(0.02, 60_000_000), 0.6),
        (LongSequences(0.3), 0.6),
    ],
)
def test_what_a_fault_costs_others_is_waiting_for_a_straggler(
    fault: SlowWorker | Pauses | LongSequences, share: float
) -> None:
    simulation = simulate(Pipeline(4, 8, replicas=4, steps=3, faults=(fault,)))
    lost = int(simulation.lost_ns().sum()) * simulation.pipeline.ranks
    waited = int(told(simulation)["straggler_wait"].sum())
    assert share * lost < waited < 1.05 * lost


def test_a_slow_stage_is_the_pipelines() -> None:
    slow = simulate(Pipeline(4, 8, replicas=4, steps=3, faults=(SlowStage(3),)))
    found, healthy = told(slow), told(simulate(HEALTHY))
    assert found["straggler_wait"].sum() == 0
    assert found["pipeline_bubble"].sum() > 2 * healthy["pipeline_bubble"].sum()


def test_neither_portions_nor_the_order_of_rows_matter() -> None:
    simulation = simulate(Pipeline(2, 4, 2, 2, 3, sd=0.1, faults=(SlowStage(1),)))
    whole = told(simulation)
    assert whole.equals(told(simulation, portion_rows=1))
    made = operations(simulation).reverse().lazy()
    assert whole.equals(operated_cells(made, Attempts.create_empty().lazy()))


def test_without_transfers_what_the_schedule_explains_is_its_bubble() -> None:
    # GIVEN a pipeline of which only passes are recorded, one of them 60 ms late
    slow = simulate(
        Pipeline(4, 8, steps=2, transfer_ns=0, faults=(Pauses(0.02, 60 * MS),))
    )
    rows = operations(slow)
    passes = rows.filter(pl.col("kind").str.ends_with("compute"))
    found = operated_cells(passes.lazy(), Attempts.create_empty().lazy())
    # THEN quiet time is the bubble up to the usual one: 3 x 30 ms in each step
    assert found["basis"].unique().to_list() == ["operations"]
    assert found.filter(pl.col("pipeline_bubble") > 90 * MS).is_empty()
    assert found["pipeline_bubble"].sum() > 0.9 * 2 * 4 * 90 * MS
    assert found["exposed_communication"].sum() == 0


def test_nothing_tells_of_gaps_in_a_trace_of_forward_passes() -> None:
    # GIVEN forward passes alone, as long as launches, with gaps as short between
    short = Pipeline(2, 4, steps=2, forward_ns=9 * MS, transfer_ns=MS)
    made = operations(simulate(short)).filter(pl.col("kind") == "forward-compute")
    found = operated_cells(made.lazy(), Attempts.create_empty().lazy())
    # THEN what is missing may be in any of them
    assert found["basis"].unique().to_list() == ["operations_include_wait"]
    assert found["idle"].sum() == 0
    assert found["productive"].sum() == 2 * 2 * 4 * 9 * MS
    # and GIVEN collection of garbage after the last pass of a rank
    last = made.filter(pl.col("rank") == 0).sort("start_ns").tail(1)
    end = pl.col("start_ns") + pl.col("duration_ns")
    pause = last.with_columns(
        end, kind=pl.lit("gc"), duration_ns=pl.lit(60 * MS, pl.Int64)
    )
    both = pl.concat([made, pause.select(made.columns)])
    paused = operated_cells(both.lazy(), Attempts.create_empty().lazy())
    # THEN it is idle
    assert paused["idle"].sum() == 60 * MS


def test_a_replay_far_from_what_was_measured_splits_nothing() -> None:
    # GIVEN optimizers that begin 60 ms later than anything they wait for
    rows = operations(simulate(Pipeline(2, 4, steps=1)))
    late = pl.when(pl.col("kind") == "optimizer").then(60 * MS).otherwise(0)
    shifted = rows.with_columns(start_ns=pl.col("start_ns") + late)
    found = operated_cells(shifted.lazy(), Attempts.create_empty().lazy())
    assert found["basis"].unique().to_list() == ["operations_whole_bubble"]
    assert found["straggler_wait"].sum() == 0
    assert found["bubble_limit"].null_count() == found.height


def cell(rank: int, basis: str, **more: int | None) -> dict[str, Any]:
    place = {"run_id": "r", "attempt": 0, "trace_id": basis, "device": 0, "step": 1}
    blank = dict.fromkeys(
        ("start_ns", "end_ns", "exposed_communication", "productive"), 0
    )
    waits = {"straggler_wait": 0, "pipeline_bubble": 0}
    return place | blank | waits | {"rank": rank, "basis": basis} | more


def test_operations_split_what_collectives_waited_for() -> None:
    # GIVEN three ranks whose collectives wait 30 for another stage, a fourth without
    # any match, and operations of ranks 0 and 3: the schedule explains 20
    matched = [cell(rank, "collectives", pipeline_bubble=30) for rank in range(3)]
    devices = [*matched, cell(3, "kernels_include_wait")]
    operated = [
        cell(0, "operations", bubble_limit=20),
        cell(1, "operations_include_wait", bubble_limit=None),
        cell(3, "operations", bubble_limit=20),
    ]
    found = best_cells(pl.LazyFrame(devices), pl.LazyFrame(operated)).sort("rank")
    kept = found.select("rank", "basis", "pipeline_bubble", "straggler_wait").collect()
    assert kept.rows() == [
        (0, "collectives", 20, 10),
        (1, "collectives_whole_bubble", 30, 0),
        (2, "collectives_whole_bubble", 30, 0),
        (3, "operations", 0, 0),
    ]


def test_undated_operations_move_nothing_that_is_dated() -> None:
    simulation = simulate(HEALTHY)
    begun = HEALTHY.begun_ns
    jobs = rows(Jobs, job(1, begun, begun + HOUR, 16))
    undated = operations(simulation, is_dated=False, trace_id="u")
    with_them = booked({Jobs: jobs, Operations: undated.lazy()})
    found = accounts(with_them[LostTime].collect())
    assert found == {"unattributed": 16 * HOUR}
    starts = with_them[Attempts].collect()["start_ns"].to_list()
    assert starts == [begun]


def test_operations_tell_more_of_a_step_than_its_log() -> None:
    # GIVEN a step log beside dated operations; steps wait 0.5 ms for their input, which
    # operations show as the idle 1 ms after each
    simulation = simulate(Pipeline(2, 4, steps=3))
    made = operations(simulation)
    length = int(simulation.step_ns[0])
    begun = made.group_by("step").agg(pl.col("start_ns").min()).sort("step").rows()
    log = [
        step(rank, number, start, start + length + MS, data_ns=MS // 2, wait_ns=7)
        for rank in (0, 1)
        for number, start in begun
    ]
    tables = {Operations: made.lazy(), StepTimings: rows(StepTimings, *log)}
    ledger = booked(tables)[LostTime].collect()
    # THEN each step is split by its operations, and the stall is part of what is idle
    assert ledger["basis"].unique().to_list() == ["operations"]
    found = accounts(ledger)
    assert sum(found.values()) == 2 * 3 * (length + MS)
    assert found["data_stall"] == 2 * 3 * MS // 2
    assert found["idle"] == 2 * 3 * MS // 2
    computed = simulation.pipeline
    passes = 4 * (computed.forward_ns + computed.backward_ns) + computed.optimizer_ns
    assert found["productive"] == 2 * 3 * passes


@pytest.fixture(scope="module", params=["AR", "ST"])
def published(
    request: pytest.FixtureRequest,
    shared: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[str, pl.DataFrame, pl.DataFrame]:
    """A published trace alone: its name, allocations and ledger."""
    folder = shared / "data" / "nccl" / "ByteDance-Seed_StragglerAnalysis"
    path = folder / f"trace-{request.param}.parquet"
    lake = tmp_path_factory.mktemp("lake")
    ingest(lake, [candidate(path, source=straggler_trace.SOURCE)])
    frames = booked({Operations: snapshot(lake).scan(Operations)})
    return request.param, frames[Allocations].collect(), frames[LostTime].collect()


@pytest.mark.thorough
def test_a_published_trace_alone_has_a_ledger(
    published: tuple[str, pl.DataFrame, pl.DataFrame],
) -> None:
    # 16 ranks and 44 steps of 46.65 s, 8 ranks and 32 steps of 2.2144 s
    name, allocations, ledger = published
    ranks, steps, mean = {"AR": (16, 44, 46.65), "ST": (8, 32, 2.2144)}[name]
    found = accounts(ledger)
    paid = allocations.select(pl.col("to_ns") - pl.col("from_ns")).sum().item()
    assert sum(found.values()) == paid
    assert paid / 1e9 == pytest.approx(ranks * steps * mean, rel=2e-4)
    # of AR 9.9 % is in gaps before all-reduces of the last stage, where nothing is
    # recorded of replicas that are early
    assert found["idle"] < 2e-3 * paid
    unknown = {"AR": 0.0987, "ST": 0.0155}[name]
    assert found["unattributed"] / paid == pytest.approx(unknown, rel=0.01)
    # in AR one worker holds up all others, in ST the last stage the others of its own
    waits = found["straggler_wait"], found["pipeline_bubble"]
    few, many = sorted(waits)
    assert many > 5 * few
    assert (waits[0] > waits[1]) == (name == "AR")
