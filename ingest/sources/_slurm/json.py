"""Jobs and nodes in the JSON of Slurm, in every schema: its fields as sacct's text.

The schemas of slurmrestd and of --json alike: up to 22.05 numbers are numbers and
states are words; later numbers are objects (number, set, infinite) and states lists.
"""

import msgspec

from ingest.sources._slurm.numbers import NO_NUMBER, Told, Words, number


class _State(msgspec.Struct):
    current: Words = None
    reason: str | None = None


class _Times(msgspec.Struct):
    submission: Told = None
    eligible: Told = None
    start: Told = None
    end: Told = None


class _Signal(msgspec.Struct):
    id: Told = None
    signal_id: Told = None


class _Exit(msgspec.Struct):
    return_code: Told = None
    signal: _Signal | None = None
    number: int | float | None = None


class _Resource(msgspec.Struct):
    type: str | None = None
    name: str | None = None
    count: Told = None


class _Resources(msgspec.Struct):
    allocated: list[_Resource] | None = None
    requested: list[_Resource] | None = None


class _Array(msgspec.Struct):
    job_id: Told = None
    task_id: Told = None
    task: str | None = None


class _Part(msgspec.Struct):
    job_id: Told = None
    job_offset: Told = None


class Job(msgspec.Struct):
    """A job of sacct, squeue, scontrol or slurmrestd."""

    job_id: Told = None
    name: str | None = None
    nodes: str | None = None
    account: str | None = None
    cluster: str | None = None
    qos: str | None = None
    exit_code: int | _Exit | None = None
    restart_cnt: Told = None
    kill_request_user: str | int | None = None
    state: _State | None = None
    time: _Times | None = None
    allocation_nodes: Told = None
    tres: _Resources | None = None
    array: _Array | None = None
    het: _Part | None = None
    job_state: Words = None
    state_reason: str | None = None
    submit_time: Told = None
    eligible_time: Told = None
    start_time: Told = None
    end_time: Told = None
    node_count: Told = None
    tres_alloc_str: str | None = None
    tres_req_str: str | None = None
    array_job_id: Told = None
    array_task_id: Told = None
    array_task_string: str | None = None
    het_job_id: Told = None
    het_job_offset: Told = None


def job_fields(job: Job) -> dict[str, str | None]:
    """Return the fields of a job by sacct's names."""
    state = job.state or _State()
    times = job.time or _Times(
        job.submit_time, job.eligible_time, job.start_time, job.end_time
    )
    tres = job.tres or _Resources()
    return {
        "JobID": _job_id(job),
        "JobName": job.name,
        "State": _state(job, _first(state.current) or _first(job.job_state)),
        "Submit": _stamp(times.submission),
        "Eligible": _stamp(times.eligible),
        "Start": _stamp(times.start),
        "End": _stamp(times.end),
        "ExitCode": _exit(job.exit_code),
        "NodeList": job.nodes,
        "NNodes": _text(job.allocation_nodes) or _text(job.node_count),
        "AllocTRES": job.tres_alloc_str or _tres(tres.allocated),
        "ReqTRES": job.tres_req_str or _tres(tres.requested),
        "Restarts": _text(job.restart_cnt),
        "Reason": state.reason or job.state_reason,
        "QOS": job.qos or None,
        "Account": job.account or None,
        "Cluster": job.cluster or None,
    }


def _text(told: Told) -> str | None:
    value = number(told)
    return None if value is None else str(value)


def _stamp(told: Told) -> str | None:
    return _text(told) if number(told) else None


def _first(words: Words) -> str | None:
    if isinstance(words, list):
        return words[0] if words else None
    return words


def _state(job: Job, word: str | None) -> str | None:
    killer = job.kill_request_user
    if word == "CANCELLED" and isinstance(killer, str) and killer.strip():
        return f"{word} by {killer.split()[0]}"
    return word


def _job_id(job: Job) -> str | None:
    """Return the number as sacct writes it: of an array 123_7, of a part 123+1."""
    array = job.array or _Array(
        job.array_job_id, job.array_task_id, job.array_task_string
    )
    part = job.het or _Part(job.het_job_id, job.het_job_offset)
    if number(array.job_id):
        task = _text(array.task_id)
        if task is None and array.task:
            task = f"[{array.task}]"
        if task is not None:
            return f"{number(array.job_id)}_{task}"
    if number(part.job_id):
        return f"{number(part.job_id)}+{number(part.job_offset) or 0}"
    return _text(job.job_id)


def _exit(told: int | _Exit | None) -> str | None:
    """Return code and signal; a plain number is the status that wait() gives."""
    if isinstance(told, _Exit):
        if told.number is None:
            signal = told.signal or _Signal()
            killed = number(signal.id) or number(signal.signal_id) or 0
            return f"{number(told.return_code) or 0}:{killed}"
        told = number(told.number)
    if told is None or not 0 <= told < NO_NUMBER:
        return None
    return f"{(told >> 8) & 0xFF}:{told & 0x7F}"


def _tres(resources: list[_Resource] | None) -> str | None:
    """Return resources as the list that sacct writes."""
    known = [
        f"{one.type}/{one.name}={number(one.count) or 0}"
        for one in resources or ()
        if one.type == "gres" and one.name
    ]
    return ",".join(known) or None
