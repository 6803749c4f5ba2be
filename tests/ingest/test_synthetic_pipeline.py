"""Synthetic pipelines: drawn schedules, faults that cost what they must, raw files."""

import gzip
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ingest.synthetic._pipeline_schedule import Task, order_of
from ingest.synthetic.pipe8 import write_pipe8
from ingest.synthetic.pipeline import (
    MS,
    LongSequences,
    Pauses,
    Pipeline,
    SlowLink,
    SlowStage,
    SlowWorker,
    bubble_of,
    operations,
    simulate,
    write_pipeline,
)
from ingest.tables import Operations

#: Nothing but passes, a backward twice as long as a forward.
BARE = Pipeline(
    stages=4,
    microbatches=8,
    forward_ns=10,
    backward_ns=20,
    transfer_ns=0,
    gather_ns=0,
    scatter_ns=0,
    optimizer_ns=0,
)

#: Everything at once.
FULL = Pipeline(stages=4, microbatches=8, chunks=2, replicas=3, steps=2, sd=0.02)


def words(tasks: list[Task]) -> str:
    """Tasks as schedules are drawn: F and B, the micro-batch, ' for each chunk."""
    return " ".join(
        f"{'F' if task.is_forward else 'B'}{task.microbatch}{chr(39) * task.chunk}"
        for task in tasks
    )


def test_the_order_of_one_forward_one_backward() -> None:
    assert words(order_of(0, 3, 1, 4)) == "F0 F1 F2 B0 F3 B1 B2 B3"
    assert words(order_of(2, 3, 1, 4)) == "F0 B0 F1 B1 F2 B2 F3 B3"


def test_the_order_of_interleaved_chunks() -> None:
    # two stages, two chunks: the first warms up with 2 (2 - 0 - 1) + (2 - 1) 2 = 4
    first = "F0 F1 F0' F1' F2 B0' F3 B1' F2' B0 F3' B1 B2' B3' B2 B3"
    assert words(order_of(0, 2, 2, 4)) == first
    last = "F0 F1 F0' B0' F1' B1' F2 B0 F3 B1 F2' B2' F3' B3' B2 B3"
    assert words(order_of(1, 2, 2, 4)) == last


def test_more_stages_than_microbatches() -> None:
    assert words(order_of(0, 4, 1, 2)) == "F0 F1 B0 B1"
    with pytest.raises(ValueError, match="not a multiple"):
        order_of(0, 4, 2, 6)


@pytest.mark.parametrize("chunks", [1, 2, 4])
def test_the_bubble_in_balance_is_the_formula(chunks: int) -> None:
    pipeline = replace(BARE, chunks=chunks)
    bubble = bubble_of(simulate(pipeline))
    ratio = bubble.whole / bubble.computed
    assert ratio.max() == ratio.min() == pipeline.expected_ratio == 3 / 8 / chunks


def test_parts_of_the_bubble_are_those_of_the_drawing() -> None:
    # stage 0: F F F F . . . . . . B ...: 60 of waiting before the first backward task,
    # which begins when three stages have gone forward and back; 30 at the end
    bubble = bubble_of(simulate(BARE))
    assert bubble.warm_up.ravel().tolist() == [60, 50, 40, 30]
    assert bubble.steady.ravel().tolist() == [0, 0, 0, 0]
    assert bubble.cool_down.ravel().tolist() == [30, 40, 50, 60]


def test_a_task_waits_for_its_input_and_its_stage() -> None:
    rows = operations(simulate(FULL)).with_columns(
        end=pl.col("start_ns") + pl.col("duration_ns")
    )
    passes = rows.filter(pl.col("kind").str.ends_with("compute"))
    ordered = passes.sort("rank", "start_ns").with_columns(
        before=pl.col("end").shift(1).over("rank", "step")
    )
    assert ordered.filter(pl.col("start_ns") < pl.col("before")).is_empty()
    at = ["step", "dp_rank", "microbatch", "chunk"]
    forward = passes.filter(pl.col("kind") == "forward-compute")
    earlier = forward.with_columns(pl.col("pp_rank") + 1)
    both = forward.join(earlier, on=[*at, "pp_rank"], suffix="_source")
    assert both.height == 3 * 8 * 2 * 3 * 2
    assert both.filter(pl.col("start_ns") < pl.col("end_source")).is_empty()


