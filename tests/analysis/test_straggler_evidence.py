"""Each rung of the ladder of causes, by a fault that makes exactly it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis import Results
from analysis.gpus import Gpus
from analysis.stragglers import StragglerEvidence, StragglerRanks
from ingest.tables import LinkSamples, Operations, PowerSamples, StepTimings, Table
from tests.analysis.fleets import (
    START_NS,
    STEP_NS,
    Times,
    found,
    healthy,
    seats,
    step_log,
    table,
)

RANKS, STEPS, SLOW = 16, 60, 5
MICROBATCHES = 8


def search(
    work: Times, *frames: tuple[type[Table], pl.DataFrame], **told: Any
) -> Results:
    where = seats(
        RANKS,
        lambda rank: {
            "cluster": "pod",
            "host": f"node-{rank // 8}",
            "local_rank": rank % 8,
            "gpu_uuid": f"GPU-{rank}",
            "nic": f"mlx5_{rank % 8}",
        },
    )
    return found((StepTimings, step_log(work, **told)), (Gpus, where), *frames)


def slow_work() -> Times:
    work = healthy(RANKS, STEPS, 1)
    work[:, SLOW] *= 1.2
    return work


def cause(results: Results) -> str:
    (row,) = results[StragglerRanks].to_dicts()
    assert row["rank"] == SLOW
    return str(row["cause"])


def rung(results: Results, cause: str) -> dict[str, Any]:
    rows = results[StragglerEvidence].filter(pl.col("cause") == cause)
    return rows.to_dicts()[0]


def test_every_rung_is_listed_and_says_where_nothing_tells() -> None:
    results = search(slow_work())
    rows = results[StragglerEvidence]
    assert rows["rung"].to_list() == list(range(16))
    # the log tells that it is not a whole stage; of all else there is no telemetry
    assert set(rows.filter(pl.col("supports").is_not_null())["cause"]) == {
        "stage_imbalance"
    }
    assert rows["evidence"].null_count() == 0
    assert rows.filter(pl.col("supports").is_null())["rows_count"].sum() == 0
    assert cause(results) == "unknown"
    (row,) = results[StragglerRanks].to_dicts()
    assert set(rows["first_step"]) == {row["first_step"]}


def ports(counter: str, rate: Callable[[int, int], int]) -> pl.DataFrame:
    """Eight ports on two nodes; the counter rises by so much a second."""
    rows = [
        {
            "file_id": "l",
            "cluster": "pod",
            "host": f"node-{node}",
            "port": f"mlx5_{port}/1",
            "time_ns": START_NS + second * STEP_NS,
            counter: second * rate(node, port),
        }
        for node in range(2)
        for port in range(8)
        for second in range(STEPS)
    ]
    return table(LinkSamples, pl.DataFrame(rows))


@pytest.mark.parametrize(
    ("counter", "name"),
    [
        ("errors", "link_errors"),
        ("symbol_errors", "link_errors"),
        ("link_downs", "link_errors"),
        ("discards", "link_errors"),
        ("pauses", "congestion"),
        ("congestion_marks", "congestion"),
        ("retransmits", "congestion"),
    ],
)
def test_a_port_that_counts_more_than_the_jobs_others(counter: str, name: str) -> None:
    # rank 5 is on node-0 and uses mlx5_5
    bad = ports(counter, lambda node, port: 5 if (node, port) == (0, 5) else 0)
    results = search(slow_work(), (LinkSamples, bad))
    assert cause(results) == name
    told = rung(results, name)
    assert "port mlx5_5/1: 295" in told["evidence"]
    assert (told["table_name"], told["rows_count"]) == ("link_samples", STEPS)


def test_ports_of_others_and_counts_that_all_share_are_no_cause() -> None:
    other = ports("errors", lambda node, port: 5 if (node, port) == (0, 4) else 0)
    everyone = ports("errors", lambda node, port: 5)
    for links in (other, everyone):
        results = search(slow_work(), (LinkSamples, links))
        assert cause(results) == "unknown"
        assert rung(results, "link_errors")["supports"] is False


def passes(
    forward: np.ndarray[Any, Any],
    backward: np.ndarray[Any, Any],
    pauses: np.ndarray[Any, Any] | None = None,
) -> pl.DataFrame:
    """Operations of [step, rank, micro-batch], in ns; and of garbage, [step, rank]."""
    parts = []
    told = [("forward-compute", forward), ("backward-compute", backward)]
    if pauses is not None:
        told.append(("gc", pauses[:, :, None]))
    for kind, lengths in told:
        step, rank, microbatch = np.indices(lengths.shape)
        parts.append(
            pl.DataFrame(
                {
                    "file_id": "t",
                    "run_id": "run",
                    "attempt": 0,
                    "trace_id": "t",
                    "step": step.ravel(),
                    "rank": rank.ravel(),
                    "pp_rank": 0,
                    "kind": kind,
                    "microbatch": microbatch.ravel(),
                    "chunk": 0,
                    "sequence": microbatch.ravel(),
                    "start_ns": START_NS + step.ravel() * STEP_NS,
                    "duration_ns": np.rint(lengths).astype(np.int64).ravel(),
                }
            )
        )
    rows = pl.concat(parts).filter(pl.col("duration_ns") > 0)
    return table(Operations, rows)


def even() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Passes of 40 and 80 ms with a scatter of 1 %: 8 of each make a second."""
    draw = np.random.default_rng(4)
    shape = (STEPS, RANKS, MICROBATCHES)
    return (
        4e7 * draw.normal(1, 0.01, shape),
        8e7 * draw.normal(1, 0.01, shape),
    )


