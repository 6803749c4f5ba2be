"""Feeds of data: each planted fault is found where it is, and clean ones are clean."""

from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from analysis.attempts import Attempts
from analysis.runs import Runs
from ingest.synthetic.data_feed import Fault, Feed, Kind, rows
from ingest.tables import Checkpoints, StepTimings
from tests.analysis.feeds import Row, audit, framed, in_order
from tests.reports.builder import frame

#: 8 replicas of 2 ranks, 8 samples each: step n has samples 64 n to 64 n + 63, replica
#: r those from 64 n + 8 r on. The second attempt does steps 20 to 29 again.
FEED: dict[str, Any] = {"seed": 1, "replicas": 8, "tp": 2, "batch": 8, "steps": 40}
RESTART: dict[str, Any] = {"failed_step": 30, "resumed_step": 20}


def planted(kind: Kind, **fields: Any) -> Feed:
    return Feed(**(FEED | fields), faults=(Fault(kind, step=17, replica=3),))


@pytest.mark.parametrize(
    ("feed", "expected"),
    [
        # replica 3 has 1112 to 1119; it begins with the last of replica 2
        (planted("given_twice"), ("given_twice", 0, 17, "4-7", 1111, 1112)),
        # or with its own second, so that 1112 is between ranks 4, 5 and 6, 7
        (planted("left_out"), ("left_out", 0, 17, "4-7", 1112, 1113)),
        (planted("ranks_disagree"), ("ranks_disagree", 0, 17, "6-7", None, None)),
        (
            planted("ranks_disagree", tp=3),  # two against one
            ("ranks_disagree", 0, 17, "11", None, None),
        ),
        # step 19 has 1216 to 1279, step 20 should have 1280 to 1343
        (
            planted("restart_repeats", **RESTART),
            ("restart_repeats", 1, 20, "0-15", 1216, 1280),
        ),
        (
            planted("restart_skips", **RESTART),
            ("restart_skips", 1, 20, "0-1", 1280, 1344),
        ),
    ],
)
def test_a_fault_is_found_with_its_step_and_ranks(
    feed: Feed, expected: tuple[Any, ...]
) -> None:
    found = audit(feed)
    assert found.told == [expected]
    assert found.verdict == "violations"


@pytest.mark.parametrize("kind", ["restart_repeats", "restart_skips"])
def test_a_restart_of_a_shuffled_feed_is_found(kind: Kind) -> None:
    sets = (("web", 20_000),)
    feed = planted(kind, **RESTART, shuffled=True, datasets=sets)
    (fault,) = audit(feed).faults.rows(named=True)
    assert (fault["kind"], fault["attempt"], fault["step"]) == (kind, 1, 20)
    assert (fault["ranks"], fault["samples_count"]) == ("0-15", 64)


def test_a_large_clean_feed_reports_nothing() -> None:
    found = audit(in_order(128, 1_000, 8))
    assert found.told == []
    assert found.verdict == "complete"
    assert found.runs["samples"].item() == 128 * 1_000 * 8


CLEAN = [
    Feed(**FEED),
    Feed(**FEED, **RESTART),
    Feed(**FEED, datasets=(("a", 500), ("b", 1_100))),
    Feed(**FEED, **RESTART, shuffled=True, datasets=(("a", 500), ("b", 1_100))),
]


@pytest.mark.parametrize("feed", CLEAN)
def test_clean_feeds_report_nothing(feed: Feed) -> None:
    found = audit(feed)
    assert found.told == []
    assert (found.verdict == "complete") is not feed.shuffled
    kept = found.steps.filter("is_kept")
    assert kept["samples"].to_list() == [64] * 40


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([1, 2]), st.integers(2, 5))
def test_no_clean_feed_is_blamed(
    seed: int, shuffled: bool, tp: int, replicas: int
) -> None:
    sets = (("a", 37), ("b", 101))
    size: dict[str, Any] = {"replicas": replicas, "tp": tp, "batch": 3, "steps": 12}
    again: dict[str, Any] = {"failed_step": 8, "resumed_step": 1 + seed % 7}
    feed = Feed(seed, **size, **again, shuffled=shuffled, datasets=sets)
    assert audit(feed).told == []


def test_rows_in_any_order_and_twice_change_nothing() -> None:
    feed = planted("restart_skips", **RESTART)
    whole = framed(rows(feed))
    mixed = pl.concat([whole, whole]).sample(fraction=1, shuffle=True, seed=3)
    for portion_rows in (300, 10**6):
        for one, other in zip(audit(whole), audit(mixed, portion_rows), strict=True):
            assert_frame_equal(one, other)


