"""The truth about a generated cluster adds up, and says what was put in."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ingest.synthetic.cluster.accounts import book_steps, paid_ns
from ingest.synthetic.cluster.cluster import Cluster, cluster_of
from ingest.synthetic.cluster.scenario import (
    Calendar,
    Fault,
    Fleet,
    Layout,
    Scenario,
    Schedule,
)
from ingest.synthetic.cluster.steps import step_windows
from ingest.synthetic.cluster.truth import MEANINGS, truth_of
from ingest.synthetic.cluster.write_slurm import list_lines, sacct_lines

S = 10**9
DAY = 86_400 * S

#: Steps of 100 s, 864 in a day.
SCHEDULE = Schedule(step_s=100.0, checkpoint_every=20)

ONE_DAY = Calendar()

SLOW = Fault(kind="slow_gpu", rank=3, from_step=100, steps=100, severity=1.5)
SLOWER = Fault(kind="slow_gpu", rank=9, from_step=150, steps=100, severity=2.0)
STOP = Fault(kind="xid", rank=5, from_step=310)


def scenario_of(*faults: Fault, calendar: Calendar = ONE_DAY) -> Scenario:
    return Scenario(
        fleet=Fleet(hosts=2, spares=1),
        layout=Layout(tp=8, dp=2),
        schedule=SCHEDULE,
        calendar=calendar,
        faults=faults,
    )


def cluster(*faults: Fault) -> Cluster:
    return cluster_of(scenario_of(*faults))


def whole(found: Cluster, window_steps: int = 250) -> dict[str, Any]:
    windows = step_windows(found, 0, 2**62, window_steps)
    return truth_of(found, [book_steps(window) for window in windows])


def test_accounts_add_up_to_what_is_paid_for() -> None:
    found = cluster(SLOW, SLOWER, STOP)
    truth = whole(found)
    accounts = truth["accounts_gpu_ns"]
    assert isinstance(accounts, dict)
    run, days = accounts["run"], accounts["days"]
    assert sum(run.values()) == truth["paid_gpu_ns"] == paid_ns(found)
    for account, time in run.items():
        assert sum(day.get(account, 0) for day in days.values()) == time
    # 24 GPUs are held from the first start to the last end
    first, last = found.attempts[0].start_ns, found.attempts[-1].end_ns
    assert truth["paid_gpu_ns"] == (last - first) * 24
    assert truth == whole(found, 11)


def test_a_stop_goes_back_to_the_last_checkpoint() -> None:
    # stopped in step 310: 300 is the last checkpoint, 10 steps are done again
    found = cluster(STOP)
    first, second = found.attempts
    assert (first.first_step + first.steps, second.first_step) == (310, 300)
    truth = whole(found)
    assert truth["steps_repeated"] == 10
    (stop,) = truth["faults"]
    assert (stop["cause"], stop["xid"], stop["ranks"]) == ("Faulty GPU", 79, [5])
    lost = first.begin_ns + int(first.clock.end[-1]) * 1_000
    again = second.begin_ns + int(second.clock.start[10]) * 1_000
    assert stop["joint_gpu_ns"] == (again - lost) * 16


def test_what_a_fault_costs_is_what_its_absence_saves() -> None:
    alone, none = cluster(SLOW), cluster()
    (fault,) = whole(alone)["faults"]
    assert fault["solo_gpu_ns"] == fault["joint_gpu_ns"] > 0
    # without the fault its rank draws with the others: only about the same
    took = [one.attempts[0].clock.duration[100:200].sum() for one in (alone, none)]
    saved = (int(took[0]) - int(took[1])) * 1_000 * 16
    assert fault["solo_gpu_ns"] == pytest.approx(saved, rel=0.05)
    # own work is 89 % of the time without waits: data, communication, idle else
    assert fault["slowdown_ratio"] == pytest.approx(1 + 0.5 * 0.89, abs=0.01)


def test_joint_costs_are_less_where_another_fault_hides_it() -> None:
    # of its 100 steps the second 50 are those of a rank that is slower still
    faults = whole(cluster(SLOW, SLOWER))["faults"]
    assert isinstance(faults, list)
    slow, slower = faults
    assert slow["joint_gpu_ns"] == pytest.approx(slow["solo_gpu_ns"] / 2, rel=0.05)
    assert slower["joint_gpu_ns"] < slower["solo_gpu_ns"]
    assert (slow["steps"], slower["steps"]) == (100, 100)


def test_a_lemon_node_stops_the_run_again_and_again() -> None:
    lemon = Fault(kind="lemon_node", host=1, from_s=9_000, length_s=60_000, severity=3)
    found = cluster(lemon)
    stops = [one.stop for one in found.attempts if one.stop]
    assert [one.host for one in stops] == [1, 1, 1]
    assert {one.origin for one in stops} == {0}


def test_healthy_ranks_of_a_day() -> None:
    truth = whole(cluster(SLOW, SLOWER))
    assert list(truth["healthy_ranks"].values()) == [14]


@pytest.mark.parametrize("reserved", [True, False])
@pytest.mark.parametrize("kind", ["preemption", "xid"])
def test_stops_of_all_kinds_cost_by_one_rule(kind: str, reserved: bool) -> None:
    """What is paid until the step that was never completed is as far as it would be.

    Who has saved begins with that step, slow as the first of an attempt: 60 s longer.
    Who goes back has that in the steps that are done again.
    """
    away = Fault(kind="preemption", from_s=30_000, length_s=3_600)
    stop = away if kind == "preemption" else Fault(kind="xid", rank=5, from_s=30_000)
    calendar = Calendar(reserved=reserved)
    found = cluster_of(scenario_of(stop, calendar=calendar))
    first, second = found.attempts
    missing = first.steps - first.kept
    assert bool(missing) == (kind == "xid")
    closed = first.begin_ns + int(first.clock.end[-1]) * 1_000
    until = second.begin_ns + int(second.clock.start[missing]) * 1_000
    until += 0 if missing else 60 * S
    unpaid = 0 if reserved else second.start_ns - first.end_ns
    (fault,) = whole(found)["faults"]
    assert fault["joint_gpu_ns"] == (until - closed - unpaid) * 16
    assert fault["solo_gpu_ns"] == fault["joint_gpu_ns"]
    # the same seed without it: what steps past the stop took else
    (none,) = cluster_of(scenario_of(calendar=calendar)).attempts
    at = first.first_step + first.steps
    without = none.begin_ns + int(none.clock.end[at]) * 1_000
    after = second.begin_ns + int(second.clock.end[missing]) * 1_000
    saved = (after - without - unpaid) * 16
    assert fault["joint_gpu_ns"] == pytest.approx(saved, abs=10 * S * 16)


def test_a_stop_before_the_first_step_costs_until_the_next_attempt_is_there() -> None:
    found = cluster(Fault(kind="hang", host=0, from_s=1))
    first, second = found.attempts
    assert first.steps == 0
    (fault,) = whole(found)["faults"]
    assert fault["joint_gpu_ns"] == (second.begin_ns - first.begin_ns) * 16
    assert fault["solo_gpu_ns"] == fault["joint_gpu_ns"]


@pytest.mark.parametrize("from_s", [85_790, 86_350])
def test_a_stop_that_is_not_over_when_the_time_ends_is_cut_there(from_s: int) -> None:
    """The watchdog would end it after 600 s: nobody hears of it, nobody pays more."""
    found = cluster(Fault(kind="hang", host=0, from_s=from_s))
    (attempt,) = found.attempts
    truth = whole(found)
    assert attempt.end_ns == found.until_ns == found.scenario.begun_ns + DAY
    assert truth["paid_gpu_ns"] == (found.until_ns - attempt.start_ns) * 24
    assert sum(truth["accounts_gpu_ns"]["run"].values()) == truth["paid_gpu_ns"]
    assert list(truth["accounts_gpu_ns"]["days"]) == ["2026-03-02"]
    closed = attempt.begin_ns + int(attempt.clock.end[-1]) * 1_000
    (fault,) = truth["faults"]
    assert fault["solo_gpu_ns"] == fault["joint_gpu_ns"]
    assert fault["joint_gpu_ns"] == (found.until_ns - closed) * 16
    assert truth["interruptions"] == []
    _, job, *_ = sacct_lines(found, found.until_ns)
    assert "|COMPLETED|" in job
    assert "|2026-03-03T00:00:00|" in job
    assert len([*list_lines(found, found.until_ns)]) == 1


def test_a_time_that_ends_early_is_a_shorter_calendar() -> None:
    """To whatever second: accounts, faults and paid time are of that time alone."""
    hang = Fault(kind="hang", host=0, from_s=80_000)
    scenario = scenario_of(SLOW, STOP, hang)
    early = cluster_of(scenario, scenario.begun_ns + 60_000 * S)
    truth, full = whole(early), whole(cluster_of(scenario))
    assert truth["attempts"][-1]["end_ns"] == early.until_ns
    assert truth["attempts"][0] == full["attempts"][0]
    assert truth["faults"] == full["faults"][:2]
    assert truth["paid_gpu_ns"] == (early.until_ns - early.attempts[0].start_ns) * 24
    assert sum(truth["accounts_gpu_ns"]["run"].values()) == truth["paid_gpu_ns"]
    none = whole(cluster_of(scenario, scenario.begun_ns + 30 * S))
    assert none["attempts"] == []
    assert none["paid_gpu_ns"] == 0


def test_a_run_of_the_next_century_is_as_true() -> None:
    far = datetime(2150, 3, 2, tzinfo=UTC)
    found = [
        cluster_of(scenario_of(SLOW, STOP, calendar=one))
        for one in (ONE_DAY, Calendar(begun=far))
    ]
    later = found[1].scenario.begun_ns - found[0].scenario.begun_ns
    near, then = (truth_of(one, [])["faults"] for one in found)
    for one in near:
        one["from_ns"] += later
        one["to_ns"] += later
        for felt in one.get("felt", []):
            felt["from_ns"] += later
            felt["to_ns"] += later
    assert near == then


def test_what_has_no_time_to_happen_is_counted_and_not_told() -> None:
    never = Fault(kind="slow_gpu", rank=3, from_step=860, steps=9)
    lemon = Fault(kind="lemon_node", host=1, from_s=9, length_s=9, severity=1_000)
    found = cluster(SLOW, never, lemon)
    truth = whole(found)
    struck = sum(one.stop is not None for one in found.attempts)
    assert 0 < struck < 1_000
    assert truth["faults_missed"] == {"slow_gpu": 2, "stop": 1_000 - struck}
    assert {one["kind"] for one in truth["faults"]} == {"stop"}


def test_the_truth_says_what_its_fields_mean() -> None:
    truth = whole(cluster(SLOW, STOP))
    fields = {*truth, *truth["faults"][0], "files", "stops"}
    assert truth["meanings"].keys() == MEANINGS.keys() <= fields


def test_however_many_faults_meet_no_step_stands_still() -> None:
    """Three make work 6.5^3 of the usual 100 s; 600 s more is what others wait."""
    faults = [
        Fault(kind=kind, rank=3, from_s=1_000, length_s=80_000, severity=6.5)
        for kind in ("slow_gpu", "thermal_cap", "power_cap")
    ]
    (attempt,) = cluster(*faults).attempts
    took_s = attempt.clock.duration / 1_000_000
    assert 690 < took_s[20:80].min() < took_s.max() < 710
