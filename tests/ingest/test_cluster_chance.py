"""Clusters with faults of any kind at any place and time: what holds of all of them."""

from itertools import pairwise
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ingest.synthetic.cluster._scenario_checks import contradictions
from ingest.synthetic.cluster._scenario_faults import STOPPING
from ingest.synthetic.cluster.accounts import book_steps
from ingest.synthetic.cluster.cluster import cluster_of
from ingest.synthetic.cluster.scenario import (
    Calendar,
    Fault,
    FaultsDrawn,
    Fleet,
    Layout,
    Noise,
    Scenario,
    Schedule,
)
from ingest.synthetic.cluster.steps import step_windows
from ingest.synthetic.cluster.truth import truth_of
from ingest.times import SECOND_NS

#: 12 ranks of three hosts, and steps of ten minutes.
RANKS, HOSTS, STEPS = 12, 3, 144

SLOW = ("slow_gpu", "thermal_cap", "power_cap", "slow_link", "flow_collision")


_SECONDS = st.floats(0, 86_399)


def _at(kind: str, *, by_step: bool) -> dict[str, st.SearchStrategy[Any]]:
    """Return when a fault begins, and how long it is there."""
    lasts = kind not in STOPPING
    if by_step and kind not in {"preemption", "lemon_node"}:
        steps = {"steps": st.integers(1, STEPS)} if lasts else {}
        return {"from_step": st.integers(0, STEPS - 1), **steps}
    since: dict[str, st.SearchStrategy[Any]] = {"from_s": _SECONDS}
    if lasts or kind in {"preemption", "lemon_node"}:
        since["length_s"] = st.floats(1e-3, 86_400)
    return since


def _of_kind(kind: str) -> st.SearchStrategy[Fault]:
    rank = {"rank": st.integers(0, RANKS - 1)}
    host = {"host": st.integers(0, HOSTS - 1)}
    places: list[dict[str, st.SearchStrategy[Any]]] = [rank, host]
    if kind in {"data_stall", "preemption", "checkpoint_storm"}:
        places = [rank, host, {}] if kind == "data_stall" else [{}]
    alike = kind in {"xid", "hang", "preemption"}
    worse = (
        st.none() if alike else st.floats(0.01 if kind == "data_stall" else 1.0, 1.9)
    )
    return st.one_of(
        [
            st.builds(
                Fault,
                kind=st.just(kind),
                severity=worse,
                **place,
                **_at(kind, by_step=by_step),
            )
            for place in places
            for by_step in (True, False)
        ]
    )


KINDS = (*SLOW, "xid", "hang", "lemon_node", "preemption", "data_stall")
FAULTS = st.lists(
    st.one_of([_of_kind(kind) for kind in (*KINDS, "checkpoint_storm")]), max_size=6
)


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32),
    faults=FAULTS,
    stops=st.integers(0, 30),
    planned_steps=st.sampled_from([0, 1, 40, 10_000]),
    reserved=st.booleans(),
    until_s=st.sampled_from([200, 30_000, 85_000, 86_400]),
)
def test_all_time_is_booked_and_every_step_is_kept_once(
    *,
    seed: int,
    faults: list[Fault],
    stops: int,
    planned_steps: int,
    reserved: bool,
    until_s: int,
) -> None:
    scenario = Scenario(
        seed=seed,
        fleet=Fleet(hosts=HOSTS, gpus_per_node=4, spares=1),
        layout=Layout(tp=2, pp=2, dp=3),
        schedule=Schedule(
            step_s=600.0, checkpoint_every=7, planned_steps=planned_steps
        ),
        calendar=Calendar(reserved=reserved),
        noise=Noise(outliers=0.05, gc_every=9, gc_s=30.0),
        faults=tuple(faults),
        faults_drawn=FaultsDrawn(era_days=1, stops=stops, planned=stops // 3),
    )
    assume(contradictions(scenario) is None)
    cluster = cluster_of(scenario, scenario.begun_ns + until_s * SECOND_NS)
    windows = list(step_windows(cluster, 0, 2**62, 50))
    truth = truth_of(cluster, [book_steps(one) for one in windows])
    accounts = truth["accounts_gpu_ns"]["run"]
    assert sum(accounts.values()) == truth["paid_gpu_ns"]
    assert all(time > 0 for time in accounts.values())
    kept = [
        window.first_step + number
        for window in windows
        for number in range(window.steps)
        if window.is_kept[number]
    ]
    assert kept == [*range(truth["steps_kept"])]
    assert not planned_steps or len(kept) <= planned_steps
    attempts = truth["attempts"]
    for one, following in pairwise(attempts):
        assert one["start_ns"] <= one["end_ns"] <= following["submitted_ns"]
        assert following["submitted_ns"] <= following["start_ns"] < cluster.until_ns
        assert one["stop"] is not None
    assert all(one["end_ns"] <= cluster.until_ns for one in attempts)
    struck = [one["stop"] for one in attempts if one["stop"] is not None]
    assert len(struck) == len(set(struck))
    for fault in truth["faults"]:
        assert fault["from_ns"] <= fault["to_ns"] or not fault.get("steps")
        assert 0 <= fault["solo_gpu_ns"] <= truth["paid_gpu_ns"]
        assert 0 <= fault["joint_gpu_ns"] <= truth["paid_gpu_ns"]
    for stop in truth["interruptions"]:
        times = [stop[name] for name in ("struck_ns", "signed_ns", "ended_ns")]
        assert times == sorted(times)
        assert 0 <= stop["repeated_steps"] < 7 or planned_steps