@pytest.mark.parametrize("shuffled", [False, True])
def test_missing_rows_are_named_and_blame_nobody(shuffled: bool) -> None:
    feed = Feed(**FEED, **RESTART, shuffled=shuffled, datasets=(("a", 900),))
    lost = [row for row in rows(feed) if (row["step"], row["dp_rank"]) != (25, 3)]
    found = audit(lost)
    assert found.told == []
    assert found.verdict == "cannot tell"
    assert "rows are missing in 1 of the steps, of up to 1 replicas" in found.blind
    (step,) = found.steps.filter("is_kept", pl.col("step") == 25).rows(named=True)
    assert (step["readers_seen"], step["readers_expected"]) == (7, 8)


def test_a_replica_that_the_layout_has_and_no_row_tells_is_missed() -> None:
    lost = [row | {"dp_rank": None} for row in rows(Feed(**FEED)) if row["rank"] < 14]
    layout = {"run_id": "feed", "tp": 2, "cp": 1, "pp": 1, "dp": 8}
    found = audit(lost, Runs=frame(Runs, [layout]))
    assert found.told == []
    assert "rows are missing in 40 of the steps, of up to 1 replicas" in found.blind


def test_the_layout_tells_which_ranks_share_a_batch() -> None:
    feed = planted("ranks_disagree", tp=3)
    untold = [row | {"dp_rank": None} for row in rows(feed)]
    layout = {"run_id": "feed", "tp": 3, "cp": 1, "pp": 1, "dp": 8}
    found = audit(untold, Runs=frame(Runs, [layout]))
    assert [one[3] for one in found.told] == ["11"]
    # without it equal batches count as one, and that is said
    nobody = audit(untold)
    assert nobody.told == []
    assert "which ranks share a batch" in nobody.blind


def by_hash(row: Row) -> Row:
    told = f"{row['dataset']}-{row['epoch']}-{row['sample_from']}"
    return row | {"batch_hash": told, "sample_from": None, "sample_to": None}


@pytest.mark.parametrize("kind", ["restart_repeats", "restart_skips"])
def test_hashes_alone_tell_of_restarts(kind: Kind) -> None:
    found = audit(map(by_hash, rows(planted(kind, **RESTART))))
    assert found.told == [(kind, 1, 20, "0-15", None, None)]
    clean = audit(map(by_hash, rows(Feed(**FEED, **RESTART))))
    assert clean.told == []
    assert "no hash tells" in clean.blind


def test_who_had_a_batch_before_is_told_by_its_hash() -> None:
    told = [by_hash(row) for row in rows(Feed(1, tp=1, replicas=4, batch=8, steps=40))]
    known = {(row["step"], row["rank"]): row for row in told}
    known[30, 2]["batch_hash"] = known[20, 1]["batch_hash"]
    (fault,) = audit(told).faults.rows(named=True)
    assert fault["evidence"] == (
        "a batch, by its hash, of step 20, read by rank 1, came again in step 30,"
        " read by rank 2"
    )
    known[30, 3]["batch_hash"] = known[20, 0]["batch_hash"]
    (fault,) = audit(told).faults.rows(named=True)
    assert fault["evidence"].startswith(
        "2 batches, by their hashes, of step 20, read by ranks 0-1, came again"
    )


def test_ranks_of_a_replica_with_other_bytes_are_found() -> None:
    # equal ranges, and rank 7 has another hash of them
    told = [row | {"batch_hash": str(row["sample_from"])} for row in rows(Feed(**FEED))]
    layout = {"run_id": "feed", "tp": 2, "cp": 1, "pp": 1, "dp": 8}
    runs = frame(Runs, [layout])
    assert audit(told, Runs=runs).told == []
    for row in told:
        row["batch_hash"] += "x" * ((row["step"], row["rank"]) == (17, 7))
    found = audit(told, Runs=runs)
    assert found.told == [("ranks_disagree", 0, 17, "6-7", None, None)]


def test_numbers_that_leave_gaps_everywhere_blame_nobody() -> None:
    ends_inside = [
        row | {"sample_to": row["sample_to"] - 1} for row in rows(Feed(**FEED))
    ]
    found = audit(ends_inside)
    assert found.told == []
    assert "sample_to is the last sample of the batch" in found.blind


