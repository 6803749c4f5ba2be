"""JSON of Slurm: numbers and states of every schema, nodes, what is known for it."""

import json
from typing import Any

import pytest

from ingest.sources import sacct_json
from ingest.sources._source import Head
from ingest.tables import Failures, Jobs
from ingest.times import SECOND_NS
from tests.ingest.readings import rows
from tests.ingest.slurm.slurm_json import (
    END,
    START,
    SUBMIT,
    Json,
    job_of_sacct,
    number,
    read,
)


def job_of(**more: Any) -> Json:
    (row,) = rows(read({"jobs": [job_of_sacct(**more)]}), Jobs)
    return row


def test_a_job_of_an_early_schema() -> None:
    row = job_of()
    assert (row["job_id"], row["state"], row["hosts"]) == (
        "48",
        "NODE_FAIL",
        "gpu01,gpu02",
    )
    assert (row["node_count"], row["gpu_count"]) == (2, 16)
    assert (row["exit_code"], row["exit_signal"]) == (1, 0)
    assert [row[f"{name}_ns"] for name in ("submit", "eligible", "start", "end")] == [
        moment * SECOND_NS for moment in (SUBMIT, SUBMIT, START, END)
    ]
    assert (row["time_quality"], row["restart_count"]) == ("exact", 0)
    assert (row["qos"], row["account"], row["reason"]) == ("high", "team", None)


@pytest.mark.parametrize(
    ("told", "expected"), [("east", "east"), ("", None), (None, None)]
)
def test_the_cluster_of_a_job(told: str | None, expected: str | None) -> None:
    row = job_of(cluster=told)
    assert (row["cluster"], row["scheduler_cluster"]) == ("pod", expected)


def test_a_job_of_a_late_schema() -> None:
    row = job_of(
        state={"current": ["CANCELLED"], "reason": "None"},
        kill_request_user="ana",
        restart_cnt=number(2),
        exit_code={
            "status": ["SIGNALED"],
            "return_code": number(0),
            "signal": {"id": number(9), "name": "KILL"},
        },
        array={"job_id": 47, "task_id": number(3), "task": ""},
        time={
            "submission": number(SUBMIT),
            "start": number(START),
            "end": number(None),
        },
    )
    assert (row["job_id"], row["restart_count"]) == ("47_3", 2)
    assert (row["state"], row["cancelled_by"]) == ("CANCELLED", "ana")
    assert (row["exit_code"], row["exit_signal"]) == (0, 9)
    assert (row["start_ns"], row["end_ns"]) == (START * SECOND_NS, None)


def test_a_job_of_squeue() -> None:
    document = {
        "jobs": [
            {
                "job_id": 50,
                "array_job_id": number(0),
                "array_task_id": number(None),
                "het_job_id": number(49),
                "het_job_offset": number(1),
                "job_state": ["RUNNING", "COMPLETING"],
                "name": "mix",
                "nodes": "gpu01",
                "node_count": number(1),
                "submit_time": number(SUBMIT),
                "start_time": number(START),
                "end_time": number(END),
                "exit_code": 256,
                "restart_cnt": 1,
                "state_reason": "None",
                "tres_alloc_str": "cpu=4,gres/gpu=8",
            }
        ]
    }
    (row,) = rows(read(document), Jobs)
    assert (row["job_id"], row["state"], row["gpu_count"]) == ("49+1", "RUNNING", 8)
    assert row["end_ns"] is None  # its time limit is none
    assert (row["exit_code"], row["exit_signal"]) == (1, 0)


def test_a_pending_array_has_no_start() -> None:
    row = job_of(
        job_id=60,
        state={"current": "PENDING", "reason": "Priority"},
        array={"job_id": 60, "task": "1-10%4", "task_id": None},
        nodes="None assigned",
        tres={"requested": [{"type": "gres", "name": "gpu", "count": 2}]},
    )
    assert (row["job_id"], row["reason"]) == ("60_[1-10%4]", "Priority")
    assert (row["start_ns"], row["end_ns"], row["hosts"]) == (None, None, None)
    assert row["gpu_count"] == 2


def test_attempts_are_counted_where_the_schema_does_not() -> None:
    jobs = [
        job_of_sacct(
            time={"submission": SUBMIT + add, "start": START + add, "end": END}
        )
        for add in (600, 0)
    ]
    told = rows(read({"jobs": jobs}), Jobs)
    assert [
        (row["start_ns"] // SECOND_NS - START, row["restart_count"]) for row in told
    ] == [
        (0, 0),
        (600, 1),
    ]


@pytest.mark.parametrize(
    "value",
    [0, None, 0xFFFF_FFFE, number(None), {"set": True, "infinite": True, "number": 1}],
)
def test_numbers_that_stand_for_none(value: object) -> None:
    row = job_of(time={"submission": SUBMIT, "start": value, "end": value})
    assert (row["start_ns"], row["end_ns"]) == (None, None)


def test_nodes_of_three_shapes() -> None:
    told = rows(
        read(
            json.dumps(
                {
                    "nodes": [
                        {
                            "name": "gpu01",
                            "state": ["IDLE", "DRAIN"],
                            "reason": "Xid 79",
                            "reason_changed_at": number(START),
                        },
                        {
                            "name": "gpu02",
                            "state": "down",
                            "state_flags": ["NOT_RESPONDING"],
                            "reason_changed_at": START,
                        },
                        {"name": "gpu03", "state": ["IDLE"], "reason": ""},
                    ]
                }
            )
            + json.dumps(
                {
                    "sinfo": [
                        {
                            "nodes": {"nodes": ["gpu04", "gpu05"]},
                            "node": {"state": ["DOWN"]},
                            "reason": {"description": "dead", "time": number(START)},
                        }
                    ]
                }
            )
        ),
        Failures,
    )
    assert [(row["host"], row["code"], row["component"]) for row in told] == [
        ("gpu01", "node_drain", "gpu"),
        ("gpu02", "node_down", "host"),
        ("gpu04", "node_down", "host"),
        ("gpu05", "node_down", "host"),
    ]
    assert {row["time_ns"] for row in told} == {START * SECOND_NS}


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (json.dumps({"meta": {"Slurm": {}}, "jobs": [job_of_sacct()]}), True),
        ('{"nodes": [{"reason_changed_at": 1}]}', True),
        ('{"jobs": [{"job_id": 1}]}', False),
        ('{"jobs": {"job_id": 1, "job_state": "R"}}', False),
        ('[{"job_id": 1, "job_state": "R"}]', False),
        ('{"traceEvents": []}', False),
        ("", False),
    ],
)
def test_known_by_its_keys(text: str, known: bool) -> None:
    assert sacct_json.recognizes(Head("x.json", text.encode())) is known
