"""Lines of srun and slurmstepd in the output of a job."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ingest.sources import console
from ingest.sources._source import Head
from ingest.tables import Failures
from ingest.times import SECOND_NS
from tests.ingest.readings import held, read_lines, rows

AT_NS = int(datetime(2026, 3, 1, 22, 46, 50, tzinfo=UTC).timestamp()) * SECOND_NS


def rows_of(*lines: str) -> list[dict[str, Any]]:
    return rows(held(read_lines(console.SOURCE, *lines)), Failures)


@pytest.mark.parametrize(
    ("end", "code", "severity"),
    [
        (
            " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS",
            "job_node_fail",
            "error",
        ),
        (" DUE TO TIME LIMIT", "job_time_limit", "info"),
        (" DUE TO PREEMPTION", "job_preempted", "info"),
        ("", "job_cancelled", "info"),
    ],
)
def test_a_step_that_was_cancelled(end: str, code: str, severity: str) -> None:
    line = f"*** STEP 48.0 ON n1 CANCELLED AT 2026-03-01T22:46:50{end} ***"
    (row,) = rows_of(f"slurmstepd: error: {line}")
    assert (row["code"], row["severity"], row["host"]) == (code, severity, None)
    assert (row["time_ns"], row["time_quality"]) == (AT_NS, "zone_assumed")
    assert (row["source"], row["run_id"]) == ("scheduler", "asked")


def test_tasks_name_their_nodes_and_no_cause() -> None:
    told = rows_of(
        "0: srun: error: n[1-2]: tasks 0-15: Killed",
        "srun: error: n3: task 17: Exited with exit code 1",
    )
    assert [(row["host"], row["code"], row["source"]) for row in told] == [
        (host, "worker_exit", "application") for host in ("n1", "n2", "n3")
    ]
    assert {row["severity"] for row in told} == {"info"}


def test_a_node_that_failed_and_memory_that_ran_out() -> None:
    told = rows_of(
        "srun: error: Node failure on n1",
        "slurmstepd: error: Detected 2 oom_kill events in StepId=48.batch.",
        "slurmstepd: error: Detected 1 oom-kill event(s) in step 48.0 cgroup.",
    )
    assert [(row["host"], row["code"], row["component"]) for row in told] == [
        ("n1", "node_fail", "host"),
        (None, "out_of_memory", "user"),
        (None, "out_of_memory", "user"),
    ]


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ("srun: error: n1: task 0: Segmentation fault (core dumped)", True),
        ("srun: error: Node failure on n1", True),
        ("srun: job 48 queued and waiting for resources", False),
        ("we print srun: error: n1: task 0: Killed", False),
        ("*** JOB 1 ON n1 CANCELLED AT noon ***", False),
    ],
)
def test_known_by_its_lines(line: str, known: bool) -> None:
    assert console.recognizes(Head("x.out", f"{line}\n".encode())) is known
    assert bool(rows_of(line)) is known
