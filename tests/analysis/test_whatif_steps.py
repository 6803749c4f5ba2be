"""Repairs where only the own work of ranks is known: the slowest rank ends a step.

The drawn run, own work in ms:

            rank 0   rank 1   rank 2   ends after
    step 0    10       12       20         20
    step 1    10       12       11         12

Rank 2 at its peers' median does 11 in both steps: they end after 12 and 12.
"""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis._repairs import of_ranks
from analysis.gpus import Gpus
from analysis.stragglers import StragglerRanks
from ingest.tables import PowerSamples, StepTimings
from tests.analysis.fleets import START_NS, found, healthy, seats, step_log, table
from tests.analysis.repaired import MS, ask, nightly, saved_ms, steps_of
from tests.examples import examples

DRAWN = [[10, 12, 20], [10, 12, 11]]


def one(text: str, *frames: Any) -> dict[str, Any]:
    answers, refused = ask([text], *frames)
    assert not refused
    return answers[text]


def drawn(**told: Any) -> tuple[type[StepTimings], pl.DataFrame]:
    return StepTimings, steps_of(DRAWN, **told)


def test_the_drawn_rank_at_its_peers_median() -> None:
    row = one("rank=2", drawn())
    assert row["method"] == "order_statistics"
    assert (row["steps"], row["ranks_held"], row["ranks"]) == (2, 3, "2")
    assert (row["actual_ns"], row["simulated_ns"]) == (32 * MS, 32 * MS)
    assert row["repaired_ns"] == 24 * MS
    # 8 ms in step 0, of three ranks
    assert saved_ms(row) == 24
    assert row["saved_step_ns"] == 4 * MS
    assert row["slowdown_ratio"] == pytest.approx(32 / 24)
    assert row["fidelity_ratio"] == 0


def test_two_peers_are_too_few_to_rely_on() -> None:
    row = one("rank=2", drawn())
    assert not row["is_reliable"]
    assert "only 2 to compare with: fewer than 4 peers" in row["doubt"]


def test_everything_is_the_typical_step() -> None:
    # medians of 12 and 11
    assert one("everything", drawn())["repaired_ns"] == 23 * MS


def test_a_healthy_rank_saves_nothing_and_says_so() -> None:
    row = one("rank=0", drawn())
    assert saved_ms(row) == 0
    assert "not found slow" in row["doubt"]
    assert not row["is_beyond_noise"]


def test_gains_do_not_add() -> None:
    # rank 1 alone saves 1 ms of step 1, at the median of 10 and 11, which rank 2 then
    # ends; in step 0 it becomes slower, 15 as the median of 10 and 20
    answers, _ = ask(["rank=1", "rank=2"], drawn())
    alone = [saved_ms(answers[name]) for name in ("rank=1", "rank=2")]
    joint = answers["rank=1 + rank=2"]
    assert joint["is_joint"]
    assert joint["scope"] == "joint"
    assert alone == [3 * (12 - 11), 3 * 8]
    # step 0: max(10, 15, 11) = 15; step 1: max(10, 10.5, 11) = 11
    assert saved_ms(joint) == 3 * (5 + 1)
    assert "rank=2 alone saves more" in joint["doubt"]


def test_a_lucky_rank_is_at_its_peers_median_too() -> None:
    # rank 0 is the fastest by far: at the median of 40 and 20, and of 12 and 11
    row = one("rank=0", (StepTimings, steps_of([[10, 40, 20], [1, 12, 11]])))
    assert row["repaired_ns"] == 52 * MS
    row = one("rank=1", (StepTimings, steps_of([[10, 1], [10, 9], [10, 10]])))
    assert saved_ms(row) == 0
    pair = steps_of([[10, 40, 10], [30, 1, 30]])
    row = one("rank=0..1", (StepTimings, pair))
    # step 0: medians of 25 and 10 beside 10; step 1: of 15.5 and 30 beside 30
    assert row["repaired_ns"] == (25 + 30) * MS


def test_parts_of_the_work_can_go() -> None:
    data = [0, 0, 9 * MS, 0, 0, 0]
    communication = [2 * MS] * 6
    told = drawn(data_ns=data, communication_ns=communication)
    # step 0 ends after max(10, 12, 20 - 9)
    assert one("data", told)["repaired_ns"] == 24 * MS
    assert one("communication", told)["repaired_ns"] == 28 * MS
    # 2 ms of communication run beside 18 and 10 ms of the rest
    assert one("communication=hidden", told)["repaired_ns"] == 28 * MS
    answers, _ = ask(["data", "communication"], told)
    assert answers["data + communication"]["repaired_ns"] == 20 * MS