@pytest.mark.parametrize("replicas", [2, 4, 8])
def test_a_short_feed_that_left_out_a_few_places_tells_all(replicas: int) -> None:
    # 24 steps; a replica of steps 3, 9 and 15 drops the last two of its samples
    dropped = {(3, 1), (9, 0), (15, 1)}
    feed = Feed(seed=1, replicas=replicas, batch=4, steps=24)
    short = [
        row
        | {"sample_to": row["sample_to"] - 2 * ((row["step"], row["rank"]) in dropped)}
        for row in rows(feed)
    ]
    found = audit(short)
    assert found.verdict == "violations"
    assert found.faults["kind"].to_list() == ["left_out"] * 3
    assert found.faults["samples_count"].sum() == 6
    assert "gaps" not in found.blind


@pytest.mark.parametrize("steps", [4, 24])
def test_a_short_feed_whose_batches_all_end_in_a_gap_blames_nobody(steps: int) -> None:
    feed = rows(Feed(seed=1, replicas=2, batch=4, steps=steps))
    found = audit([row | {"sample_to": row["sample_to"] - 1} for row in feed])
    assert found.told == []
    assert "sample_to is the last sample of the batch" in found.blind


def test_a_new_pass_without_an_epoch_is_no_repeat() -> None:
    passes = [r | {"epoch": None} for r in rows(Feed(**FEED, datasets=(("a", 777),)))]
    found = audit(passes)
    assert found.told == []
    # the same samples in one step are
    twice = [r | {"epoch": None} for r in rows(planted("given_twice"))]
    assert [one[:3] for one in audit(twice).told] == [("given_twice", 0, 17)]


def test_a_loader_that_forgets_its_place_is_found_without_an_epoch() -> None:
    # steps 20 to 39 of the second attempt begin at sample 0 again
    told = [
        row
        | {"epoch": None}
        | {n: row[n] - 64 * 20 * row["attempt"] for n in ("sample_from", "sample_to")}
        for row in rows(Feed(**FEED, **RESTART))
    ]
    found = audit(told)
    assert set(found.faults["kind"]) == {"restart_repeats"}
    assert found.faults["step"].to_list() == list(range(20, 40))


def sampler(drop: bool, shuffled: bool) -> list[Row]:
    """Reads of torch's DistributedSampler: 1,003 samples over 8 ranks, three passes."""
    reads, step = [], 0
    for epoch in range(3):
        order = list(range(1_003))
        if shuffled:
            Random(epoch).shuffle(order)
        order = order[:1_000] if drop else [*order, *order[:5]]
        of_ranks = [order[rank::8] for rank in range(8)]
        for at in range(0, len(of_ranks[0]), 4):
            for rank, own in enumerate(of_ranks):
                who = {"run_id": "feed", "attempt": 0, "step": step, "rank": rank}
                what = {"dp_rank": rank, "dataset": "d", "epoch": epoch}
                reads += [
                    who | what | {"sample_from": one, "sample_to": one + 1}
                    for one in own[at : at + 4]
                ]
            step += 1
    return reads


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("shuffled", [False, True])
def test_what_samplers_drop_or_fill_up_is_no_fault(drop: bool, shuffled: bool) -> None:
    found = audit(sampler(drop, shuffled))
    assert found.told == []
    assert ("fill up" in found.blind) is not drop


