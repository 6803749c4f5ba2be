"""Slow ranks that only traces tell of: own work is the window without exposed waits."""

from typing import Any

import numpy as np
import polars as pl

from analysis import Frames, Results
from analysis.attempts import Attempts
from analysis.overlap import Overlap, measure_overlap
from analysis.stragglers import (
    StragglerRanks,
    StragglerSteps,
    StragglerTests,
    find_stragglers,
)
from ingest.tables import Collectives, Kernels
from tests.analysis.fleets import Times, healthy, table

#: A step, from one start to the next. [ns]
PERIOD = 1_000_000

#: Own work of a healthy rank in it. [ns]
WORK = 400_000


def traced(work: Times, *, hidden: bool = False) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Kernels and collectives of ranks that compute, then reduce together.

    With `hidden` the reduce starts at half the work, beside it.
    """
    kernels, collectives = [], []
    for step, of_step in enumerate(np.rint(work * WORK).astype(int).tolist()):
        start = step * PERIOD
        arrivals = [start + (own // 2 if hidden else own) for own in of_step]
        for rank, (own, arrival) in enumerate(zip(of_step, arrivals, strict=True)):
            told = {
                "file_id": f"f{rank}",
                "run_id": "run",
                "attempt": 0,
                "trace_id": f"t{rank}",
                "rank": rank,
                "device": 0,
                "stream": 7,
                "step": step,
            }
            end = max(arrivals) + 1_000
            kernel = {"linked": True, "category": "compute"}
            kernels += [
                told
                | kernel
                | {"event": 2 * step, "start_ns": start, "duration_ns": own},
                told
                | {"linked": True, "category": "communication", "event": 2 * step + 1}
                | {"start_ns": arrival, "duration_ns": end - arrival},
            ]
            collectives.append(
                told
                | {"event": 2 * step + 1, "group_id": "dp", "group_size": len(of_step)}
                | {"kind": "allreduce", "is_p2p": False, "sequence": step}
                | {"match_method": "sequence", "start_ns": arrival, "end_ns": end}
                | {"duration_ns": end - arrival, "time_basis": "gpu"}
                | {"state": "completed"}
            )
    return (
        table(Kernels, pl.DataFrame(kernels)),
        table(Collectives, pl.DataFrame(collectives)),
    )


def found(kernels: pl.DataFrame, collectives: pl.DataFrame) -> Results:
    attempts = Attempts.create_empty().lazy()
    overlap = measure_overlap(Kernels.cast(kernels).lazy(), attempts)
    frames = {Kernels: kernels, Collectives: collectives, Overlap: overlap}
    return find_stragglers(Frames({of: rows.lazy() for of, rows in frames.items()}))


def slow(results: Results) -> list[dict[str, Any]]:
    return results[StragglerRanks].to_dicts()


def test_a_slow_rank_is_found_from_traces_alone() -> None:
    work = healthy(8, 40, 1)
    work[:, 5] *= 1.5
    (row,) = slow(found(*traced(work)))
    assert row["rank"] == 5
    assert row["slowdown_ratio"] > 1.05


def test_own_work_is_the_window_without_the_waits() -> None:
    # ranks compute 400 us, rank 5 600: the others wait 200 us of the 1,000 us window
    work = np.ones((30, 8))
    work[:, 5] = 1.5
    results = found(*traced(work))
    first = results[StragglerSteps].to_dicts()[0]
    assert (first["slowest_rank"], first["slowest_work_ns"]) == (5, PERIOD)
    assert first["typical_work_ns"] == PERIOD - WORK // 2
    assert first["lost_gpu_ns"] == 8 * WORK // 2


def test_waits_that_compute_hides_cost_nothing() -> None:
    # reduce at half the work: ranks come at 200 us, rank 5 at 300 us, until when the
    # others compute anyway
    work = np.ones((30, 8))
    work[:, 5] = 1.5
    results = found(*traced(work, hidden=True))
    first = results[StragglerSteps].to_dicts()[0]
    assert first["slowest_work_ns"] == first["typical_work_ns"] == PERIOD


def test_steps_with_a_rank_missing_are_not_compared() -> None:
    kernels, collectives = traced(healthy(8, 40, 1))
    lacking = collectives.filter(~((pl.col("rank") == 3) & (pl.col("step") == 7)))
    steps = found(kernels, lacking)[StragglerSteps]["step"].to_list()
    assert steps == [step for step in range(40) if step != 7]


def test_one_trace_alone_tells_nothing() -> None:
    kernels, collectives = traced(healthy(8, 40, 1))
    only = pl.col("rank") == 0
    results = found(kernels.filter(only), collectives.filter(only))
    assert results[StragglerTests]["verdict"].to_list() == ["no_waits"]


def test_a_healthy_traced_fleet_flags_nobody() -> None:
    assert slow(found(*traced(healthy(16, 40, 3)))) == []
