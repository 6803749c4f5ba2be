"""Repairs of traced operations: planted faults are taken away, published shares met."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

from analysis.gpus import Gpus
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
from ingest.tables import Operations, PowerSamples
from tests.analysis.fleets import START_NS, seats, table
from tests.analysis.repaired import ask, nightly

PLAN: Final = Pipeline(stages=4, microbatches=8, replicas=6, steps=8, sd=0.01)

#: A fault, its repair, and the share of its cost that a repair must save, at least and
#: at most: a median of peers is not the very operation without the fault.
REPAIRS: Final[list[tuple[Fault, str, float, float]]] = [
    (SlowWorker(dp_rank=2, stage=1, ratio=1.5), "rank=8", 0.98, 1.06),
    (SlowWorker(dp_rank=2, stage=1, ratio=1.5), "workers=slowest", 0.97, 1.05),
    (SlowStage(3, 1.5, 1.5), "kind=forward-compute", 0.0, 0.6),
    (Pauses(0.02, 300 * MS), "gc", 0.95, 1.05),
    (LongSequences(0.3), "sequence-lengths", 0.75, 1.1),
    (SlowLink(stage=1, ratio=60.0), "link=1-2", 0.95, 1.05),
]


def traced(plan: Pipeline) -> tuple[type[Operations], pl.DataFrame]:
    rows = operations(simulate(plan)).with_columns(run_id=pl.lit("run"))
    return Operations, Operations.validate(rows, cast=True)


def saved_ns(row: dict[str, Any]) -> int:
    return int(row["simulated_ns"] - row["repaired_ns"])


@pytest.mark.parametrize(("fault", "text", "least", "most"), REPAIRS)
def test_a_planted_fault_is_taken_away(
    fault: Fault, text: str, least: float, most: float
) -> None:
    plan = replace(PLAN, faults=(fault,))
    answers, refused = ask([text], traced(plan))
    assert not refused
    row = answers[text]
    assert row["method"] == "replay"
    assert row["fidelity_ratio"] < 0.01
    assert row["is_reliable"]
    lost = int(simulate(plan).lost_ns().sum())
    assert least <= saved_ns(row) / lost <= most


def test_a_slow_stage_is_what_the_others_do() -> None:
    answers, _ = ask(
        ["stage=last", "everything"], traced(replace(PLAN, faults=(SlowStage(3),)))
    )
    assert answers["stage=last"]["is_beyond_noise"]
    assert answers["stage=last"]["ranks"] == "18-23"
    assert answers["everything"]["slowdown_ratio"] > 1.1


def test_a_healthy_pipeline_gets_no_recommendation() -> None:
    answers = nightly(traced(PLAN))
    assert "everything" in answers
    worth = [
        row
        for row in answers.values()
        if row["is_beyond_noise"] and not row["is_bound"]
    ]
    assert worth == []
    assert "no more than healthy scatter" in answers["workers=slowest"]["doubt"]


def test_sequence_lengths_take_no_credit_for_a_slow_worker() -> None:
    fault = SlowWorker(dp_rank=2, stage=1, ratio=1.5)
    plan = replace(PLAN, faults=(fault,))
    answers, _ = ask(["sequence-lengths"], traced(plan))
    row = answers["sequence-lengths"]
    assert abs(saved_ns(row)) < 0.02 * int(simulate(plan).lost_ns().sum())
    assert "do not vary together" in row["doubt"]


def test_joint_gain_of_two_faults() -> None:
    faults = (SlowWorker(dp_rank=2, stage=1, ratio=1.5), Pauses(0.02, 300 * MS))
    plan = replace(PLAN, faults=faults)
    answers, _ = ask(["rank=8", "gc"], traced(plan))
    joint = saved_ns(answers["rank=8 + gc"])
    assert joint >= max(saved_ns(answers["rank=8"]), saved_ns(answers["gc"]))
    assert joint == pytest.approx(int(simulate(plan).lost_ns().sum()), rel=0.05)


def test_hosts_and_their_links() -> None:
    # a host for each stage: stage 1 to stage 2 is node-1 to node-2
    where = seats(24, lambda rank: {"host": f"node-{rank // 6}"})
    slow = traced(replace(PLAN, faults=(SlowLink(stage=1, ratio=60.0),)))
    texts = ["link=node-1-node-2", "link=1-2", "link=node-2-node-1"]
    answers, _ = ask(texts, slow, (Gpus, where))
    assert len({saved_ns(answers[text]) for text in texts}) == 1
    assert saved_ns(answers["link=1-2"]) > 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rank=24", "the run has ranks 0-23"),
        ("stage=4", "the run has stages 0-3"),
        ("link=0-2", "transfers between stages 0-1, 1-2, 2-3"),
        ("kind=attention", "the trace has operations of kind backward-compute"),
        ("communication=ep", "the trace tells communication of dp, pp"),
        ("gc", "no operations named gc"),
        ("data", "does not tell how long input was waited for"),
        ("checkpoint=every 3 steps", "does not tell of checkpoints"),
        ("clocks", "no clocks of its GPUs are known"),
    ],
)
def test_what_a_trace_cannot_tell_has_its_reason(text: str, says: str) -> None:
    answers, refused = ask([text], traced(replace(PLAN, steps=1)))
    assert answers == {}
    assert says in refused[text]


def test_communication_takes_no_time_or_is_hidden() -> None:
    answers, _ = ask(
        ["communication", "communication=hidden", "communication=dp"], traced(PLAN)
    )
    free, hidden, dp = (
        answers[text]["repaired_ns"]
        for text in ("communication", "communication=hidden", "communication=dp")
    )
    assert free <= hidden <= answers["communication"]["simulated_ns"]
    # gather and scatter stand alone before and after the passes
    plan = replace(PLAN, sd=0.0, steps=1)
    (row,) = ask(["communication=dp"], traced(plan))[0].values()
    assert saved_ns(row) == plan.gather_ns + plan.scatter_ns
    assert dp >= free


@pytest.mark.parametrize("name", ["ST", "AR"])
def test_published_shares_of_the_slowdown(name: str, shared: Path) -> None:
    """T, T_ideal and T without the slowest workers and the last stage, as published.

    Source: results beside the traces of arXiv 2505.05713. There S is
    `blocking_slowdown`; `trem` is the mean step with a part of the operations ideal.
    """
    folder = shared / "data" / "nccl" / "ByteDance-Seed_StragglerAnalysis"
    told = {
        key: json.loads((folder / f"{key}-{name}.json").read_text())
        for key in ("mw", "ms")
    }
    answers, refused = ask(
        ["everything", "workers=slowest", "stage=last"], published(folder, name)
    )
    assert not refused
    steps = answers["everything"]["steps"]

    def mean_s(repair: str, column: str = "repaired_ns") -> float:
        return float(answers[repair][column] / steps / 1e9)

    assert mean_s("everything", "simulated_ns") == pytest.approx(
        told["mw"]["tori"], abs=1e-6
    )
    assert mean_s("everything") == pytest.approx(told["mw"]["tideal"], abs=1e-6)
    assert mean_s("workers=slowest") == pytest.approx(told["mw"]["trem"], abs=1e-6)
    assert mean_s("stage=last") == pytest.approx(told["ms"]["trem"], abs=1e-6)
    best = "stage=last" if name == "ST" else "workers=slowest"
    worth = [row for row in answers.values() if row["is_beyond_noise"]]
    single = [row for row in worth if row["scope"] not in {"everything", "joint"}]
    assert [row["repair"] for row in single] == [best]
    assert not any(row["is_bound"] for row in worth)


def published(folder: Path, name: str) -> tuple[type[Operations], pl.DataFrame]:
    """Operations of a published trace, without the reader of such files."""
    raw = pl.read_parquet(folder / f"trace-{name}.parquet")
    seconds = pl.col("start_ts", "duration").cast(pl.Float64)
    ns = raw.with_columns((seconds * 1e9).round().cast(pl.Int64))

    def index(column: str) -> pl.Expr:
        return pl.when(pl.col(column) != -1).then(pl.col(column)).cast(pl.Int32)

    rows = ns.select(
        file_id=pl.lit(name),
        run_id=pl.lit("run"),
        attempt=pl.lit(None, pl.Int32),
        trace_id=pl.lit(name),
        step=pl.col("step").cast(pl.Int64),
        rank=pl.col("rank").cast(pl.Int32),
        dp_rank=pl.col("dp_rank").cast(pl.Int32),
        pp_rank=pl.col("stage").cast(pl.Int32),
        tp_rank=pl.lit(None, pl.Int32),
        kind=pl.col("optype").cast(pl.String),
        microbatch=index("mb_id"),
        chunk=index("mc"),
        sequence=pl.col("seq_id").cast(pl.Int64),
        start_ns=pl.lit(None, pl.Int64),
        offset_ns="start_ts",
        duration_ns="duration",
    )
    return Operations, Operations.validate(rows, cast=True)


def test_throttled_gpus_of_a_trace_at_the_clock_of_the_job() -> None:
    # GPU 8, dp 2 of stage 1, at two thirds of the clock: its passes take 1.5 times
    where = seats(24, lambda rank: {"gpu_uuid": f"GPU-{rank}", "host": "n"})
    samples = table(
        PowerSamples,
        pl.DataFrame(
            {
                "file_id": "p",
                "cluster": "c",
                "host": "n",
                "gpu_uuid": [f"GPU-{rank}" for rank in range(24)],
                "level": "gpu_board",
                "time_ns": START_NS,
                "time_quality": "exact",
                "sm_clock_mhz": [1320.0 if rank == 8 else 1980.0 for rank in range(24)],
            }
        ),
    )
    plan = replace(PLAN, faults=(SlowWorker(dp_rank=2, stage=1, ratio=1.5),))
    answers, _ = ask(["clocks"], traced(plan), (Gpus, where), (PowerSamples, samples))
    row = answers["clocks"]
    assert row["ranks"] == "8"
    assert saved_ns(row) == pytest.approx(int(simulate(plan).lost_ns().sum()), rel=0.02)


def test_a_trace_that_cannot_be_replayed_says_why() -> None:
    of, rows = traced(replace(PLAN, steps=1))
    alone = rows.filter(pl.col("kind") != "backward-compute")
    (row,) = nightly((of, alone)).values()
    assert row["method"] == "none"
    assert "cannot be replayed: no operation of kind backward-compute" in row["doubt"]
    _, refused = ask(["rank=0"], (of, alone))
    assert refused["rank=0"].endswith("no operation of kind backward-compute")
