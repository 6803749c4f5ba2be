"""The truth about a generated cluster adds up, and says what was put in."""

from typing import Any

import pytest

from ingest.synthetic.cluster.accounts import book_steps, paid_ns
from ingest.synthetic.cluster.cluster import Cluster, cluster_of
from ingest.synthetic.cluster.scenario import Fault, Fleet, Layout, Scenario, Schedule
from ingest.synthetic.cluster.steps import step_windows
from ingest.synthetic.cluster.truth import truth_of

#: Steps of 100 s, 864 in a day.
SCHEDULE = Schedule(step_s=100.0, checkpoint_every=20)

SLOW = Fault(kind="slow_gpu", rank=3, from_step=100, steps=100, severity=1.5)
SLOWER = Fault(kind="slow_gpu", rank=9, from_step=150, steps=100, severity=2.0)
STOP = Fault(kind="xid", rank=5, from_step=310)


def cluster(*faults: Fault) -> Cluster:
    fleet, layout = Fleet(hosts=2, spares=1), Layout(tp=8, dp=2)
    return cluster_of(
        Scenario(fleet=fleet, layout=layout, schedule=SCHEDULE, faults=faults)
    )


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