def test_hidden_communication_still_takes_its_time() -> None:
    told = drawn(communication_ns=[0, 0, 15 * MS, 0, 0, 0])
    # 15 ms beside 5 ms of the rest: the step ends after 15
    assert one("communication=hidden", told)["repaired_ns"] == 27 * MS
    assert one("communication", told)["repaired_ns"] == 24 * MS


def test_checkpoints_may_be_rarer_or_more_frequent() -> None:
    log = [[10, 10], [30, 30], [10, 10], [30, 30]]
    stall = [0, 0, 20 * MS, 20 * MS] * 2
    told = (StepTimings, steps_of(log, checkpoint_ns=stall))
    # two in four steps; one every four steps is half of them
    assert one("checkpoint=every 4 steps", told)["repaired_ns"] == 60 * MS
    assert one("checkpoint=every 2 steps", told)["repaired_ns"] == 80 * MS
    often = one("checkpoint=every 1 steps", told)
    assert often["repaired_ns"] == 120 * MS
    assert often["saved_gpu_ns"] < 0
    assert "what a failure then costs is not in it" in often["assumption"]


def test_a_host_is_its_ranks() -> None:
    where = seats(6, lambda rank: {"host": f"node-{rank // 2}"})
    log = steps_of([[10, 10, 30, 20, 10, 10]])
    answers, refused = ask(
        ["host=node-1", "host=node-9"], (StepTimings, log), (Gpus, where)
    )
    # each at the median of the other five, its mate among them
    assert answers["host=node-1"]["repaired_ns"] == 10 * MS
    assert answers["host=node-1"]["ranks"] == "2-3"
    assert refused == {"host=node-9": "the run has hosts node-0, node-1, node-2"}


