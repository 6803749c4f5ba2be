"""Documents of Slurm in JSON, for its tests."""

import io
import json
from datetime import UTC, datetime
from typing import Any

from ingest.sources import sacct_json
from ingest.sources._source import Batch
from tests.ingest.readings import held, reading

SUBMIT = int(datetime(2026, 3, 1, 9, tzinfo=UTC).timestamp())
START, END = SUBMIT + 130, SUBMIT + 49_611

Json = dict[str, Any]


def number(value: int | None) -> Json:
    return {"set": value is not None, "infinite": False, "number": value or 0}


def job_of_sacct(**more: Any) -> Json:
    return {
        "job_id": 48,
        "name": "mix",
        "nodes": "gpu[01-02]",
        "account": "team",
        "qos": "high",
        "allocation_nodes": 2,
        "state": {"current": "NODE_FAIL", "reason": "None"},
        "time": {"submission": SUBMIT, "eligible": SUBMIT, "start": START, "end": END},
        "exit_code": {"status": "ERROR", "return_code": 1},
        "array": {"job_id": 0, "task": None, "task_id": None},
        "het": {"job_id": 0, "job_offset": None},
        "steps": [{"state": "FAILED", "tres": {"allocated": [{"count": 1}]}}],
        "tres": {
            "allocated": [
                {"type": "cpu", "name": None, "count": 64},
                {"type": "gres", "name": "gpu", "count": 16},
                {"type": "gres", "name": "gpu:h100", "count": 16},
            ],
            "requested": [],
        },
    } | more


def read(document: Json | str | bytes) -> list[Batch]:
    text = json.dumps(document) if isinstance(document, dict) else document
    data = text.encode() if isinstance(text, str) else text
    return held(sacct_json.SOURCE.read(io.BytesIO(data), reading()))
