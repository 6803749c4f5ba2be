"""Traces of ByteDance's stragglers against the published answers, all read from files.

S, S_t, the slowdowns by stage and replica, M_W and M_S of "Understanding Stragglers in
Large Model Training Using What-if Analysis" (arXiv 2505.05713), beside whose code the
traces and the answers lie. Times there are float32, here they are nanoseconds: answers
differ by some 1e-7.
"""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl
import pytest

from analysis.attempts import Attempts
from analysis.replays import (
    ANALYSIS,
    ReplayCells,
    Replays,
    ReplaySteps,
    replay_traces,
)
from ingest.sources import straggler_trace
from ingest.tables import Operations
from tests.ingest.readings import reading

FOLDER: Final = "data/nccl/ByteDance-Seed_StragglerAnalysis"

#: Traces, and the cause that the paper tells of each: a slow worker (A.2), and the
#: last stage (5.2).
TRACES: Final = {"AR": "worker", "ST": "last_stage"}

#: Most that an answer may differ. [1]
TOLERANCE: Final = 1e-6

#: Most that an analysis of a trace may take, processor time of all threads. [s]
MOST_S: Final = 1.0


class Case(NamedTuple):
    """A trace: what was published of it, and what is found."""

    cause: str
    result: Mapping[str, Any]
    m_w: float
    m_s: float
    row: Mapping[str, Any]
    cells: pl.DataFrame
    steps: pl.DataFrame
    seconds: float


def published(shared: Path, name: str) -> Any:
    """Return a file of published answers."""
    return json.loads((shared / FOLDER / f"{name}.json").read_text())


@pytest.fixture(scope="module", params=TRACES)
def case(shared: Path, request: pytest.FixtureRequest) -> Case:
    """Replay a trace."""
    trace = request.param
    with (shared / FOLDER / f"trace-{trace}.parquet").open("rb") as stream:
        batches = list(straggler_trace.read(stream, reading()))
    rows = pl.concat([batch.rows[Operations] for batch in batches])
    told = rows.select(
        pl.col(name) if name in rows.columns else pl.lit(None).alias(name)
        for name in Operations.column_names()
    ).with_columns(file_id=pl.lit("f"))
    operations = Operations.validate(told, cast=True).lazy()
    began = time.process_time()
    found = replay_traces(
        operations, Attempts.create_empty().lazy(), ANALYSIS.thresholds
    )
    seconds = time.process_time() - began
    (row,) = found[Replays].to_dicts()
    return Case(
        TRACES[trace],
        published(shared, f"result-{trace}"),
        published(shared, f"mw-{trace}")["Mw"],
        published(shared, f"ms-{trace}")["Ms"],
        row,
        found[ReplayCells],
        found[ReplaySteps],
        seconds,
    )


def test_the_slowdown(case: Case) -> None:
    want = case.result["blocking_slowdown"]
    assert case.row["slowdown_ratio"] == pytest.approx(want, rel=TOLERANCE)


def test_the_share_of_the_slowest_workers(case: Case) -> None:
    assert case.row["m_w_ratio"] == pytest.approx(case.m_w, abs=TOLERANCE)


def test_the_share_of_the_last_stage(case: Case) -> None:
    assert case.row["m_s_ratio"] == pytest.approx(case.m_s, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("scope", "column", "name"),
    [
        ("kind", "kind", "optype"),
        ("stage", "pp_rank", "stage"),
        ("dp_rank", "dp_rank", "dp_rank"),
    ],
)
def test_slowdowns_by(case: Case, scope: str, column: str, name: str) -> None:
    mine = case.cells.filter(pl.col("scope") == scope)
    found = dict(mine.select(pl.col(column).cast(pl.String), "slowdown_ratio").rows())
    want = case.result[f"blocking_decompose_by_{name}"]
    assert found == pytest.approx(want, rel=TOLERANCE)


def test_a_worker_is_the_smaller_of_its_stage_and_replica(case: Case) -> None:
    workers = case.cells.filter(pl.col("scope") == "worker")
    stages, replicas = (
        case.result[f"blocking_decompose_by_{name}"] for name in ("stage", "dp_rank")
    )
    assert workers.height == len(stages) * len(replicas)
    told = workers.select("pp_rank", "dp_rank", "slowdown_ratio").rows()
    for stage, replica, ratio in told:
        want = min(stages[str(stage)], replicas[str(replica)])
        assert ratio == pytest.approx(want, rel=TOLERANCE)


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("actual_ns", "step_t_base"),
        ("simulated_ns", "step_t_nodelay"),
        ("ideal_ns", "step_t_noblk"),
    ],
)
def test_every_step(case: Case, column: str, name: str) -> None:
    steps = case.steps.select(pl.col("step").cast(pl.String), pl.col(column) / 1e9)
    assert dict(steps.rows()) == pytest.approx(case.result[name], rel=TOLERANCE)


def test_the_simulation_is_close_to_what_was(case: Case) -> None:
    # there: actual over simulated, the effect of delays of launches
    want = 1 - 1 / case.result["launch_slowdown"]
    assert case.row["fidelity_ratio"] == pytest.approx(want, abs=TOLERANCE)
    assert case.row["is_reliable"]


def test_the_cause(case: Case) -> None:
    assert case.row["cause"] == case.cause


def test_the_place_of_the_cause(case: Case) -> None:
    """The slow worker is that of replica 0 and stage 0; the last stage is stage 3."""
    place = {"worker": "dp 0 stage 0", "last_stage": "stage 3"}[case.cause]
    assert place in case.row["evidence"]


@pytest.mark.benchmark
def test_an_analysis_takes_less_than_a_second(case: Case) -> None:
    assert case.seconds < MOST_S
