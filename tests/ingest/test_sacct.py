"""Jobs of sacct: fields in any order, times, states, attempts, real files."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ingest.sources import sacct
from ingest.sources._source import Batch, Head
from ingest.tables import Jobs
from ingest.times import parse_zone
from tests.ingest.readings import held, read_lines, refused, rows

HEADER = "JobID|JobName|State|Start|End"
TIMES = "2025-01-01T00:00:00|2025-01-01T01:00:00"
HOUR = 3_600 * 10**9


def batches_of(*lines: str, **told: Any) -> list[Batch]:
    return read_lines(sacct.SOURCE, *lines, **{"run_id": "llama"} | told)


def rows_of(batches: list[Batch]) -> list[dict[str, Any]]:
    return rows(held(batches), Jobs)


def test_fields_in_any_order() -> None:
    batches = batches_of(
        "State|NodeList|ExitCode|JobID|AllocTRES|NNodes|Submit|Eligible|Start|End"
        "|Restarts|QOS|Account|Reason|JobName|Partition",
        "NODE_FAIL|node-[01-02]|0:9|48|billing=9,gres/gpu=16,gres/gpu:h100=16|2"
        f"|2025-01-01T00:00:00|2025-01-01T00:00:00|{TIMES}|1|normal|team|None|llama|p",
        run_id_basis="run_card",
    )
    (row,) = rows_of(batches)
    start = int(datetime(2025, 1, 1, tzinfo=UTC).timestamp()) * 10**9
    expected = {
        "cluster": "pod",
        "run_id": "llama",
        "job_id": "48",
        "job_name": "llama",
        "restart_count": 1,
        "submit_ns": start,
        "eligible_ns": start,
        "start_ns": start,
        "end_ns": start + HOUR,
        "state": "NODE_FAIL",
        "exit_code": 0,
        "exit_signal": 9,
        "reason": None,
        "qos": "normal",
        "account": "team",
        "node_count": 2,
        "gpu_count": 16,
        "hosts": "node-01,node-02",
        "cancelled_by": None,
        "time_quality": "zone_assumed",
        "place": "line 2",
    }
    assert {name: row[name] for name in expected} == expected
    assert any(batch.zone_used for batch in batches)


def test_times_are_local_to_the_zone() -> None:
    (row,) = rows_of(
        batches_of(
            HEADER,
            f"1|a|FAILED|{TIMES}",
            zone=parse_zone("+01:00"),
            zone_basis="option",
        )
    )
    midnight = int(datetime(2025, 1, 1, tzinfo=UTC).timestamp()) * 10**9
    assert row["start_ns"] == midnight - HOUR
    assert row["time_quality"] == "exact"


@pytest.mark.parametrize("word", ["Unknown", "None", ""])
def test_a_job_without_an_end_still_runs(word: str) -> None:
    (row,) = rows_of(batches_of(HEADER, f"1|a|RUNNING|2025-01-01T00:00:00|{word}"))
    assert row["end_ns"] is None


@pytest.mark.parametrize(
    ("state", "expected", "by"),
    [
        ("CANCELLED by 118", "CANCELLED", "118"),
        ("CANCELLED+", "CANCELLED", None),
        ("OUT_OF_MEMORY", "OUT_OF_MEMORY", None),
    ],
)
def test_states_are_cut_at_the_first_blank(
    state: str, expected: str, by: str | None
) -> None:
    (row,) = rows_of(batches_of(HEADER, f"1|a|{state}|{TIMES}"))
    assert (row["state"], row["cancelled_by"]) == (expected, by)


def test_steps_are_records_without_rows() -> None:
    ids = ("7", "7.batch", "7.extern", "7.0", "8_3", "8_[4-9%2]", "9+0", "9+0.batch")
    batches = batches_of(HEADER, *(f"{i}|a|FAILED|{TIMES}" for i in ids))
    assert [r["job_id"] for r in rows_of(batches)] == ["7", "8_3", "8_[4-9%2]", "9+0"]
    assert sum(batch.records for batch in batches) == len(ids)


def test_restarts_are_counted_by_start_where_the_field_is_missing() -> None:
    rows = rows_of(
        batches_of(
            HEADER,
            "5|a|RUNNING|2025-01-03T00:00:00|Unknown",
            "5|a|NODE_FAIL|2025-01-01T00:00:00|2025-01-02T00:00:00",
            "6|b|COMPLETED|2025-01-01T00:00:00|2025-01-02T00:00:00",
        )
    )
    assert {(r["job_id"], r["state"]): r["restart_count"] for r in rows} == {
        ("5", "NODE_FAIL"): 0,
        ("5", "RUNNING"): 1,
        ("6", "COMPLETED"): 0,
    }


def test_a_job_is_of_the_cluster_that_the_scheduler_names() -> None:
    times = f"2025-01-01T00:00:00|{TIMES}"
    rows = rows_of(
        batches_of(
            "JobID|State|Submit|Start|End|Cluster",
            f"101|COMPLETED|{times}|east",
            f"101|FAILED|{times}|west",
            f"101|FAILED|{times}|",
        )
    )
    assert [(r["cluster"], r["scheduler_cluster"]) for r in rows] == [
        ("pod", "east"),
        ("pod", "west"),
        ("pod", None),
    ]
    assert {r["restart_count"] for r in rows} == {0}
    assert len({tuple(row[name] for name in Jobs.key) for row in rows}) == len(rows)


def test_run_is_not_guessed_from_a_folder() -> None:
    (row,) = rows_of(batches_of(HEADER, f"1|llama|FAILED|{TIMES}"))
    assert row["run_id"] is None


def test_gpus_over_several_models() -> None:
    tres = "cpu=8,gres/gpu:a100=2,gres/gpu:h100=4"
    (row,) = rows_of(batches_of("JobID|State|ReqTRES", f"1|PENDING|{tres}"))
    assert row["gpu_count"] == 6


FOLDER = "data/failures/facebookresearch+gcm"


def test_states_of_a_real_file(shared: Path) -> None:
    path = shared / FOLDER / "sample-sacct-output-midnight-edge-case.txt"
    batches = batches_of(*path.read_text().splitlines())
    assert Counter(r["state"] for r in rows_of(batches)) == {
        "FAILED": 259,
        "CANCELLED": 24,
        "COMPLETED": 18,
        "REQUEUED": 2,
        "OUT_OF_MEMORY": 2,
        "TIMEOUT": 1,
    }
    assert sum(batch.records for batch in batches) == 306 + 880
    assert not refused(batches)


def test_real_records_over_several_lines(shared: Path) -> None:
    one, joined = (
        rows_of(batches_of(*(shared / FOLDER / name).read_text().split("\n")))
        for name in (
            "sample-sacct-one-multiline.txt",
            "sample-sacct-one-multiline-expected.txt",
        )
    )
    assert [r | {"place": ""} for r in one] == [r | {"place": ""} for r in joined]
    assert one[0]["gpu_count"] == 1_024
    assert len(one[0]["hosts"].split(",")) == one[0]["node_count"] == 128


@pytest.mark.thorough
def test_real_files_are_read_or_refused_by_name(shared: Path) -> None:
    expected = {
        "sample-sacct-output-with-invalid-lines.txt": [("line 2", "field_count")]
    }
    for path in sorted((shared / FOLDER).glob("sample-sacct*.txt")):
        text = path.read_bytes()
        assert sacct.recognizes(Head(path.name, text[:65_536]))
        batches = batches_of(*text.decode(errors="replace").split("\n"))
        assert refused(batches) == expected.get(path.name, [])
