"""What `sacct -D --parsable2` says about the run: its job, steps, and another job."""

from collections.abc import Iterator, Sequence
from typing import Final

from ingest.synthetic.raw_text import local_time
from ingest.synthetic.run import Attempt
from ingest.synthetic.scenario import SECOND, Scenario

_FIELDS: Final = (
    "JobID",
    "JobName",
    "Account",
    "QOS",
    "State",
    "ExitCode",
    "Submit",
    "Eligible",
    "Start",
    "End",
    "Restarts",
    "NNodes",
    "NodeList",
    "AllocTRES",
    "Reason",
)


def sacct_lines(scenario: Scenario, attempts: Sequence[Attempt]) -> Iterator[str]:
    """Yield the lines of the accounting's answer."""
    yield "|".join(_FIELDS)
    yield from _other_job(scenario)
    for attempt in attempts:
        yield from _attempt(scenario, attempt)


def _attempt(scenario: Scenario, attempt: Attempt) -> Iterator[str]:
    failed = attempt.failed is not None
    state, code = ("NODE_FAIL", "1:0") if failed else ("COMPLETED", "0:0")
    times = [attempt.submit, attempt.eligible, attempt.start, attempt.end]
    stamps = [_stamp(scenario, time) for time in times]
    count = scenario.nodes
    nodes = f"node-[01-{count:02}]" if count > 1 else "node-01"
    gpus = scenario.ranks
    tres = f"billing={gpus * 12},cpu={count * 96},gres/gpu={gpus},mem=3T,node={count}"
    tail = [str(attempt.number), str(count), nodes, tres, "None"]
    job = str(scenario.job_id)
    yield "|".join(
        [job, scenario.run_id, "pretrain", "normal", state, code, *stamps, *tail]
    )
    ended = "CANCELLED" if failed else "COMPLETED"
    for step, name in (("batch", "batch"), ("extern", "extern"), ("0", "torchrun")):
        yield "|".join(
            [f"{job}.{step}", name, "pretrain", "", ended, code, *stamps, *tail]
        )


def _other_job(scenario: Scenario) -> Iterator[str]:
    """Another user's job, on a node that is not the run's."""
    end = scenario.submitted_ns - 600 * SECOND
    times = [end - 1_900 * SECOND, end - 1_900 * SECOND, end - 1_800 * SECOND, end]
    stamps = [_stamp(scenario, time) for time in times]
    head = [str(scenario.job_id - 31), "eval-small", "research", "normal"]
    tail = ["0", "1", "node-09", "billing=12,cpu=12,gres/gpu=1,mem=96G,node=1", "None"]
    yield "|".join([*head, "CANCELLED by 1041", "0:15", *stamps, *tail])


def _stamp(scenario: Scenario, time_ns: int) -> str:
    return f"{local_time(time_ns, scenario.zone):%Y-%m-%dT%H:%M:%S}"
