"""What faults of a made cluster cost: rows of steps that are made again without them.

The truth runs the clock of touched steps again; here whole files are written again,
and their rows summed.
"""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from ingest.synthetic.cluster.cluster import cluster_of
from ingest.synthetic.cluster.costs import slow_costs
from ingest.synthetic.cluster.scenario import Fault, Noise, Scenario
from tests.ingest.made_cluster import CALM, EACH, SCENARIO, Made, S, made, only, without

#: Names of what makes steps longer, and of what stops the run.
SLOW = [name for name, fault in EACH.items() if fault.steps is not None]
STOPS = [name for name in EACH if name not in SLOW]

#: Phases of a stop, each with what it begins and ends with.
PHASES = (
    ("signed_ns", "ended_ns"),
    ("ended_ns", "requeued_ns"),
    ("requeued_ns", "started_ns"),
    ("started_ns", "first_step_ns"),
)


@pytest.fixture(scope="module")
def each(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made(SCENARIO, tmp_path_factory.mktemp("each"))


@pytest.fixture(scope="module")
def none(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made(only(), tmp_path_factory.mktemp("none"))


def more_gpu_ns(first: Made, second: Made) -> int:
    """Return what the steps of both took longer in the first. [GPU ns]"""
    ours, theirs = first.durations(), second.durations()
    both = ours.keys() & theirs.keys()
    assert len(both) >= 863
    return sum(ours[step] - theirs[step] for step in both)


@pytest.mark.parametrize("name", SLOW)
def test_what_is_slow_costs_what_its_absence_saves(
    each: Made, none: Made, tmp_path: Path, name: str
) -> None:
    fault = each.fault(name)
    rest = made(without(name), tmp_path / "rest")
    assert fault["joint_gpu_ns"] == more_gpu_ns(each, rest) > 0
    alone = made(only(name), tmp_path / "alone")
    assert fault["solo_gpu_ns"] == more_gpu_ns(alone, none) > 0
    # no other step is another, by a nanosecond
    took = [one.durations() for one in (each, rest)]
    longer = {step for step in took[0] if took[0][step] != took[1].get(step)}
    given = EACH[name]
    assert longer <= {*range(given.from_step or 0, 863)}
    assert max(longer) < (given.from_step or 0) + (given.steps or 0)


@pytest.mark.parametrize("name", STOPS)
def test_a_stop_costs_the_time_until_the_run_is_as_far_again(
    each: Made, tmp_path: Path, name: str
) -> None:
    fault = each.fault(name)
    attempts = each.truth["attempts"]
    (one,) = [one for one in attempts if one["stop"] == fault["id"]]
    attempt, step = one["attempt"], one["first_step"] + one["steps"]
    rest = made(without(name), tmp_path)
    again, else_ = each.starts()[attempt + 1, step], rest.starts()[attempt, step]
    # who has saved begins with that step, which is slow as the first one
    slow = round(CALM.first_step_s * S) if name == "preempted" else 0
    expected = (again + slow - else_) * each.cluster.scenario.ranks
    assert fault["joint_gpu_ns"] == expected
    assert fault["solo_gpu_ns"] == fault["joint_gpu_ns"]


def test_joint_costs_of_two_at_once_and_of_pauses_are_exact() -> None:
    """Two slow GPUs of a node whose flows collide, late input; pauses of all kinds."""
    faults = (
        Fault(kind="slow_gpu", rank=3, from_step=40, steps=60, severity=1.3),
        Fault(kind="slow_gpu", rank=4, from_step=60, steps=60, severity=1.2),
        Fault(kind="flow_collision", host=0, from_step=80, steps=50, severity=2.0),
        Fault(kind="data_stall", host=1, from_step=90, steps=30, severity=3.0),
    )
    noise = Noise(diurnal=0, gc_every=5, gc_s=9, outliers=0.2, sequence_sd=0.03)
    scenario = msgspec.structs.replace(SCENARIO, noise=noise, faults=faults)

    def took(*some: Fault) -> int:
        changed: Scenario = msgspec.structs.replace(scenario, faults=some)
        (attempt,) = cluster_of(changed).attempts
        return int(attempt.clock.duration[:200].sum()) * 1_000 * 32

    costs = slow_costs(cluster_of(scenario))
    for number, fault in enumerate(faults):
        others = faults[:number] + faults[number + 1 :]
        assert costs[number].joint == took(*faults) - took(*others)
        assert costs[number].solo == took(fault) - took()
    assert sum(one.joint for one in costs.values()) < took(*faults) - took()


def test_without_a_fault_nobody_else_draws_anew(each: Made, tmp_path: Path) -> None:
    rest = made(without("slow"), tmp_path)
    columns = ("data_ns", "communication_ns", "checkpoint_ns")
    for column in columns:
        assert (each.matrix(column) == rest.matrix(column)).all()
    ours, theirs = (one.matrix("compute_ns") for one in (each, rest))
    longest = each.cluster.attempts[0].clock.healthy[:, None] * 1_000
    watched = [one for one in each.cluster.work.watched if one != 3]
    assert (ours[:, watched] == theirs[:, watched]).all()
    # of the others one has the longest work of all: without the fault it may be rank 3
    others = np.delete(np.arange(32), [3, *watched])
    is_other = ours[:, others] != theirs[:, others]
    is_longest = np.maximum(ours, theirs)[:, others] == longest
    assert (is_other <= is_longest).all()
    assert is_other.mean() < 0.02


def test_without_a_stop_the_others_take_as_long(each: Made, tmp_path: Path) -> None:
    rest = made(without("xid"), tmp_path)
    ours, theirs = (
        {
            one["cause"]: [one[last] - one[first] for first, last in PHASES]
            for one in part.truth["interruptions"]
        }
        for part in (each, rest)
    )
    assert ours.pop("GPU HBM3 Memory")
    # how long the nodes are another's goes by the calendar
    assert ours.pop("Preempted")[1] == pytest.approx(theirs.pop("Preempted")[1], 0.01)
    assert ours.keys() == theirs.keys() == {"NCCL Watchdog Timeouts", "Faulty GPU"}
    for cause, phases in ours.items():
        # an attempt ends with a whole second
        assert phases == pytest.approx(theirs[cause], abs=S)
