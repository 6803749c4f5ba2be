"""Plans beside what telemetry tells of the same run."""

from typing import Any

import polars as pl
import pytest

from analysis._analysis import Frames
from analysis.attempts import Attempts
from analysis.goodput import Goodput
from analysis.plans import ANALYSIS, Plans
from ingest.tables import Checkpoints, Collectives, RunCards, StepTimings, Table
from tests.analysis.plan_cards import LLAMA, row

S = 10**9


def framed(rows: dict[type[Table], list[dict[str, Any]]]) -> Frames:
    return Frames(
        {
            table: pl.DataFrame(some, schema=table.create_empty().schema).lazy()
            for table, some in rows.items()
        }
    )


def logged(step: int, rank: int, duration_ns: int) -> dict[str, Any]:
    return {
        "run_id": "run",
        "attempt": 0,
        "step": step,
        "rank": rank,
        "start_ns": 1_800_000_000 * S + step * 10 * S,
        "duration_ns": duration_ns,
        "scope": "rank",
    }


def plans_of(card: str, **more: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    tables: dict[str, type[Table]] = {
        "steps": StepTimings,
        "attempts": Attempts,
        "saves": Checkpoints,
        "collectives": Collectives,
        "goodput": Goodput,
    }
    rows = {tables[name]: some for name, some in more.items()}
    frames = framed({RunCards: [row(card) | {"file_id": "card"}], **rows})
    found = ANALYSIS.compute(frames, {})[Plans]
    return {one["name"]: one for one in found.iter_rows(named=True)}


# three steps of two ranks; the slower ones take 5, 7 and 6 s: a median of 6 s
STEPS = [
    logged(step, rank, length * S)
    for step, lengths in enumerate(((5, 4), (3, 7), (6, 6)))
    for rank, length in enumerate(lengths)
]


def test_what_was_measured_stands_beside_the_plan() -> None:
    held = [{"run_id": "run", "attempt": 0, "gpu_count": 16_384, "end_ns": 1}]
    plan = plans_of(
        LLAMA.replace("step_s = 6", "step_s = 5"), steps=STEPS, attempts=held
    )
    step = plan["step_time"]
    assert (step["value"], step["measured"]) == (5.0, 6.0)
    assert step["difference_ratio"] == pytest.approx(0.2)
    assert step["measured_from"] == "step_timings, median of steps"
    assert plan["step"]["measured"] == pytest.approx(16_384 * 6.0)
    assert plan["layout_gpus"]["difference_ratio"] == 0.0


def test_what_the_lake_told_is_no_second_opinion() -> None:
    plan = plans_of(LLAMA.replace("step_s = 6\n", ""), steps=STEPS)
    step = plan["step_time"]
    assert step["value"] == 6.0
    assert "lake step_timings" in step["inputs"]
    assert step["measured"] is None
    assert plan["step"]["measured"] is None


def test_saves_are_measured() -> None:
    saves = [
        {
            "run_id": "run",
            "attempt": 0,
            "kind": "save",
            "step": step,
            "rank": rank,
            "start_ns": step * 100 * S,
            "stall_ns": (2 + rank) * S,
            "bytes": 10**12,
        }
        for step in (1, 2, 3)
        for rank in (0, 1)
    ]
    plan = plans_of(LLAMA + "interval_s = 120\nstall_s = 2", saves=saves)
    assert plan["checkpoint_size"]["measured"] == 2e12
    assert plan["checkpoint_stall"]["measured"] == 3.0
    assert plan["checkpoint_interval"]["measured"] == 100.0
    assert plan["checkpoint_interval"]["difference_ratio"] == pytest.approx(-1 / 6)


def test_bytes_of_collectives_are_measured_as_they_leave_a_port() -> None:
    # an all-reduce of 8 GB over 4 replicas in each of two steps: 2 x 3/4 of it leaves
    rows = [
        {
            "run_id": "run",
            "attempt": 0,
            "trace_id": "trace",
            "event": step,
            "step": step,
            "rank": 0,
            "device": 0,
            "parallel_kind": kind,
            "group_size": 4,
            "kind": what,
            "bytes_total": size,
        }
        for step in (1, 2)
        for kind, what, size in (
            ("dp", "allreduce", 8_000_000_000),
            ("pp", "send", 1_000),
            ("pp", "recv", 5_000),
            ("tp", "allgather", None),
        )
    ]
    plan = plans_of(LLAMA, collectives=rows)
    assert plan["data_bytes"]["measured"] == 12e9
    assert plan["pipeline_bytes"]["measured"] == 1_000.0
    # of a size that no trace tells, a sum would be too small
    assert plan["tensor_bytes"]["measured"] is None


def test_mfu_is_measured_once_and_told_as_goodput_tells_it() -> None:
    card = LLAMA.replace("nvlink_gbs = 450", "nvlink_gbs = 450\npeak_tflops = 989")
    by_step = plans_of(card.replace("step_s = 6", "step_s = 5"), steps=STEPS)["mfu"]
    assert by_step["measured"] == pytest.approx(by_step["value"] * 5 / 6)
    goodput = [{"run_id": "run", "mfu_ratio": 0.369}]
    plan = plans_of(
        card.replace("step_s = 6", "step_s = 5"), steps=STEPS, goodput=goodput
    )
    assert plan["mfu"]["measured"] == 0.369
    assert plan["mfu"]["measured_from"] == "goodput, all steps that counted"
    assert plan["step"]["measured"] == pytest.approx(16_384 * 6.0)
