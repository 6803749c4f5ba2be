"""Logs of slurmctld and slurmd: messages, nodes, reasons, stamps of every kind."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ingest.sources import slurmctld
from ingest.sources._slurm import ctld_events
from ingest.sources._source import Batch
from ingest.tables import Failures
from ingest.times import SECOND_NS
from tests.ingest.readings import held, read_lines, records, refused, rows

AT = "[2026-03-01T22:46:00.123]"
AT_NS = int(datetime(2026, 3, 1, 22, 46, tzinfo=UTC).timestamp()) * SECOND_NS


KILLED = (
    "error: *** JOB 4 STEPD TERMINATED ON n1 AT 2026-03-01T22:46:00 DUE TO JOB NOT"
    " ENDING WITH SIGNALS ***"
)


def batches_of(*lines: str, **told: Any) -> list[Batch]:
    return held(read_lines(slurmctld.SOURCE, *lines, **told))


def rows_of(*lines: str, **told: Any) -> list[dict[str, Any]]:
    return rows(batches_of(*lines, **told), Failures)


@pytest.mark.parametrize(
    ("message", "code", "severity"),
    [
        ("error: Nodes n1 not responding, setting DOWN", "node_down", "error"),
        ("error: Nodes n1 not responding", "node_not_responding", "warning"),
        (
            "agent/is_node_resp: node:n1 RPC:REQUEST_PING : Connection timed out",
            "node_not_responding",
            "warning",
        ),
        (
            "validate_node_specs: Node n1 unexpectedly rebooted boot_time=7 last",
            "node_rebooted",
            "error",
        ),
        ("error: Node n1 has low real_memory size (1 < 2)", "node_invalid", "error"),
        (
            "error: _slurm_rpc_node_registration node=n1: Invalid argument",
            "node_registration",
            "error",
        ),
        ("Killing JobId=48 on failed node n1", "job_node_fail", "error"),
        ("Killing job_id 48 on failed node n1", "job_node_fail", "error"),
        ("requeue job JobId=48 due to failure of node n1", "job_node_fail", "error"),
        (
            "requeue JobId=48_11(50) due to failure of node n1",
            "job_node_fail",
            "error",
        ),
        (
            "Batch JobId=48 missing from batch node n1 (not found BatchStartTime)",
            "batch_job_missing",
            "error",
        ),
        (
            "error: slurmd error running JobId=6 on node(s)=n1: Plugin failed",
            "job_launch",
            "error",
        ),
        ("update_node: node n1 state set to DOWN", "node_down", "error"),
        ("drain_nodes: node n1 state set to DRAIN", "node_drain", "warning"),
        (
            "error: Setting node n1 state to INVAL with reason:x",
            "node_invalid",
            "error",
        ),
        ("update_node: node n1 state set to IDLE", "node_resumed", "info"),
        ("node n1 returned to service", "node_resumed", "info"),
        ("Node n1 now responding", "node_responding", "info"),
        (
            "error: *** STEP 48.0 ON n1 CANCELLED AT 22:46:00 DUE TO NODE FAILURE ***",
            "job_node_fail",
            "info",
        ),
        (
            KILLED,
            "kill_task_failed",
            "error",
        ),
    ],
)
def test_messages_and_their_codes(message: str, code: str, severity: str) -> None:
    (row,) = rows_of(f"{AT} {message}")
    assert (row["code"], row["severity"]) == (code, severity)
    assert (row["host"], row["source"], row["message"]) == ("n1", "scheduler", message)
    assert row["time_ns"] == AT_NS + 123_000_000


@pytest.mark.parametrize(
    ("message", "code", "component"),
    [
        ("error: prolog failed: rc:1 output:", "prolog_failed", "software"),
        ("error: [job 48] prolog failed status=1:0", "prolog_failed", "software"),
        ("error: epilog failed: rc:1", "epilog_failed", "software"),
        (
            "error: health_check failed: rc:1 output:GPU lost",
            "health_check_failed",
            "gpu",
        ),
        ("error: Waiting for gres.conf file /dev/nvidia5", "gpu_missing", "gpu"),
        ("fatal: can't stat gres.conf file /dev/nvidia5", "gpu_missing", "gpu"),
        (
            "[48.0] error: Detected 1 oom_kill event in StepId=48.0.",
            "out_of_memory",
            "user",
        ),
    ],
)
def test_messages_of_a_node_itself(message: str, code: str, component: str) -> None:
    (row,) = rows_of(f"{AT} {message}", name="slurmd.gpu07.log")
    assert (row["host"], row["code"], row["component"]) == ("gpu07", code, component)
    (row,) = rows_of(f"{AT} {message}", name="slurmd.log-20260301")
    assert row["host"] is None


@pytest.mark.parametrize(
    "message",
    [
        "_slurm_rpc_submit_batch_job: JobId=48 InitPrio=1 usec=8",
        "sched: Allocate JobId=48 NodeList=n1 #CPUs=4 Partition=gpu",
        "_job_complete: JobId=48 WEXITSTATUS 1",
        "update_node: node n1 state set to ALLOCATED",
        "update_node: node n1 reason set to: Xid 79",
        "error: Munge decode failed: Invalid credential",
    ],
)
def test_other_messages_are_records_without_rows(message: str) -> None:
    batches = batches_of(f"{AT} {message}")
    assert not rows(batches, Failures)
    assert (records(batches), refused(batches)) == (1, [])


def test_a_list_of_nodes_gives_a_row_for_each() -> None:
    told = rows_of(f"{AT} error: Nodes n[03-05],m7 not responding, setting DOWN")
    assert [row["host"] for row in told] == ["n03", "n04", "n05", "m7"]
    assert {row["code"] for row in told} == {"node_down"}


def test_a_state_takes_the_reason_that_was_told_right_before() -> None:
    told = rows_of(
        f"{AT} update_node: node n1 reason set to: Xid 79",
        f"{AT} update_node: node n[2-3] reason set to: firmware upgrade",
        f"{AT} update_node: node n1 state set to DRAINED",
        f"{AT} update_node: node n[2-3] state set to DRAINED",
        "[2026-03-01T23:46:00.000] update_node: node n1 state set to DRAINED",
    )
    found = {(row["host"], row["place"]): row for row in told}
    first = found["n1", "line 3"]
    assert (first["component"], first["line_count"]) == ("gpu", 2)
    assert found["n2", "line 4"]["severity"] == "info"
    later = found["n1", "line 5"]
    assert (later["component"], later["line_count"]) == ("host", 1)


def test_lines_that_are_alike_are_numbered() -> None:
    told = rows_of(*[f"{AT} error: Nodes n[1-2] not responding"] * 2)
    assert sorted((row["host"], row["occurrence"]) for row in told) == [
        ("n1", 0),
        ("n1", 1),
        ("n2", 0),
        ("n2", 1),
    ]


def test_lists_of_a_file_share_a_number_of_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ctld_events, "FILE_ROWS", 7)
    lists = ("n[1-4]", "n[3-1]", "m", "k[1-4]", "j")
    batches = batches_of(
        *(f"{AT} update_node: node {nodes} state set to DRAINED" for nodes in lists)
    )
    hosts = [row["host"] for row in rows(batches, Failures)]
    assert sorted(hosts) == ["j", "m", "n1", "n2", "n3", "n4"]
    assert refused(batches) == [("line 2", "node_list"), ("line 4", "node_list")]
