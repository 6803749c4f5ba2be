"""Hosts and racks that are slow where too few are like them for a test of their own."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis import Results
from analysis.gpus import Gpus
from analysis.stragglers import StragglerEvidence, StragglerRanks
from ingest.tables import StepTimings
from tests.analysis.fleets import STEP_NS, Times, found, healthy, seats, step_log


def slow(results: Results) -> list[dict[str, Any]]:
    return results[StragglerRanks].to_dicts()


def search(work: Times, per_rack: int = 32) -> Results:
    """Hosts of eight GPUs, four of them in a rack."""
    where = seats(
        work.shape[1],
        lambda r: {
            "host": f"node-{r // 8}",
            "rack": f"rack-{r // per_rack}",
            "gpu_uuid": f"GPU-{r:02}",
        },
    )
    return found((StepTimings, step_log(work)), (Gpus, where))


def test_one_of_four_hosts_is_named_once() -> None:
    work = healthy(32, 100, 5)
    work[:, 8:16] *= 1.2
    results = search(work)
    (row,) = slow(results)
    assert (row["scope"], row["scope_id"]) == ("host", "node-1")
    assert (row["host"], row["rank"]) == ("node-1", None)
    assert row["evidence"].startswith("all 8 GPUs of it are slow")
    assert (row["first_step"], row["last_step"]) == (0, 99)
    assert row["slowdown_ratio"] == pytest.approx(1.2, abs=0.01)
    assert row["q_value"] < 0.01
    # all of it together: steps would take what the slowest of the others takes
    others = np.delete(work, np.arange(8, 16), axis=1).max(axis=1)
    expected = float((work.max(axis=1) - others).sum()) * 32 * STEP_NS
    assert float(row["lost_gpu_ns"]) == pytest.approx(expected, rel=0.03)
    named = results[StragglerEvidence].select("scope", "scope_id").unique()
    assert named.rows() == [("host", "node-1")]


def test_the_spell_of_a_host_is_dated_and_those_of_its_gpus_go() -> None:
    # GIVEN a host that is slow from step 203 to 296, one GPU of it later, too
    work = healthy(32, 600, 6)
    work[203:297, 16:24] *= 1.15
    work[400:500, 17] *= 1.15
    rows = [
        (r["scope_id"], r["first_step"], r["last_step"]) for r in slow(search(work))
    ]
    assert rows == [("GPU-17", 400, 499), ("node-2", 203, 296)]


def test_a_host_with_a_healthy_gpu_is_not_named() -> None:
    work = healthy(32, 100, 7)
    work[:, 8:15] *= 1.2
    rows = slow(search(work))
    assert [row["scope_id"] for row in rows] == [f"GPU-{r:02}" for r in range(8, 15)]
    assert all("of it are slow" not in (row["evidence"] or "") for row in rows)


def test_gpus_slow_at_different_times_are_no_host() -> None:
    work = healthy(32, 800, 8)
    for place, rank in enumerate(range(8, 16)):
        work[100 * place : 100 * place + 60, rank] *= 1.2
    assert {row["scope"] for row in slow(search(work))} == {"gpu"}


def test_a_rack_is_named_instead_of_its_hosts() -> None:
    work = healthy(48, 100, 9)
    work[:, 16:32] *= 1.2
    (row,) = slow(search(work, per_rack=16))
    assert (row["scope"], row["scope_id"], row["host"]) == ("rack", "rack-1", None)
    assert row["evidence"].startswith("all 16 GPUs of it are slow")


@pytest.mark.parametrize("seed", range(6))
def test_a_healthy_fleet_of_few_hosts_flags_nobody(seed: int) -> None:
    assert slow(search(healthy(32, 100, seed), per_rack=16)) == []


def test_the_order_of_rows_does_not_matter() -> None:
    work = healthy(24, 200, 4)
    work[80:150, 8:16] *= 1.2
    where = seats(24, lambda r: {"host": f"n{r // 8}", "gpu_uuid": f"GPU-{r:02}"})
    log = step_log(work)
    one = found((StepTimings, log), (Gpus, where))[StragglerRanks]
    mixed = found((StepTimings, log.reverse()), (Gpus, where.reverse()))[StragglerRanks]
    assert one.select(pl.col("scope_id")).to_series().to_list() == ["n1"]
    assert one.equals(mixed)
