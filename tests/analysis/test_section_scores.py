"""Scores of ranks, against their formulae."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis import Frames
from analysis.section_scores import SectionScores, score_sections
from ingest.tables import Kernels, Operations, StepTimings, Table
from tests.analysis.fleets import START_NS, Times, step_log, table


def scores(*frames: tuple[type[Table], pl.DataFrame]) -> pl.DataFrame:
    return score_sections(Frames({of: rows.lazy() for of, rows in frames}))


def of_steps(work: Times) -> pl.DataFrame:
    return scores((StepTimings, step_log(work)))


def test_twice_as_slow_scores_a_half() -> None:
    # eight ranks, 90 steps in three reports; rank 3 takes twice as long
    work = np.ones((90, 8))
    work[:, 3] = 2
    rows = of_steps(work)
    assert rows["section"].unique().to_list() == ["step"]
    assert rows["relative_score"].to_list() == [1, 1, 1, 0.5, 1, 1, 1, 1]
    assert rows["individual_score"].to_list() == [1] * 8
    assert rows["reports_count"].to_list() == [3] * 8
    assert rows.filter("is_flagged")["rank"].to_list() == [3]


def test_a_rank_that_slows_down_scores_less_than_it_did() -> None:
    # rank 2 takes 100, then 160, then 125: 100 / 160 at the least, 100 / 125 at last
    work = np.ones((90, 4))
    work[30:60, 2], work[60:, 2] = 1.6, 1.25
    (row,) = of_steps(work).filter(pl.col("rank") == 2).to_dicts()
    assert row["individual_score"] == pytest.approx(1 / 1.25)
    assert row["lowest_individual_score"] == pytest.approx(1 / 1.6)
    assert row["relative_score"] == pytest.approx(1 / 1.25)
    assert row["is_flagged"]


def test_the_threshold_is_three_quarters() -> None:
    work = np.ones((30, 3))
    work[:, 1], work[:, 2] = 1.32, 1.34  # 0.7576 and 0.7463
    assert of_steps(work)["is_flagged"].to_list() == [False, False, True]


def test_nothing_measured_is_null_and_no_verdict() -> None:
    rows = of_steps(np.ones((30, 1)))
    assert rows["relative_score"].to_list() == [None]
    assert rows["individual_score"].to_list() == [None]
    assert rows["is_flagged"].to_list() == [False]
    no_waits = step_log(np.ones((30, 4)), wait_ns=None)
    assert scores((StepTimings, no_waits)).is_empty()
    assert scores().columns == SectionScores.column_names()


def kernels(rows: list[tuple[int, str, int, int, str]]) -> pl.DataFrame:
    """Rows of rank, name, step, length and category."""
    told = [
        {
            "file_id": "k",
            "run_id": "run",
            "trace_id": f"t{rank}",
            "rank": rank,
            "device": 0,
            "stream": 7,
            "event": event,
            "name": name,
            "category": category,
            "start_ns": START_NS + event * 1_000_000,
            "duration_ns": length,
            "step": step,
            "linked": True,
        }
        for event, (rank, name, step, length, category) in enumerate(rows)
    ]
    return table(Kernels, pl.DataFrame(told))


def test_kernels_are_weighed_by_their_time() -> None:
    # gemm: 100 on rank 0, 200 on rank 1, three times; copy: 100 on both, once
    # rank 1: (0.5 x 600 + 1 x 100) / 700; NCCL's kernel, 10 times longer, is left out
    rows: list[Any] = []
    for rank, gemm, nccl in ((0, 100, 5_000), (1, 200, 500)):
        rows += [(rank, "gemm", 0, gemm, "compute")] * 3
        rows.append((rank, "cast", 0, 100, "compute"))
        rows.append((rank, "ncclDevKernel_AllReduce", 0, nccl, "communication"))
    rows.append((0, "only_here", 0, 900, "compute"))
    told = scores((Kernels, kernels(rows)))
    assert told["section"].to_list() == ["gpu_kernels"] * 2
    assert told["relative_score"].to_list() == [1, pytest.approx(400 / 700)]
    assert told["individual_score"].to_list() == [None, None]
    assert told["is_flagged"].to_list() == [False, True]


def test_kernels_that_slow_down_score_less_than_they_did() -> None:
    # two reports, of steps 0 and 30: gemm takes 100, then 160
    rows: list[Any] = [(0, "gemm", 0, 100, "compute"), (0, "gemm", 30, 160, "compute")]
    (row,) = scores((Kernels, kernels(rows))).to_dicts()
    assert row["individual_score"] == pytest.approx(100 / 160)
    assert row["relative_score"] is None


def test_without_a_common_kernel_there_is_no_score() -> None:
    rows: list[Any] = [(0, "a", 0, 100, "compute"), (1, "b", 0, 100, "compute")]
    told = scores((Kernels, kernels(rows)))
    assert told["relative_score"].to_list() == [None, None]
    assert told["is_flagged"].to_list() == [False, False]


def test_kinds_of_operations_are_sections() -> None:
    rows = [
        {
            "file_id": "o",
            "run_id": "run",
            "attempt": 0,
            "trace_id": "t",
            "step": step,
            "rank": rank,
            "kind": kind,
            "duration_ns": length * (2 if rank == 1 and kind == "forward" else 1),
        }
        for step in range(3)
        for rank in range(3)
        for kind, length in (("forward", 100), ("backward", 200), ("forward-send", 7))
    ]
    told = scores((Operations, table(Operations, pl.DataFrame(rows))))
    flagged = told.filter("is_flagged").select("section", "rank", "relative_score")
    assert set(told["section"]) == {"backward-compute", "forward-compute", "step"}
    # 100 + 200 against 200 + 200: three quarters are not below three quarters
    assert flagged.rows() == [("forward-compute", 1, 0.5)]


def published(shared: Path, name: str) -> pl.DataFrame:
    """Operations of a trace that ByteDance published."""
    folder = shared / "data" / "nccl" / "ByteDance-Seed_StragglerAnalysis"
    rows = pl.read_parquet(folder / f"trace-{name}.parquet").select(
        "step",
        "rank",
        file_id=pl.lit("f"),
        run_id=pl.lit(name),
        attempt=pl.lit(0),
        trace_id=pl.lit("t"),
        kind=pl.col("optype").cast(pl.String),
        duration_ns=(pl.col("duration").cast(pl.Float64) * 1e9).round(),
    )
    return table(Operations, rows)


@pytest.mark.parametrize(
    ("name", "slow", "forward_score"),
    [
        ("AR", {0}, 0.22 / 0.55),  # one slow worker: 0.55 s where others take 0.22 s
        ("ST", {6, 7}, 0.067 / 0.140),  # the last stage: 0.140 s against 0.067 s
    ],
)
def test_published_traces_name_the_published_causes(
    shared: Path, name: str, slow: set[int], forward_score: float
) -> None:
    told = scores((Operations, published(shared, name)))
    flagged = told.filter("is_flagged")
    assert set(flagged["rank"]) == slow
    forward = flagged.filter(pl.col("section") == "forward-compute")
    assert forward["relative_score"].to_list() == pytest.approx(
        [forward_score] * len(slow), rel=0.02
    )
