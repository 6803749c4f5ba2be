"""Hosts, replicas and stages that are slow, and GPUs that keep their name."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis import Results
from analysis.gpus import Gpus
from analysis.stragglers import StragglerRanks
from ingest.tables import StepTimings
from tests.analysis.fleets import STEP_NS, found, healthy, seats, step_log


def slow(results: Results) -> list[dict[str, Any]]:
    return results[StragglerRanks].to_dicts()


def test_peers_are_those_of_the_same_stage() -> None:
    # GIVEN four stages that differ by up to 20 %, and a rank of the fastest 10 % slow
    work = healthy(64, 60, 3, stages=4)
    work[:, 8] *= 1.1
    where = seats(64, lambda rank: {"pp_rank": rank % 4})
    results = found((StepTimings, step_log(work)), (Gpus, where))
    # THEN only that one is slow, though the last stage takes longer
    assert [(row["scope"], row["rank"]) for row in slow(results)] == [("gpu", 8)]


def test_a_stage_that_is_slow_as_a_whole_is_named_once() -> None:
    work = healthy(64, 60, 3)
    work[:, 7::8] *= 1.3
    where = seats(64, lambda rank: {"pp_rank": rank % 8})
    (row,) = slow(found((StepTimings, step_log(work)), (Gpus, where)))
    assert (row["scope"], row["scope_id"]) == ("stage", "7")
    assert row["cause"] == "stage_imbalance"
    assert row["slowdown_ratio"] == pytest.approx(1.3, abs=0.01)
    # without it the step would take what the slowest of the others takes
    others = np.delete(work, np.arange(7, 64, 8), axis=1).max(axis=1)
    expected = float((work.max(axis=1) - others).sum()) * 64 * STEP_NS
    assert float(row["lost_gpu_ns"]) == pytest.approx(expected, rel=0.02)


def test_a_host_whose_gpus_are_all_slow_is_named_instead_of_them() -> None:
    work = healthy(64, 60, 6)
    work[:, 16:24] *= 1.1
    work[:, 40] *= 1.1
    where = seats(64, lambda r: {"host": f"node-{r // 8}", "gpu_uuid": f"GPU-{r}"})
    results = found((StepTimings, step_log(work)), (Gpus, where))
    names = {(row["scope"], row["scope_id"], row["host"]) for row in slow(results)}
    assert names == {("host", "node-2", "node-2"), ("gpu", "GPU-40", "node-5")}


def test_a_gpu_keeps_its_name_where_ranks_move() -> None:
    # GIVEN a slow GPU that is rank 3 first and rank 9 after the restart
    first, second = healthy(16, 30, 1), healthy(16, 30, 2)
    first[:, 3] *= 1.1
    second[:, 9] *= 1.1
    again = step_log(second, attempt=1).with_columns(
        pl.col("step") + 30, pl.col("start_ns") + 100 * STEP_NS
    )
    before = seats(16, lambda rank: {"gpu_uuid": f"GPU-{rank}"})
    after = seats(16, lambda rank: {"gpu_uuid": f"GPU-{(rank - 6) % 16}"})
    where = pl.concat([before, after.with_columns(attempt=pl.lit(1, pl.Int32))])
    # WHEN both attempts are searched
    log = pl.concat([step_log(first), again])
    (row,) = slow(found((StepTimings, log), (Gpus, where)))
    # THEN it is one GPU that was slow in all 60 steps
    assert (row["scope_id"], row["rank"], row["steps_late"]) == ("GPU-3", None, 60)


def test_of_waits_for_data_parallelism_only_the_replica_can_be_told() -> None:
    # eight replicas of four ranks; all of replica 5 look slow, whoever it is
    work = healthy(32, 60, 7)
    work[:, 20:24] *= 1.1
    where = seats(32, lambda rank: {"dp_rank": rank // 4, "tp_rank": rank % 4})
    log = step_log(work, wait_scope="dp")
    (row,) = slow(found((StepTimings, log), (Gpus, where)))
    assert (row["scope"], row["scope_id"], row["rank"]) == ("dp_rank", "5", None)


def test_a_rack_whose_hosts_are_all_slow_is_named_instead_of_them() -> None:
    # eight racks of two hosts of four GPUs; in rack 3 all are slow, and one in rack 6
    work = healthy(64, 60, 6)
    work[:, 24:32] *= 1.1
    work[:, 50] *= 1.1
    where = seats(
        64,
        lambda r: {
            "host": f"node-{r // 4:02}",
            "rack": f"rack-{r // 8}",
            "gpu_uuid": f"GPU-{r}",
        },
    )
    results = found((StepTimings, step_log(work)), (Gpus, where))
    names = {(row["scope"], row["scope_id"], row["host"]) for row in slow(results)}
    assert names == {("rack", "rack-3", None), ("gpu", "GPU-50", "node-12")}


def test_a_gpu_of_a_slow_host_keeps_a_spell_of_its_own() -> None:
    # node-2 is slow from step 100 to 199, its second GPU from 400 to 499, too
    work = healthy(64, 800, 6)
    work[100:200, 16:24] *= 1.1
    work[400:500, 17] *= 1.1
    where = seats(64, lambda r: {"host": f"node-{r // 8}", "gpu_uuid": f"GPU-{r}"})
    results = found((StepTimings, step_log(work)), (Gpus, where))
    spells = {
        (row["scope_id"], row["first_step"], row["last_step"]) for row in slow(results)
    }
    assert spells == {("node-2", 100, 199), ("GPU-17", 400, 499)}


def test_a_stage_that_is_slow_for_a_while_is_dated() -> None:
    work = healthy(64, 400, 3)
    work[150:237, 7::8] *= 1.2
    where = seats(64, lambda rank: {"pp_rank": rank % 8})
    (row,) = slow(found((StepTimings, step_log(work)), (Gpus, where)))
    assert (row["scope"], row["scope_id"]) == ("stage", "7")
    assert (row["first_step"], row["last_step"]) == (150, 236)
