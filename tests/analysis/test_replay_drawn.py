"""A pipeline of two stages and two micro-batches, drawn and simulated by hand.

Forward passes take 10 (stage 0) and 20 (stage 1), backward passes 20 and 40, all
transfers 1, gathers, reduce-scatters and optimizers 2, 3 and 4 [ns].

    stage 0  GG F0 F1 ........................... B0 ....... B1 RRR OOOO
    stage 1  GG ..... F0 B0 F1 B1 RRR OOOO

    F0 of stage 0:   2-12, sent until 13     F1 of stage 0: 12-22, sent until 34:
    F0 of stage 1:  13-33                    stage 1 receives it after its F0
    B0 of stage 1:  33-73, sent until 74     F1 of stage 1: 73-93
    B1 of stage 1:  93-133, sent until 134
    B0 of stage 0:  74-94                    B1 of stage 0: 134-154
    reduce-scatter: 154-157 (stage 0), 133-136 (stage 1); optimizer 157-161, 136-140
"""

from typing import Any

import polars as pl
import pytest

from tests.analysis.replayed import answers, operations, replay_of

#: Kind, stage, sequence, start and end of every operation. [ns]
DRAWN = [
    ("params-all-gather", 0, 0, 0, 2),
    ("forward-compute", 0, 0, 2, 12),
    ("forward-send", 0, 0, 12, 13),
    ("forward-compute", 0, 1, 12, 22),
    ("forward-send", 0, 1, 22, 34),
    ("backward-recv", 0, 0, 50, 74),
    ("backward-compute", 0, 0, 74, 94),
    ("backward-recv", 0, 1, 94, 134),
    ("backward-compute", 0, 1, 134, 154),
    ("grads-reduce-scatter", 0, 0, 154, 157),
    ("optimizer", 0, 0, 157, 161),
    ("params-all-gather", 1, 0, 0, 2),
    ("forward-recv", 1, 0, 0, 13),
    ("forward-compute", 1, 0, 13, 33),
    ("forward-recv", 1, 1, 33, 34),
    ("backward-compute", 1, 0, 33, 73),
    ("backward-send", 1, 0, 73, 74),
    ("forward-compute", 1, 1, 73, 93),
    ("backward-compute", 1, 1, 93, 133),
    ("backward-send", 1, 1, 133, 134),
    ("grads-reduce-scatter", 1, 0, 133, 136),
    ("optimizer", 1, 0, 136, 140),
]


def rows(**more: Any) -> pl.DataFrame:
    """Return the drawn operations."""
    return operations(
        [
            {
                "kind": kind,
                "pp_rank": stage,
                "rank": stage,
                "sequence": sequence,
                "offset_ns": start,
                "duration_ns": end - start,
                **more,
            }
            for kind, stage, sequence, start, end in DRAWN
        ]
    )


def test_the_simulated_step_is_the_drawn_one() -> None:
    replay = replay_of(rows())
    assert replay.simulate(replay.own_ns()).rows() == [(0, 161)]
    assert replay.actual_steps().rows() == [(0, 161)]


def test_every_operation_ends_when_it_is_drawn() -> None:
    replay = replay_of(rows())
    named = replay.operations.join(replay.schedule(replay.own_ns()), on="row")
    ends = {
        (*row[:3],): row[3]
        for row in named.select(
            pl.col("kind").cast(pl.String), "pp_rank", "sequence", "end_ns"
        ).rows()
    }
    assert ends == {(kind, stage, number): end for kind, stage, number, _, end in DRAWN}


def test_a_transfer_is_what_is_left_after_the_last_arrival() -> None:
    replay = replay_of(rows())
    moved = replay.operations.filter(
        pl.col("kind").cast(pl.String).str.contains("send|recv")
    )
    # forward-recv 0 waits from 0 to 12 for its send
    assert moved["own_ns"].to_list() == [1] * 8
    assert moved["is_transfer"].all()


def test_ideal_lengths_are_means_of_passes() -> None:
    replay = replay_of(rows())
    ideal = dict(
        replay.operations.select(pl.col("kind").cast(pl.String), "ideal_ns").rows()
    )
    # passes forward take 10 and 20, backward 20 and 40: the means
    assert ideal == {
        "params-all-gather": 2,
        "forward-compute": 15,
        "backward-compute": 30,
        "forward-send": 1,
        "forward-recv": 1,
        "backward-send": 1,
        "backward-recv": 1,
        "grads-reduce-scatter": 3,
        "optimizer": 4,
    }


def test_the_slowdown() -> None:
    told = answers(rows())
    (row,) = told["Replays"].to_dicts()
    # ideal: F0 of stage 0 2-17, of stage 1 18-33; B0 33-63, F1 63-78, B1 78-108, sent
    # until 109; B1 of stage 0 109-139; 3 and 4 more
    assert row["ideal_ns"] == 146
    assert row["slowdown_ratio"] == pytest.approx(161 / 146)
    assert row["waste_ratio"] == pytest.approx(1 - 146 / 161)
    # the last stage ideal, stage 0 as it was: F0 2-12, of stage 1 13-28; B0 28-58,
    # F1 58-73, B1 73-103, sent until 104; B1 of stage 0 104-124; until 131
    assert row["m_s_ratio"] == pytest.approx((161 - 131) / (161 - 146))
    assert row["cause"] == "last_stage"
    assert (
        "forward passes 2.00 times and its backward passes 2.00 times"
        in row["evidence"]
    )


def test_slowdowns_by_stage_and_kind() -> None:
    cells = answers(rows())["ReplayCells"]
    stages = cells.filter(pl.col("scope") == "stage").sort("pp_rank")
    # stage 0 alone as it was: 131, as above; stage 1 alone: F0 of stage 0 2-17, of
    # stage 1 18-38; B0 38-78, F1 78-98, B1 98-138, sent until 139; B1 of stage 0
    # 139-169; until 176
    assert stages["simulated_ns"].to_list() == [131, 176]
    gather = cells.filter(pl.col("kind") == "params-all-gather")
    assert gather["slowdown_ratio"].to_list() == [1.0]


def test_only_differences_of_starts_count() -> None:
    dated = rows().with_columns(
        start_ns=pl.col("offset_ns") + 1_772_442_049_000_000_000, offset_ns=None
    )
    replay = replay_of(dated.cast({"offset_ns": pl.Int64}))
    assert replay.simulate(replay.own_ns()).rows() == [(0, 161)]
