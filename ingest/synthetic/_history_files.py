"""Raw files of a history: accounting, kernel log, list of interruptions, step log."""

from collections.abc import Iterator, Sequence
from typing import Final

from ingest.synthetic._history_causes import UPGRADE, XID_TEXTS
from ingest.synthetic._history_clock import Leg
from ingest.synthetic._history_scenario import SECOND, History, node_name
from ingest.synthetic.raw_text import local_time

#: The job, which is requeued.
_JOB: Final = 70_001

_FIELDS: Final = (
    *("JobID", "JobName", "Account", "QOS", "State", "ExitCode"),
    *("Submit", "Eligible", "Start", "End", "Restarts"),
    *("NNodes", "NodeList", "AllocTRES", "Reason"),
)


def card_lines(history: History) -> Iterator[str]:
    """Yield the lines of run.toml."""
    stages = 16 if history.nodes % 16 == 0 else 1
    yield f'run_id = "{history.run_id}"'
    yield f'cluster = "{history.cluster}"'
    yield 'model = "405B dense"'
    yield 'zone = "UTC"'
    if history.is_reserved:
        yield f'billing = "reserved"\nreserved_gpus = {history.reserved}'
    yield "\n[hardware]"
    yield f'gpu = "H100-SXM"\ngpus = {history.reserved}'
    yield f"gpus_per_node = {history.gpus_per_node}\npeak_tflops = 989"
    yield "\n[layout]"
    yield f"tp = {history.gpus_per_node}\npp = {stages}"
    yield f"dp = {history.nodes // stages}"
    yield "\n[training]"
    yield "parameters = 405e9\nactive_parameters = 405e9"
    yield f"tokens_per_step = {history.tokens_per_step}"
    yield f"\n[price]\nusd_per_gpu_hour = {history.usd_per_gpu_hour}"


def sacct_lines(history: History, legs: Sequence[Leg]) -> Iterator[str]:
    """Yield what `sacct -D --parsable2` says: one job, requeued again and again."""
    yield "|".join(_FIELDS)
    nodes = f"node-[0001-{history.nodes:04}]"
    tres = f"cpu={history.nodes * 96},gres/gpu={history.gpus},node={history.nodes}"
    for leg in legs:
        times = (leg.submitted, leg.submitted, leg.start, leg.end)
        stamps = [f"{local_time(time, 'UTC'):%Y-%m-%dT%H:%M:%S}" for time in times]
        tail = [str(leg.number), str(history.nodes), nodes, tres, "None"]
        head = [str(_JOB), history.run_id, "pretrain", "normal", *_state(leg)]
        yield "|".join([*head, *stamps, *tail])


def _state(leg: Leg) -> tuple[str, str]:
    if leg.cause is None:
        return "COMPLETED", "0:0"
    if leg.cause is UPGRADE:
        return "CANCELLED by 1041", "0:15"
    return ("NODE_FAIL", "1:0") if leg.cause.on_node else ("FAILED", "1:0")


def list_lines(legs: Sequence[Leg]) -> Iterator[str]:
    """Yield the list that the operators keep of every stop."""
    yield "start,end,planned,category,component,cause,host"
    for leg in legs:
        if leg.cause is None:
            continue
        told = (leg.signed, leg.end)
        stamps = [f"{local_time(time, 'UTC'):%Y-%m-%d %H:%M:%SZ}" for time in told]
        planned = "yes" if leg.cause is UPGRADE else "no"
        cause = f"{leg.cause.category},{leg.cause.name},{leg.cause.name}"
        yield f"{','.join(stamps)},{planned},{cause},{leg.host or ''}"


def kernel_lines(history: History, legs: Sequence[Leg]) -> Iterator[str]:
    """Yield what the kernels of all nodes print, as a log server keeps it."""
    draw = history.draws("boards")
    for leg in legs:
        xid = leg.cause.xid if leg.cause else None
        if xid is None:
            continue
        bus = f"PCI:0000:{16 * (1 + draw.randrange(8)):02x}:00"
        uptime = (leg.signed - history.begun_ns) // SECOND + 90_000
        yield (
            f"{local_time(leg.signed, 'UTC').isoformat(timespec='microseconds')}"
            f" {leg.host} kernel: [{uptime}.000000]"
            f" NVRM: Xid ({bus}): {xid}, {XID_TEXTS[xid]}"
        )
    last = local_time(legs[-1].end, "UTC").isoformat(timespec="microseconds")
    yield f"{last} {node_name(0)} systemd[1]: Starting Cleanup of Temporary Files..."


def step_lines(legs: Sequence[Leg]) -> Iterator[str]:
    """Yield the step log: the mean over the run, a row for each step."""
    yield "step,rank,start_ns,duration_ns,checkpoint_ns,scope,clock,step_count"
    for leg in legs:
        for step in leg.steps:
            length = f"{step.end - step.start},{step.stall}"
            yield f"{step.number},,{step.start},{length},run_mean,host,1"
