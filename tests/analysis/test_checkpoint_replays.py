"""Replays of a run's own stops: drawn by hand, and against the exact form."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis._checkpoint_replayed import History, replay, waits_for_nodes
from analysis._checkpoint_units import units_of
from analysis.attempts import Attempts
from analysis.checkpoint_models import Costs
from analysis.checkpoint_replays import CheckpointReplays, replay_runs
from analysis.interruptions import Interruptions
from tests.analysis.saving import S, attempt, evidence, frame, stop

Row = dict[str, Any]


def history(up: list[float], away: list[float] | None = None, **other: Any) -> History:
    """Failures that each take their node along, unless told otherwise."""
    every = [True] * len(up)
    return History(
        np.array(up, dtype=float),
        np.array(away or [0.0] * len(up), dtype=float),
        np.array(other.get("failed", every)),
        np.array(other.get("takes", every)),
    )


def replays_of(attempts: list[Row], stops: list[Row], **other: Any) -> dict[str, Row]:
    found = replay_runs(
        evidence(**other), frame(Attempts, attempts), frame(Interruptions, stops)
    )
    CheckpointReplays.validate(found)
    return {row["scenario"]: row for row in found.iter_rows(named=True)}


def test_a_history_by_hand() -> None:
    # T 100, w 10, R 30. Up 260: 230 of work hold 2 periods, 200 kept, 20 stalled, 10
    # undone. Up 20: nothing. The last ends well after 150: 120 hold a stall, 110 kept
    told = replay(
        history([260, 20, 150], [40, 40, 0], failed=[True, True, False]),
        100,
        Costs(1000, 10, 30),
        np.array([40.0, 40.0, 0.0]),
    )
    assert told.useful_s.tolist() == [200, 0, 110]
    assert told.rework_s.tolist() == [10, 0, 0]
    assert told.whole_s.tolist() == [300, 60, 150]
    assert told.ratio == pytest.approx(310 / 510)


def test_a_save_that_is_not_yet_safe_is_lost() -> None:
    # 245 after a restart of 0: two saves are over at 110 and 220, safe 30 s later
    late, soon = (
        replay(history([245]), 100, Costs(1000, 10, lag_s=lag), np.zeros(1))
        for lag in (30, 20)
    )
    assert (late.useful_s.sum(), soon.useful_s.sum()) == (100, 200)


def test_waits_for_nodes_by_hand() -> None:
    # nodes fail at 100, 150 and 450 (away 0); a repair takes 200
    fails = history([100, 50, 300])
    # without a spare each waits for its own: the clock moves on by 200 each
    assert waits_for_nodes(fails, 200, 0).tolist() == [200, 200, 200]
    # one spare takes the first; the second waits from 150 until the first is back, 300
    assert waits_for_nodes(fails, 200, 1).tolist() == [0, 150, 0]
    assert waits_for_nodes(fails, 200, 2).tolist() == [0, 0, 0]
    # a failure that takes no node waits for none
    soft = history([100, 50, 300], takes=[True, False, True])
    assert waits_for_nodes(soft, 200, 1).tolist() == [0, 0, 0]


def test_attempts_are_cut_at_their_last_step() -> None:
    attempts = [
        attempt(0, 0, 1000, last_step_end_ns=attempt(0, 900, 900)["start_ns"]),
        attempt(1, 1100, 2000),
    ]
    units = units_of(
        frame(Attempts, attempts), frame(Interruptions, [stop(0, 900, 1100, 1120)])
    )
    assert units["up_ns"].to_list() == [900 * S, 900 * S]
    assert units["away_ns"].to_list() == [200 * S, 0]
    assert units["is_failed"].to_list() == [True, False]
    assert units["takes_node"].to_list() == [True, False]


def many(count: int, mean: float) -> tuple[list[Row], list[Row]]:
    """A run of exponential times up, 100 s away after each."""
    ups = np.random.default_rng(5).exponential(mean, count)
    starts = np.concatenate([[0.0], np.cumsum(ups + 100)])[:count]
    attempts = [
        attempt(n, start, start + up)
        for n, (start, up) in enumerate(zip(starts, ups, strict=True))
    ]
    stops = [
        stop(n, start + up, start + up + 100, start + up + 400)
        for n, (start, up) in enumerate(zip(starts, ups, strict=True))
    ]
    return attempts, stops


def test_replays_agree_with_the_exact_form_within_three_errors() -> None:
    found = replays_of(*many(800, 10_000), interval_ns=3600 * S, repair_ns=None)
    for scenario in ("as_was", "best_interval", "half_interval", "double_interval"):
        row = found[scenario]
        assert abs(row["ettr_ratio"] - row["exact_ratio"]) < 3 * row["error_ratio"]
        assert abs(row["drawn_ratio"] - row["exact_ratio"]) < 3 * row["error_ratio"]
        assert 0 < row["error_ratio"] < 0.02
    best = found["best_interval"]
    # M 10 000 s, w 50 s: an hour is long; 0.77 to 0.83 by the exact form
    change = best["exact_ratio"] - found["as_was"]["exact_ratio"]
    assert abs(best["change_ratio"] - change) < 3 * best["change_error_ratio"]
    # drawn alike, a change is surer than of two histories
    apart = best["error_ratio"] ** 2 + found["as_was"]["error_ratio"] ** 2
    assert best["change_error_ratio"] ** 2 < apart
    day = 16 * 86_400 * S
    assert float(best["saved_gpu_ns_per_day"]) == pytest.approx(
        best["change_ratio"] * day
    )


def test_shorter_restarts_and_spares_only_help() -> None:
    found = replays_of(*many(50, 20_000), repair_ns=24 * 3600 * S)
    assert found["half_restart"]["change_ratio"] > 0
    assert found["half_restart"]["restart_ns"] == 150 * S
    ratios = [found[f"spares_{n}"]["ettr_ratio"] for n in (0, 1, 2, 4)]
    assert ratios == sorted(ratios)
    waits = [found[f"spares_{n}"]["waiting_ns"] for n in (0, 1, 2, 4)]
    # each of 50 failures waits a day without a spare
    assert waits[0] == 50 * 24 * 3600 * S
    assert waits == sorted(waits, reverse=True)
    assert all(found[f"spares_{n}"]["exact_ratio"] is None for n in (0, 4))


def test_nodes_that_were_back_at_once_leave_spares_nothing_to_save() -> None:
    stops = many(50, 20_000)
    for lacked, saved in ((0, False), (60, True)):
        told: Row = {"repair_ns": lacked * S, "repair_basis": "attempts"}
        found = replays_of(*stops, **told)
        as_was = found["as_was"]["ettr_ratio"]
        assert found["spares_0"]["ettr_ratio"] == pytest.approx(as_was, rel=1e-3)
        assert (found["spares_4"]["ettr_ratio"] > as_was * (1 + 1e-6)) == saved


def test_what_the_run_did_again_stands_beside_its_replay() -> None:
    attempts = [attempt(0, 0, 1000), attempt(1, 1100, 2000)]
    stops = [stop(0, 1000, 1100, 1120, lost_steps=12)]
    found = replays_of(attempts, stops, interval_ns=200 * S, restart_ns=0)
    # up 1000 s: 4 periods of 250 s are just over
    assert found["as_was"]["rework_ns"] == 0
    assert found["as_was"]["seen_rework_ns"] == 120 * S
    assert found["as_was"]["failure_count"] == 1
    assert "error is rough" in found["as_was"]["reason"]
    assert "repair_h" in found["spares_1"]["reason"]
    assert found["spares_1"]["ettr_ratio"] is None


def test_without_failures_or_a_stall_there_is_nothing_to_replay() -> None:
    attempts = [attempt(0, 0, 1000)]
    found = replays_of(attempts, [])
    assert list(found) == ["as_was"]
    assert found["as_was"]["reason"] == "no unplanned interruption to replay"
    stops = [stop(0, 1000, 1100, 1120)]
    blind = replays_of(attempts, stops, stall_ns=None, stall_basis="none")
    assert "how long a save takes" in blind["as_was"]["reason"]
    unseen = replays_of(attempts, stops, interval_ns=None)
    assert "not known" in unseen["as_was"]["reason"]
    # one stop has no scatter
    one = replays_of(attempts, stops)["as_was"]
    assert one["ettr_ratio"] is not None
    assert one["error_ratio"] is None


def test_stops_at_the_very_start_have_no_share() -> None:
    # one of two attempts ends as it begins; drawn twice it makes no time at all
    attempts = [attempt(0, 0, 0), attempt(1, 0, 1)]
    stops = [stop(0, 0, 0, 0), stop(1, 1, 2, 3)]
    found = replays_of(attempts, stops, interval_ns=S // 10, stall_ns=S // 100)
    assert 0 <= found["as_was"]["drawn_ratio"] < 1
    assert found["as_was"]["error_ratio"] >= 0


def test_replays_say_the_same_again_in_any_order() -> None:
    attempts, stops = many(20, 5000)
    first = pl.DataFrame(list(replays_of(attempts, stops).values()), strict=False)
    again = replays_of(attempts[::-1], stops[::-1])
    assert first.equals(pl.DataFrame(list(again.values()), strict=False))
