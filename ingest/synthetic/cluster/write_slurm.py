"""What Slurm's accounting says of a generated run, and the operators' list of stops."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ingest.synthetic.cluster.calendar import Attempt
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.raw_text import local_time, write_lines

#: The job, which is requeued.
JOB: Final = 70_001

_FIELDS: Final = (
    *("JobID", "JobName", "Account", "QOS", "State", "ExitCode"),
    *("Submit", "Eligible", "Start", "End", "Restarts"),
    *("NNodes", "NodeList", "AllocTRES", "Reason"),
)

#: Steps of a job, and their names.
_STEPS: Final = (("batch", "batch"), ("extern", "extern"), ("0", "torchrun"))


def write_slurm(folder: Path, cluster: Cluster, to_ns: int) -> None:
    """Write sacct.txt and interruptions.csv, as they are at a time. [ns]"""
    write_lines(folder / "sacct.txt", sacct_lines(cluster, to_ns))
    write_lines(folder / "interruptions.csv", list_lines(cluster, to_ns))


def sacct_lines(cluster: Cluster, to_ns: int) -> Iterator[str]:
    """Yield what `sacct -D --parsable2` says: one job, requeued again and again."""
    yield "|".join(_FIELDS)
    hosts = cluster.fleet.hosts[: cluster.scenario.fleet.hosts]
    first, last = (host.removeprefix("node-") for host in (hosts[0], hosts[-1]))
    nodes = f"node-[{first}-{last}]" if len(hosts) > 1 else hosts[0]
    gpus = cluster.scenario.ranks
    tres = f"cpu={len(hosts) * 96},gres/gpu={gpus},node={len(hosts)}"
    for one in cluster.attempts:
        if one.submitted_ns >= to_ns:
            return
        times = (one.submitted_ns, one.submitted_ns, one.start_ns, one.end_ns)
        stamps = [_stamp(time, to_ns) for time in times]
        tail = [*stamps, str(one.number), str(len(hosts)), nodes, tres, "None"]
        job = (
            str(JOB),
            cluster.scenario.run_id,
            "pretrain",
            "normal",
            *_state(one, to_ns),
        )
        yield "|".join([*job, *tail])
        ended = "COMPLETED" if _is_done(one) else "CANCELLED"
        ended = ended if one.end_ns <= to_ns else "RUNNING"
        for step, name in _STEPS:
            of_step = (f"{JOB}.{step}", name, "pretrain", "", ended, "0:0")
            yield "|".join([*of_step, *tail])


def _is_done(attempt: Attempt) -> bool:
    """Return whether the end of its time ended an attempt, whatever would have soon."""
    return attempt.stop is None or attempt.is_cut


def _stamp(time_ns: int, to_ns: int) -> str:
    """Return a time as sacct prints it, if it has come."""
    if time_ns > to_ns:
        return "Unknown"
    return f"{local_time(time_ns, 'UTC'):%Y-%m-%dT%H:%M:%S}"


def _state(attempt: Attempt, to_ns: int) -> tuple[str, str]:
    if attempt.end_ns > to_ns:
        return ("RUNNING" if attempt.start_ns <= to_ns else "PENDING"), "0:0"
    stop = attempt.stop
    if stop is None or _is_done(attempt):
        return "COMPLETED", "0:0"
    if stop.kind == "preemption":
        return "PREEMPTED", "0:15"
    if stop.planned:
        return "CANCELLED by 1041", "0:15"
    return ("FAILED", "1:0") if stop.host is None else ("NODE_FAIL", "1:0")


def list_lines(cluster: Cluster, to_ns: int) -> Iterator[str]:
    """Yield the list that the operators keep of every stop."""
    yield "start,end,planned,category,component,cause,host"
    for one in cluster.attempts:
        stop = one.stop
        if stop is None or _is_done(one) or one.end_ns > to_ns:
            continue
        told = (one.signed_ns, one.end_ns)
        stamps = [f"{local_time(time, 'UTC'):%Y-%m-%d %H:%M:%SZ}" for time in told]
        planned = "yes" if stop.planned else "no"
        host = "" if stop.host is None else cluster.fleet.hosts[stop.host]
        cause = f"{stop.category},{stop.cause},{stop.cause}"
        yield f"{','.join(stamps)},{planned},{cause},{host}"