def test_a_stage_is_held_against_the_other_stages() -> None:
    where = seats(6, lambda rank: {"pp_rank": rank // 2})
    log = steps_of([[10, 11, 10, 11, 20, 22]])
    row = one("stage=last", (StepTimings, log), (Gpus, where))
    # medians of 10.5, 10.5 and 21: the last stage does half, its scatter stays
    assert row["repaired_ns"] == 11 * MS
    assert row["ranks"] == "4-5"


def test_a_log_of_data_parallel_waits_repairs_whole_replicas() -> None:
    where = seats(8, lambda rank: {"dp_rank": rank // 2, "pp_rank": 0})
    log = steps_of([[10, 10, 10, 10, 20, 20, 10, 10]], wait_scope="dp")
    row = one("rank=4", (StepTimings, log), (Gpus, where))
    assert row["ranks"] == "4-5"
    assert row["repaired_ns"] == 10 * MS
    assert "whole replicas are repaired" in row["assumption"]


def test_throttled_gpus_at_the_clock_of_the_job() -> None:
    where = seats(6, lambda rank: {"gpu_uuid": f"GPU-{rank}", "host": "n"})
    clocks = [1980.0] * 5 + [1485.0]
    samples = table(
        PowerSamples,
        pl.DataFrame(
            {
                "file_id": "p",
                "cluster": "c",
                "host": "n",
                "gpu_uuid": [f"GPU-{rank}" for rank in range(6)],
                "level": "gpu_board",
                "time_ns": START_NS + MS,
                "time_quality": "exact",
                "sm_clock_mhz": clocks,
            }
        ),
    )
    log = (StepTimings, steps_of([[30, 30, 30, 30, 30, 40]]))
    row = one("clocks", log, (Gpus, where), (PowerSamples, samples))
    # three quarters of the clock: 40 ms become 30
    assert row["repaired_ns"] == 30 * MS
    assert row["ranks"] == "5"
    _, refused = ask(["clocks"], log, (Gpus, where))
    assert refused["clocks"].startswith("no clocks of its GPUs are known")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rank=3", "the run has ranks 0-2"),
        ("rank=1..999999999999999999", "the run has ranks 0-2"),
        ("host=a", "no hosts are known"),
        ("stage=last", "no stages are known"),
        ("data", "no time that steps were blocked on input"),
        ("communication", "no time that only communication took"),
        ("checkpoint=every 5 steps", "no time that steps were blocked on a checkpoint"),
        ("gc", "only a trace of operations tells of pauses of garbage"),
        ("sequence-lengths", "only a trace of operations tells of micro-batches"),
        ("kind=forward-compute", "tells of kinds of operations"),
        ("link=0-1", "tells of transfers of a link"),
        ("workers=slowest", "tells of the slowest workers"),
    ],
)
def test_what_cannot_be_told_has_its_reason(text: str, says: str) -> None:
    answers, refused = ask([text], drawn())
    assert answers == {}
    assert says in refused[text]


def test_a_rank_without_peers_is_refused() -> None:
    _, refused = ask(["rank=0"], (StepTimings, steps_of([[10], [12]])))
    assert refused == {"rank=0": "it has no peers to compare with in its stage"}


@settings(max_examples=examples(12))
@given(
    works=st.lists(st.integers(1, 10**6), min_size=10, max_size=10),
    order=st.permutations(range(5)),
    shares=st.lists(st.floats(0.01, 0.5), min_size=4, max_size=4),
)
def test_a_step_ends_with_the_slowest_of_what_is_left(
    works: list[int], order: list[int], shares: list[float]
) -> None:
    parts = {
        name: [round(own * MS * shares[(first + place) % 4]) for place, own in told]
        for first, name in enumerate(("data_ns", "communication_ns"))
        for told in [list(enumerate(works))]
    }
    log = steps_of([works[:5], works[5:]], **parts)
    chain = [
        of_ranks(tuple((rank, rank) for rank in order[:count])).text
        for count in range(1, 6)
    ]
    told, _ = ask([*chain, "data", "communication"], (StepTimings, log))
    steps = [works[:5], works[5:]]
    for count, text in enumerate(chain, 1):
        left = [
            max(
                float(np.median(np.delete(work, rank)))
                if rank in order[:count]
                else own
                for rank, own in enumerate(work)
            )
            for work in steps
        ]
        assert told[text]["repaired_ns"] == sum(round(most * MS) for most in left)
    parts_gone = [told[text] for text in ("data", "communication")]
    assert all(row["saved_gpu_ns"] >= 0 for row in parts_gone)


def test_the_order_of_rows_does_not_matter() -> None:
    log = step_log(healthy(8, 40, 1))
    texts = ["rank=3", "rank=1..5", "everything"]
    usual, _ = ask(texts, (StepTimings, log))
    mixed, _ = ask(texts, (StepTimings, log.sample(fraction=1, shuffle=True, seed=3)))
    assert usual == mixed


@pytest.mark.parametrize("seed", range(3))
def test_a_healthy_fleet_gets_no_recommendation(seed: int) -> None:
    answers = nightly((StepTimings, step_log(healthy(64, 60, seed))))
    assert set(answers) == {"everything"}
    assert not answers["everything"]["is_beyond_noise"]
    assert not answers["everything"]["is_bound"]
    assert "a single repair can save more" in answers["everything"]["assumption"]


def test_what_was_found_slow_is_repaired_in_its_spell() -> None:
    work = healthy(32, 200, 5)
    work[60:140, 7] *= 1.3
    work[:, 20] *= 1.1
    log = (StepTimings, step_log(work))
    slow = found(log)[StragglerRanks]
    answers = nightly(log, (StragglerRanks, slow))
    assert {"rank=7", "rank=20", "all repairs", "everything"} <= set(answers)
    lost = dict(slow.group_by("rank").agg(pl.col("lost_gpu_ns").sum()).iter_rows())
    for rank in (7, 20):
        row = answers[f"rank={rank}"]
        assert row["is_beyond_noise"]
        assert row["is_reliable"]
        assert float(row["saved_gpu_ns"]) == pytest.approx(float(lost[rank]), rel=1e-3)
        assert (
            row["saved_low_gpu_ns"] <= row["saved_gpu_ns"] <= row["saved_high_gpu_ns"]
        )
    together = answers["all repairs"]
    assert together["is_joint"]
    # while rank 7 is slowest rank 20 hides behind it: each alone saves less
    alone = sum(float(answers[f"rank={rank}"]["saved_gpu_ns"]) for rank in (7, 20))
    assert float(together["saved_gpu_ns"]) > 1.05 * alone
    exact = work.max(axis=1) - np.delete(work, [7, 20], axis=1).max(axis=1)
    assert float(together["saved_gpu_ns"]) == pytest.approx(
        exact.sum() * 32e9, rel=0.02
    )


def test_a_log_without_waits_says_why_there_is_no_answer() -> None:
    answers = nightly((StepTimings, steps_of(DRAWN, wait_ns=None)))
    (row,) = answers.values()
    assert (row["method"], row["saved_gpu_ns"]) == ("none", None)
    assert "time that ranks waited is not told" in row["doubt"]


def test_nothing_gives_nothing() -> None:
    assert nightly() == {}
