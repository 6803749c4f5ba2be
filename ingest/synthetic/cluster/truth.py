"""The truth about a generated cluster, from its own clock and its own seed."""

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from ingest.synthetic.cluster._truth_stops import host_of, interruptions, told
from ingest.synthetic.cluster.accounts import (
    Accounts,
    book_rest,
    paid_ns,
    spare_gpus,
    total,
)
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.costs import Spell, slow_costs, slowdown
from ingest.synthetic.cluster.faults import PlacedFault
from ingest.synthetic.cluster.stop_costs import stop_costs
from ingest.times import DAY_NS, day_name

__all__ = ["truth_of"]

#: Raised when the truth says something in another way.
FORMAT: Final = 2

#: What its fields mean, where their names alone do not say it; they stand in it.
MEANINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "files": "the time that files are of; the truth is of the same, and what goes"
        " on at its end is cut there",
        "paid_gpu_ns": "of the run's GPUs and its spares from the first start to the"
        " last end where reserved, else of the run's GPUs while an attempt lasts",
        "interruptions": "stops after which the run started again by the end",
        "faults_missed": "faults by kind that were to happen by the end and had no time"
        " to, as the run stood still or never came to their step",
        "joint_gpu_ns": "paid time of the run's GPUs that is saved if this fault alone"
        " is gone; of a stop it ends where another one strikes before the run is as far"
        " again",
        "solo_gpu_ns": "the same without all other faults, at the steps, with the draws"
        " and at the time of day of this run; generated alone the fault may meet other"
        " steps",
        "stops": "cost from the end of the last completed step to the start of the"
        " first that never was, with what that takes longer as the first of an attempt;"
        " from the attempt's first step to the next one's where none was completed",
        "slowdown_ratio": "median of what a rank takes without waits over the same"
        " without the fault",
    }
)


def truth_of(cluster: Cluster, booked: Iterable[Accounts]) -> dict[str, Any]:
    """Return the truth about a cluster, to its end. Times in ns, GPU time in GPU ns.

    Own work includes the schedule's bubble of the pipeline: no step log tells them
    apart.

    Args:
        cluster: The cluster.
        booked: Accounts of all windows of its steps.
    """
    attempts, slow = cluster.attempts, slow_costs(cluster)
    return {
        "format": FORMAT,
        "scenario": msgspec.to_builtins(cluster.scenario),
        "meanings": dict(MEANINGS),
        "fleet": _fleet(cluster),
        "attempts": [told(attempt) for attempt in attempts],
        "steps_kept": sum(one.kept for one in attempts),
        "steps_repeated": sum(one.steps - one.kept for one in attempts),
        "paid_gpu_ns": paid_ns(cluster),
        "accounts_gpu_ns": _accounts(cluster, booked),
        "interruptions": interruptions(cluster),
        "faults": _faults(cluster, slow),
        "faults_missed": dict(sorted(cluster.missed.items())),
        "healthy_ranks": _healthy(cluster, slow),
    }


def _fleet(cluster: Cluster) -> dict[str, Any]:
    fleet = cluster.scenario.fleet
    return {
        "ranks": cluster.scenario.ranks,
        "hosts": fleet.hosts,
        "spare_hosts": fleet.spares,
        "spare_gpus": spare_gpus(cluster),
        "racks": fleet.racks,
        "pods": fleet.pods,
        "first_serial": cluster.fleet.gpus["serial"][0],
        "last_serial": cluster.fleet.gpus["serial"][-1],
    }


def _accounts(cluster: Cluster, booked: Iterable[Accounts]) -> dict[str, Any]:
    """Return the accounts over the run, and of each UTC day."""
    whole = total([*booked, book_rest(cluster)])
    run: Counter[str] = Counter()
    days: dict[str, Counter[str]] = {}
    for name, time in sorted(whole.items(), key=lambda one: one[0][1:]):
        run[name.account] += time
        days.setdefault(_day(name.day), Counter())[name.account] += time
    return {
        "run": dict(sorted(run.items())),
        "days": {day: dict(sorted(one.items())) for day, one in days.items()},
    }


def _day(number: int) -> str:
    return day_name(number * DAY_NS)


def _faults(cluster: Cluster, slow: Mapping[int, Spell]) -> list[dict[str, Any]]:
    stops = stop_costs(cluster)
    found = []
    for fault in cluster.faults:
        row = _fault(cluster, fault)
        if fault.stops:
            solo, joint = stops[fault.number]
            row |= {"solo_gpu_ns": solo, "joint_gpu_ns": joint}
        else:
            row |= _spell(slow.get(fault.number, Spell()))
        found.append(row)
    return found


def _fault(cluster: Cluster, fault: PlacedFault) -> dict[str, Any]:
    gpus = cluster.fleet.gpus[list(fault.ranks)]
    return {
        "id": fault.number,
        "kind": fault.kind,
        "cause": fault.cause,
        "planned": fault.planned,
        "severity": fault.severity,
        "ranks": list(fault.ranks),
        "host": host_of(cluster, fault),
        "gpu_uuids": gpus["gpu_uuid"].to_list(),
        "serials": gpus["serial"].to_list(),
        "links": (gpus["host"] + "/" + gpus["nic"]).to_list(),
        "xid": fault.xid,
        "of_listed": fault.origin,
        "from_ns": fault.from_ns,
        "to_ns": fault.to_ns,
    }


def _spell(spell: Spell) -> dict[str, Any]:
    """Return where it was felt: of a fault that no step met, nowhere."""
    names = ("attempt", "first_step", "last_step", "from_ns", "to_ns")
    felt = [dict(zip(names, piece, strict=True)) for piece in spell.pieces]
    bounds = {}
    if spell.pieces:
        bounds = {"from_ns": spell.pieces[0][3], "to_ns": spell.pieces[-1][4]}
    return {
        **bounds,
        "steps": sum(piece[2] - piece[1] + 1 for piece in spell.pieces),
        "slowdown_ratio": slowdown(spell),
        "solo_gpu_ns": spell.solo,
        "joint_gpu_ns": spell.joint,
        "felt": felt,
    }


def _healthy(cluster: Cluster, slow: Mapping[int, Spell]) -> dict[str, int]:
    """Return how many ranks had no fault of their own on each day. [1]"""
    ends = (cluster.scenario.begun_ns, cluster.until_ns - 1)
    first, last = (at // DAY_NS for at in ends)
    ill: dict[int, set[int]] = {day: set() for day in range(first, last + 1)}
    for fault in cluster.faults:
        for *_, began, ended in (
            slow[fault.number].pieces if fault.number in slow else ()
        ):
            for day in range(began // DAY_NS, min(ended // DAY_NS, last) + 1):
                ill[day].update(fault.ranks)
    ranks = cluster.scenario.ranks
    return {_day(day): ranks - len(found) for day, found in ill.items()}
