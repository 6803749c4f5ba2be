"""What the truth says of attempts, and of what stopped them."""

from itertools import pairwise
from typing import Any

from ingest.synthetic.cluster.accounts import stepped
from ingest.synthetic.cluster.calendar import Attempt
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.faults import PlacedFault


def told(attempt: Attempt) -> dict[str, Any]:
    """Return what is true of an attempt. [ns]"""
    opened, closed = stepped(attempt)
    return {
        "attempt": attempt.number,
        "submitted_ns": attempt.submitted_ns,
        "start_ns": attempt.start_ns,
        "end_ns": attempt.end_ns,
        "first_step": attempt.first_step,
        "steps": attempt.steps,
        "steps_kept": attempt.kept,
        "first_step_start_ns": opened if attempt.steps else None,
        "last_step_end_ns": closed if attempt.steps else None,
        "stop": attempt.stop.number if attempt.stop else None,
    }


def interruptions(cluster: Cluster) -> list[dict[str, Any]]:
    """Return each stop that was followed by another attempt, with its phases."""
    found = []
    for attempt, following in pairwise(cluster.attempts):
        stop = attempt.stop
        if stop is None:
            continue
        _, closed = stepped(attempt)
        found.append(
            {
                "fault": stop.number,
                "attempt": attempt.number,
                "cause": stop.cause,
                "category": stop.category,
                "component": stop.component,
                "planned": stop.planned,
                "host": host_of(cluster, stop),
                "xid": stop.xid,
                "last_step_end_ns": closed if attempt.steps else None,
                "struck_ns": attempt.stood_ns,
                "signed_ns": attempt.signed_ns,
                "ended_ns": attempt.end_ns,
                "requeued_ns": following.submitted_ns,
                "started_ns": following.start_ns,
                "first_step_ns": following.begin_ns if following.steps else None,
                "repeated_steps": attempt.steps - attempt.kept,
            }
        )
    return found


def host_of(cluster: Cluster, fault: PlacedFault) -> str | None:
    """Return the name of the node that a fault is at, where it is at one."""
    return None if fault.host is None else cluster.fleet.hosts[fault.host]
