"""Traces of several jobs that were put into one run are told, and not mixed."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis import Frames, Results
from analysis import section_scores as scores
from analysis import stragglers as slow
from analysis._straggler_sources import CANNOT_TELL
from analysis._unlike_traces import UNLIKE_TRACES, unlike_runs
from ingest.tables import Operations, StepTimings
from tests.analysis.fleets import healthy, step_log, table

RANKS, STEPS = 16, 40


def trace(
    name: str, replicas: int, ranks: range = range(RANKS), **told: Any
) -> pl.DataFrame:
    """A pass of each rank and step of a second, without a date."""
    rows = [
        {
            "file_id": name,
            "run_id": "run",
            "attempt": 0,
            "trace_id": name,
            "step": step,
            "rank": rank,
            "dp_rank": rank % replicas,
            "pp_rank": rank // replicas,
            "kind": "forward-compute",
            "offset_ns": 0,
            "duration_ns": 1_000_000_000,
            **told,
        }
        for step in range(STEPS)
        for rank in ranks
    ]
    return table(Operations, pl.DataFrame(rows))


def found(*traces: pl.DataFrame, log: pl.DataFrame | None = None) -> Results:
    steps = StepTimings.create_empty() if log is None else log
    frames = Frames({Operations: pl.concat(traces).lazy(), StepTimings: steps.lazy()})
    searched = slow.ANALYSIS.compute(frames, slow.ANALYSIS.thresholds)
    scored = scores.ANALYSIS.compute(frames, scores.ANALYSIS.thresholds)
    return {**searched, **scored}


def test_traces_that_place_a_rank_differently_are_of_several_jobs() -> None:
    results = found(trace("a", 8), trace("b", 4))
    (test,) = results[slow.StragglerTests].to_dicts()
    assert (test["verdict"], test["source"]) == ("unlike_traces", "none")
    assert test["cannot_tell"] == UNLIKE_TRACES
    assert results[slow.StragglerSteps].is_empty()
    assert results[scores.SectionScores].is_empty()


@pytest.mark.parametrize(
    "traces",
    [
        # parts of one run: a file for each half of the ranks, and for each attempt
        (trace("a", 8, range(8)), trace("b", 8, range(8, 16))),
        (trace("a", 8), trace("b", 8)),
        (trace("a", 8), trace("b", 4, attempt=1)),
        (trace("a", 8), trace("b", 4, dp_rank=None, pp_rank=None)),
        # the calendar tells these apart
        (
            trace("a", 8, offset_ns=None, start_ns=1_700_000_000_000_000_000),
            trace("b", 4, offset_ns=None, start_ns=1_700_000_500_000_000_000),
        ),
    ],
)
def test_parts_of_one_run_are_no_several_jobs(traces: tuple[pl.DataFrame, ...]) -> None:
    assert unlike_runs(pl.concat(traces).lazy()).is_empty()


def test_a_step_log_tells_of_its_run_beside_such_traces() -> None:
    log = step_log(healthy(RANKS, STEPS, 1))
    results = found(trace("a", 8), trace("b", 4), log=log)
    (test,) = results[slow.StragglerTests].to_dicts()
    assert (test["verdict"], test["source"]) == ("tested", "step_timings")
    assert test["cannot_tell"] == CANNOT_TELL["step_timings"]
    assert set(results[scores.SectionScores]["section"]) == {"step"}


def test_both_published_traces_in_one_folder(shared: Path) -> None:
    folder = shared / "data" / "nccl" / "ByteDance-Seed_StragglerAnalysis"
    traces = []
    for name in ("AR", "ST"):
        rows = pl.read_parquet(folder / f"trace-{name}.parquet").select(
            *("step", "rank", "dp_rank"),
            file_id=pl.lit(name),
            run_id=pl.lit("run"),
            trace_id=pl.lit(name),
            pp_rank="stage",
            kind=pl.col("optype").cast(pl.String),
            offset_ns=(pl.col("start_ts").cast(pl.Float64) * 1e9).round(),
            duration_ns=(pl.col("duration").cast(pl.Float64) * 1e9).round(),
        )
        traces.append(table(Operations, rows))
        assert unlike_runs(traces[-1].lazy()).is_empty()
    assert unlike_runs(pl.concat(traces).lazy())["run_id"].to_list() == ["run"]