def test_sends_and_receives_are_pairs_that_end_together() -> None:
    # at the ends of the model sends and receives are recorded that move nothing
    rows = operations(simulate(FULL)).filter(pl.col("duration_ns") > 0)
    place = pl.col("sequence").rank("dense").over("step", "rank", "kind")
    rows = rows.with_columns(sequence=place)
    for way, step in (("forward", 1), ("backward", -1)):
        sent, received = (
            rows.filter(pl.col("kind") == f"{way}-{end}") for end in ("send", "recv")
        )
        target = sent.with_columns((pl.col("pp_rank") + step) % FULL.stages)
        at = ["step", "dp_rank", "pp_rank", "sequence"]
        pairs = target.join(received, on=at, suffix="_received")
        assert pairs.height == sent.height == received.height == 2 * 3 * (4 * 16 - 8)
        ends = pairs.select(
            sent=pl.col("start_ns") + pl.col("duration_ns"),
            received=pl.col("start_ns_received") + pl.col("duration_ns_received"),
        )
        assert ends["sent"].equals(ends["received"])


def test_rows_are_those_of_the_table() -> None:
    for is_dated in (True, False):
        rows = operations(simulate(FULL), is_dated=is_dated)
        checked = Operations.validate(rows)
        assert checked.select(Operations.key).is_unique().all()
        assert checked["start_ns"].is_null().all() != is_dated


@pytest.mark.parametrize(
    ("fault", "lost"),
    [
        # a stage of 15 and 30 for 10 and 20: each of 8 micro-batches waits 15 longer
        (SlowStage(3, 1.5, 1.5), 8 * 15),
        # stage 2 turns at 65 and is busy from then on: 8 of 30 and 6 of 15, and 40 for
        # the way back
        (SlowWorker(0, 2, 1.5), (65 + 8 * 30 + 6 * 15 + 40) - 330),
        (Pauses(1.0, 5), 8 * 5 + 3 * 5),
        (LongSequences(0.0), 0),
    ],
)
def test_a_fault_costs_what_the_drawing_says(
    fault: SlowStage | SlowWorker | Pauses | LongSequences, lost: int
) -> None:
    simulation = simulate(replace(BARE, faults=(fault,)))
    assert simulation.lost_ns().tolist() == [lost]
    assert simulation.lost_ns(fault).tolist() == [lost]


def test_a_slow_link_costs_each_micro_batch_once_in_each_direction() -> None:
    # a transfer takes 1, over the slow link 9: the first micro-batch crosses it on its
    # way there, and the last on its way back; between, sends hide behind other tasks
    pipeline = replace(BARE, stages=2, transfer_ns=1, faults=(SlowLink(0, 9.0),))
    lost = simulate(pipeline).lost_ns()
    assert 2 * 8 <= int(lost[0]) <= 2 * 8 * pipeline.microbatches


def test_faults_do_not_change_what_chance_gives() -> None:
    faults = (SlowWorker(1, 2, 1.2), SlowLink(1, 3.0), Pauses(0.1, 300 * MS))
    sick, well = simulate(replace(FULL, faults=faults)), simulate(FULL)
    assert np.array_equal(sick.lengths.backward[0], well.lengths.backward[0])
    assert np.array_equal(sick.lengths.sent[0], well.lengths.sent[0])
    assert (sick.step_ns > well.step_ns).all()


def test_the_same_pipeline_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_pipeline(tmp_path / name / "pipe", simulate(FULL), "pipe-demo")
    first, second = (
        [path.read_bytes() for path in sorted((tmp_path / name).rglob("*.*"))]
        for name in ("one", "two")
    )
    assert first == second
    assert len(first) == 3


def test_the_committed_sample_is_what_its_seed_gives(
    project: Path, tmp_path: Path
) -> None:
    write_pipe8(tmp_path, 16)
    committed = project / "sample_traces"
    names = ("pipe8/run.toml", "pipe8-truth.json")
    for name in names:
        assert (tmp_path / name).read_bytes() == (committed / name).read_bytes()
    records = [
        gzip.decompress((folder / "pipe8" / "ndtimeline.jsonl.gz").read_bytes())
        for folder in (tmp_path, committed)
    ]
    assert records[0] == records[1]


def test_a_large_pipeline_is_made_in_seconds() -> None:
    started = time.process_time()
    large = Pipeline(
        stages=16, microbatches=16, chunks=2, replicas=128, steps=2, sd=0.02
    )
    rows = operations(simulate(large))
    assert rows.height == 2 * 2048 * (6 * 32 + 3)
    assert time.process_time() - started < 5