def test_garbage_that_is_traced_and_makes_up_the_excess() -> None:
    forward, backward = even()
    pauses = np.zeros((STEPS, RANKS))
    pauses[:, SLOW] = 2e8
    results = search(slow_work(), (Operations, passes(forward, backward, pauses)))
    assert cause(results) == "garbage_collection"
    assert "garbage collection: " in rung(results, "garbage_collection")["evidence"]


def test_pauses_of_hundreds_of_ms_in_forward_passes_alone() -> None:
    # one forward pass in each step 200 ms longer, never the same
    forward, backward = even()
    steps = np.arange(STEPS)
    forward[steps, SLOW, steps % MICROBATCHES] += 2e8
    results = search(slow_work(), (Operations, passes(forward, backward)))
    assert cause(results) == "garbage_collection"


def test_pauses_in_all_passes_are_no_garbage() -> None:
    forward, backward = even()
    steps = np.arange(STEPS)
    forward[steps, SLOW, steps % MICROBATCHES] += 2e8
    backward[steps, SLOW, steps % MICROBATCHES] += 2e8
    results = search(slow_work(), (Operations, passes(forward, backward)))
    assert rung(results, "garbage_collection")["supports"] is False


def test_passes_that_are_all_longer_are_neither() -> None:
    forward, backward = even()
    forward[:, SLOW] *= 1.2
    backward[:, SLOW] *= 1.2
    results = search(slow_work(), (Operations, passes(forward, backward)))
    assert cause(results) == "unknown"
    for name in ("garbage_collection", "sequence_length"):
        assert rung(results, name)["supports"] is False


def lengths(of_slow: float) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Passes whose lengths follow those of sequences; a share of them twice as long."""
    draw = np.random.default_rng(5)
    shape = (STEPS, RANKS, MICROBATCHES)
    share = np.full(RANKS, 0.2)
    share[SLOW] = of_slow
    long = 1 + (draw.random(shape) < share[None, :, None])
    forward, backward = even()
    return forward * long, backward * long


def test_long_sequences_make_both_passes_longer() -> None:
    # of rank 5 half of the micro-batches are long, of the others a fifth
    results = search(slow_work(), (Operations, passes(*lengths(0.5))))
    assert cause(results) == "sequence_length"
    told = rung(results, "sequence_length")
    assert told["table_name"] == "operations"
    assert told["rows_count"] == 2 * STEPS * MICROBATCHES


def test_a_slow_gpu_with_sequences_like_the_others_is_slow_itself() -> None:
    # its short micro-batches are slower than the others', too
    forward, backward = lengths(0.2)
    forward[:, SLOW] *= 1.2
    backward[:, SLOW] *= 1.2
    results = search(slow_work(), (Operations, passes(forward, backward)))
    assert rung(results, "sequence_length")["supports"] is False


def test_a_transfer_that_makes_up_the_excess() -> None:
    transfer = np.full((STEPS, RANKS), 50_000_000)
    transfer[:, SLOW] += 190_000_000
    results = search(slow_work(), communication_ns=transfer.ravel())
    assert cause(results) == "slow_link"
    normal = search(slow_work(), communication_ns=50_000_000)
    assert rung(normal, "slow_link")["supports"] is False


def test_low_power_at_high_utilization_clears_and_is_never_the_cause() -> None:
    rows = [
        {
            "file_id": "p",
            "cluster": "pod",
            "host": f"node-{rank // 8}",
            "gpu_uuid": f"GPU-{rank}",
            "level": "gpu_board",
            "time_ns": START_NS + second * STEP_NS,
            "time_quality": "exact",
            "power_average_w": 380.0 if rank == SLOW else 640.0,
            "utilization_ratio": 1.0,
        }
        for rank in range(RANKS)
        for second in range(STEPS)
    ]
    power = table(PowerSamples, pl.DataFrame(rows))
    results = search(slow_work(), (PowerSamples, power))
    assert cause(results) == "unknown"
    told = rung(results, "victim")
    assert told["supports"] is True
    assert told["evidence"] == "380 W at 100.0 % utilization, the job's median 640 W"
    (row,) = results[StragglerRanks].to_dicts()
    assert row["evidence"].startswith("looks like a victim: 380 W")