def even_batches(again: int, epochs: int, shuffled: bool) -> list[Row]:
    """Reads of 950 samples over 4 ranks of 4, the last step of a pass filled up.

    As even_batches of Accelerate does, with samples from the one numbered on.
    """
    reads, step = [], 0
    for epoch in range(epochs):
        order = list(range(950))
        if shuffled:
            Random(epoch).shuffle(order)
        order += order[again : again + 16 - 950 % 16]
        for at in range(0, len(order), 16):
            for place, one in enumerate(order[at : at + 16]):
                who = {"run_id": "feed", "attempt": 0, "step": step, "epoch": epoch}
                what = {"sample_from": one, "sample_to": one + 1}
                reads.append(who | what | {"rank": place // 4, "dp_rank": place // 4})
            step += 1
    return reads


@pytest.mark.parametrize("epochs", [1, 2])
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_last_batch_filled_from_the_first_is_no_fault(
    epochs: int, shuffled: bool
) -> None:
    found = audit(even_batches(0, epochs, shuffled))
    assert found.told == []
    assert f"a pass: {10 * epochs}, fewer than" in found.blind
    # samples of the third step are none that fill up
    assert len(audit(even_batches(32, epochs, shuffled)).told) == epochs


def test_numbers_of_any_size_are_no_crash() -> None:
    # what a table refuses today may lie in a lake: sums that 64 bit do not hold
    far = {"sample_from": 0, "sample_to": 2**62, "tokens": 2**62}
    told = [
        {"run_id": "feed", "attempt": 0, "step": step, "rank": rank, "dp_rank": rank}
        | far
        for step in (1, 2**63 - 1)
        for rank in range(4)
    ]
    found = audit([row | {"dataset": str(row["rank"])} for row in told])
    assert found.steps["samples"].to_list() == [None, None]
    assert found.steps["tokens"].to_list() == [None, None]
    assert found.runs["samples"].to_list() == [None]
    assert f"first and the last: {2**63 - 3}" in found.blind


def test_a_pass_that_leaves_out_more_is_found_when_the_next_has_begun() -> None:
    # passes of 16 steps; 80 samples of the second come in no step, which has 64
    feed = Feed(**FEED, shuffled=True, datasets=(("a", 1_024),))
    lost = [r for r in rows(feed) if r["epoch"] != 1 or r["sample_from"] >= 80]
    (fault,) = audit(lost).faults.rows(named=True)
    assert (fault["kind"], fault["epoch"], fault["step"]) == ("left_out", 1, 31)
    assert fault["samples_count"] == 80
    fewer = [r for r in rows(feed) if r["epoch"] != 1 or r["sample_from"] >= 60]
    assert audit(fewer).told == []
    assert "as samplers drop on purpose" in audit(fewer).blind


def test_replicas_may_change_at_a_restart() -> None:
    elastic = [*rows(Feed(**FEED, failed_step=30, resumed_step=40))]
    half = Feed(1, replicas=4, batch=16, steps=40)
    again = [r | {"attempt": 1} for r in rows(half) if r["step"] >= 20]
    found = audit([*elastic, *again])
    assert found.told == []
    assert found.verdict == "complete"


@pytest.mark.parametrize(
    ("ahead", "expected"),
    [
        (0, []),
        # step 20 begins at 1280, where the checkpoint of step 19 should stand
        (40, [("restart_repeats", 1, 20, "0-9", 1280, 1320)]),
        (-40, [("restart_skips", 1, 20, "0-1", 1240, 1280)]),
    ],
)
def test_a_checkpoint_tells_where_to_go_on(
    ahead: int, expected: list[tuple[Any, ...]]
) -> None:
    # of steps 15 to 19 no rows are there; the checkpoint of step 9 proves the unit
    told = [r for r in rows(Feed(**FEED, **RESTART)) if not 15 <= r["step"] < 20]
    saves = [{"step": 9, "data_position": 640, "start_ns": 1}]
    saves += [{"step": 19, "data_position": 1280 + ahead, "start_ns": 2}]
    about = {"run_id": "feed", "attempt": 0, "kind": "save", "file_id": "f"}
    found = audit(told, Checkpoints=frame(Checkpoints, [about | one for one in saves]))
    assert found.told == expected


def test_rows_that_nothing_places_are_counted() -> None:
    told = [row | {"attempt": None} for row in rows(Feed(**FEED))]
    assert audit(told).verdict == "complete"  # there is but one attempt
    timed = [row | {"time_ns": 10**18 + row["step"]} for row in told]
    assert audit(timed).verdict == "complete"


@pytest.mark.parametrize("last_read", [50, 52])
def test_what_a_loader_reads_ahead_is_of_the_attempt_that_takes_it(
    last_read: int,
) -> None:
    # attempt 0 takes steps 1 to 50 from 0 s on, attempt 1 steps 41 to 60 from 200 s
    # on; loaders read two steps ahead, and what step 52 was to have none ever took
    def batch(step: int, at_s: int) -> list[Row]:
        who = {"run_id": "feed", "step": step, "time_ns": 10**18 + at_s * 10**9}
        return [
            who | {"rank": rank, "sample_from": 8 * at, "sample_to": 8 * at + 8}
            for rank, at in ((rank, 4 * step + rank) for rank in range(4))
        ]

    told = [row for step in range(1, last_read + 1) for row in batch(step, step - 3)]
    told += [row for step in range(41, 61) for row in batch(step, 200 + step - 43)]
    spans = ((0, 50, 1, 50), (200, 220, 41, 60))
    known = [
        {"run_id": "feed", "attempt": number, "basis": "steps", "hosts": "a"}
        | {"start_ns": 10**18 + start * 10**9, "end_ns": 10**18 + end * 10**9}
        | {"is_running": False, "first_step": first, "last_step": last}
        for number, (start, end, first, last) in enumerate(spans)
    ]
    found = audit(told, Attempts=frame(Attempts, known))
    assert found.told == []
    assert found.runs["steps_count"].item() == 60
    assert found.runs["redone_count"].item() == last_read - 40
    assert "without any row" not in found.blind


#: Steps of 1 s on 16 ranks; of step 17 each is blocked 0.2 s on its input, else 10 ms.
def timings(steps: int, slow: int) -> pl.DataFrame:
    told = [
        {
            "file_id": "log",
            "run_id": "feed",
            "attempt": 0,
            "step": step,
            "rank": rank,
            "start_ns": 10**18 + step * 10**9,
            "duration_ns": 10**9,
            "data_ns": 200_000_000 if step == slow else 10_000_000,
            "scope": "rank",
            "step_count": 1,
        }
        for step in range(steps)
        for rank in range(16)
    ]
    return frame(StepTimings, told)


@pytest.mark.parametrize(
    ("kind", "gpu_s"),
    [
        # 1 of 65 samples of a step of 16 GPU-seconds; 1 of 8 replicas; nothing
        ("given_twice", 16 / 65),
        ("ranks_disagree", 16 / 8),
        ("left_out", None),
    ],
)
def test_a_fault_costs_its_share_of_the_step(kind: Kind, gpu_s: float | None) -> None:
    (fault,) = audit(planted(kind), StepTimings=timings(40, 5)).faults.rows(named=True)
    if gpu_s is None:
        assert fault["gpu_ns"] is None
        assert fault["cost_basis"].startswith("no GPU time is lost")
    else:
        assert float(fault["gpu_ns"]) == pytest.approx(gpu_s * 1e9, abs=16)
    (untimed,) = audit(planted(kind)).faults.rows(named=True)
    assert untimed["gpu_ns"] is None


def test_a_stall_that_nothing_hid_is_told() -> None:
    found = audit(Feed(**FEED), StepTimings=timings(40, 17))
    (run,) = found.runs.rows(named=True)
    assert run["stalled_count"] == 1
    assert int(run["stalled_gpu_ns"]) == 16 * 200_000_000
    (step,) = found.steps.filter(pl.col("stalled_ranks") > 0).rows(named=True)
    assert (step["step"], step["stalled_ranks"]) == (17, 16)
    assert step["data_ns_max"] == 200_000_000


def test_a_run_without_reads_has_its_stalls_alone() -> None:
    found = audit([], StepTimings=timings(10, 3))
    assert found.verdict == "cannot tell"
    assert "no file tells" in found.blind
    assert found.runs["stalled_count"].item() == 1


def test_long_documents_make_a_step_longer_as_assumed() -> None:
    # one replica has 4, three have 2 and 1, 1: mean 2, so twice the mean
    squares = [4, 2, 1, 1]
    told = [
        row | {"tokens_squared": squares[row["dp_rank"]]}
        for row in rows(Feed(1, replicas=4, steps=5))
    ]
    (run,) = audit(told).runs.rows(named=True)
    assert run["imbalance_ratio"] == pytest.approx(2)
    assert run["imbalance_time_ratio"] == pytest.approx(0.14 * (2 - 1))


@pytest.mark.parametrize(("follows", "expected"), [(1, 1.0), (-1, -1.0)])
def test_work_that_goes_with_squared_lengths_is_told(
    follows: int, expected: float
) -> None:
    # y - 1 = (x - 1) / 10 of each replica, or its opposite
    squares = [5, 3, 2, 2]
    told = [
        row | {"tokens_squared": squares[row["dp_rank"]]}
        for row in rows(Feed(1, replicas=4, steps=30))
    ]
    log = timings(30, -1).filter(pl.col("rank") < 4)
    weight = pl.col("rank").replace_strict(range(4), squares)
    work = 500_000_000 + follows * 50_000_000 * (weight - 3)
    timed = log.with_columns(wait_ns=pl.col("duration_ns") - work)
    (run,) = audit(told, StepTimings=timed).runs.rows(named=True)
    assert run["work_correlation"] == pytest.approx(expected)
    assert run["work_count"] == 120
    assert audit(told).runs["work_correlation"].item() is None
