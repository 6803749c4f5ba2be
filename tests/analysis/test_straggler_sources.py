"""Slow ranks of runs that no step log tells of: operations, or collectives alone."""

from typing import Any

import numpy as np
import polars as pl

from analysis.stragglers import StragglerRanks, StragglerTests
from ingest.tables import Collectives, Operations, StepTimings
from tests.analysis.fleets import START_NS, Times, found, healthy, step_log, table

#: A forward pass of a healthy rank; its backward pass takes twice as long. [ns]
PASS_NS = 1_000_000

STAGES, REPLICAS, SLOW = 2, 8, 5


def operations(work: Times, **told: Any) -> pl.DataFrame:
    """Two passes of each rank and step, and a transfer that waits for the slowest.

    Rank r is replica r // 2 and stage r % 2.

        rank 0  |F |B   |reduce..|
        rank 5  |F   |B      |re.|
    """
    slowest = 3 * PASS_NS * work.max(axis=1)
    begin = START_NS + np.concatenate([[0], np.cumsum(slowest + PASS_NS)])[:-1]
    step, rank = np.indices(work.shape)
    parts = []
    for kind, before, length in (
        ("forward-compute", 0 * work, PASS_NS * work),
        ("backward-compute", PASS_NS * work, 2 * PASS_NS * work),
        (
            "grads-reduce-scatter",
            3 * PASS_NS * work,
            slowest[:, None] + PASS_NS - 3 * PASS_NS * work,
        ),
    ):
        columns: dict[str, Any] = {
            "file_id": "t",
            "run_id": "run",
            "attempt": 0,
            "trace_id": "t",
            "step": step.ravel(),
            "rank": rank.ravel(),
            "dp_rank": rank.ravel() // STAGES,
            "pp_rank": rank.ravel() % STAGES,
            "kind": kind,
            "microbatch": 0,
            "chunk": 0,
            "sequence": 0,
            "start_ns": np.rint(begin[:, None] + before).astype(np.int64).ravel(),
            "duration_ns": np.rint(length).astype(np.int64).ravel(),
        }
        parts.append(pl.DataFrame(columns | told))
    return table(Operations, pl.concat(parts))


def test_a_slow_rank_is_found_from_its_passes() -> None:
    work = healthy(STAGES * REPLICAS, 40, 1)
    work[:, SLOW] *= 1.2
    results = found((Operations, operations(work)))
    (row,) = results[StragglerRanks].to_dicts()
    assert (row["rank"], row["first_step"], row["last_step"]) == (SLOW, 0, 39)
    assert abs(row["slowdown_ratio"] - 1.2) < 0.01
    (test,) = results[StragglerTests].to_dicts()
    assert (test["source"], test["verdict"]) == ("operations", "tested")
    assert "not traced" in test["cannot_tell"]


def test_operations_without_a_calendar_are_compared_as_well() -> None:
    work = healthy(STAGES * REPLICAS, 40, 1)
    work[:, SLOW] *= 1.2
    undated = operations(work).with_columns(start_ns=pl.lit(None, pl.Int64))
    (row,) = found((Operations, undated))[StragglerRanks].to_dicts()
    assert row["rank"] == SLOW


def collectives(work: Times, **told: Any) -> pl.DataFrame:
    """One all-reduce of all ranks a step, which all leave together.

    rank 0  work |all-reduce waits and transfers|
    rank 5  work            |all-reduce         |
    """
    arrival = np.rint(3 * PASS_NS * work).astype(np.int64)
    length = arrival.max(axis=1, keepdims=True) + PASS_NS
    begin = START_NS + np.concatenate([[0], np.cumsum(length[:-1, 0])])
    step, rank = np.indices(work.shape)
    end = (begin[:, None] + length) + 0 * rank
    start = begin[:, None] + arrival
    columns: dict[str, Any] = {
        "file_id": "c",
        "run_id": "run",
        "attempt": 0,
        "trace_id": [f"t{r}" for r in rank.ravel()],
        "event": step.ravel(),
        "step": step.ravel(),
        "rank": rank.ravel(),
        "group_id": "dp",
        "group_size": work.shape[1],
        "kind": "allreduce",
        "is_p2p": False,
        "sequence": step.ravel(),
        "match_method": "sequence",
        "start_ns": start.ravel(),
        "end_ns": end.ravel(),
        "duration_ns": (end - start).ravel(),
        "time_basis": "gpu",
        "state": "completed",
    }
    return table(Collectives, pl.DataFrame(columns | told))


def test_a_slow_rank_is_found_from_when_it_arrives() -> None:
    work = healthy(16, 200, 2)
    work[64:124, SLOW] *= 1.2
    results = found((Collectives, collectives(work)))
    (row,) = results[StragglerRanks].to_dicts()
    assert (row["rank"], row["first_step"], row["last_step"]) == (SLOW, 64, 123)
    assert abs(row["slowdown_ratio"] - 1.2) < 0.01
    (test,) = results[StragglerTests].to_dicts()
    assert test["source"] == "collectives"
    assert "beside collectives" in test["cannot_tell"]


def test_collectives_that_know_no_step_are_told_apart_by_their_number() -> None:
    work = healthy(16, 60, 2)
    work[:, SLOW] *= 1.2
    results = found((Collectives, collectives(work, step=None)))
    (row,) = results[StragglerRanks].to_dicts()
    # the first is left out: nobody saw it begin
    assert (row["rank"], row["first_step"], row["last_step"]) == (SLOW, 1, 59)


def test_clocks_of_ranks_do_not_matter_for_who_arrives_late() -> None:
    work = healthy(16, 60, 2)
    work[:, SLOW] *= 1.2
    off = pl.col("rank").cast(pl.Int64) * 700_000
    rows = collectives(work).with_columns(
        start_ns=pl.col("start_ns") + off, end_ns=pl.col("end_ns") + off
    )
    (row,) = found((Collectives, rows))[StragglerRanks].to_dicts()
    assert row["rank"] == SLOW


def test_healthy_collectives_flag_nobody() -> None:
    results = found((Collectives, collectives(healthy(16, 60, 3))))
    assert results[StragglerRanks].is_empty()


def test_a_step_log_with_waits_comes_first() -> None:
    work = healthy(16, 60, 2)
    results = found(
        (StepTimings, step_log(work)),
        (Operations, operations(work)),
        (Collectives, collectives(work)),
    )
    (test,) = results[StragglerTests].to_dicts()
    assert (test["source"], test["steps_tested"]) == ("step_timings", 60)
    assert test["shortest_spell_count"] == 30


def test_waits_of_data_parallelism_alone_are_said_to_be() -> None:
    log = step_log(healthy(16, 60, 2), wait_scope="dp")
    (test,) = found((StepTimings, log))[StragglerTests].to_dicts()
    assert "which of its ranks" in test["cannot_tell"]
