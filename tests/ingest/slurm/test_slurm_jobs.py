"""Jobs of squeue and scontrol: identities, forecasts, GPUs, what is not told."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ingest.errors import UnreadableFileError
from ingest.sources import Source, scontrol, squeue
from ingest.sources._slurm import sacct_hosts
from ingest.sources._source import Batch, Head
from ingest.tables import Jobs
from ingest.times import SECOND_NS
from tests.ingest.readings import held, read_lines, refused, rows

AT = "2026-03-01T22:46:00"
AT_NS = int(datetime(2026, 3, 1, 22, 46, tzinfo=UTC).timestamp()) * SECOND_NS
LATER = "2026-03-02T22:46:00"


def batches_of(source: Source, *lines: str) -> list[Batch]:
    return held(read_lines(source, *lines))


def of_squeue(*lines: str) -> list[dict[str, Any]]:
    return rows(batches_of(squeue.SOURCE, *lines), Jobs)


def of_scontrol(*lines: str) -> list[dict[str, Any]]:
    return rows(batches_of(scontrol.SOURCE, *lines), Jobs)


def test_a_listing_of_squeue() -> None:
    told = of_squeue(
        "JOBID |NAME|ST|START_TIME|END_TIME|NODES|NODELIST(REASON)|TRES_PER_NODE",
        f"48    |a|R |{AT}|{LATER}|2|n[1-2]|gres/gpu:h100:8",
        f"49_[2-5%1]|b|PD|{LATER}|{LATER}|1|(Priority)|gpu:4",
        f"50|c|CG|{AT}|{LATER}|1|n3|N/A",
    )
    assert [(r["job_id"], r["state"], r["gpu_count"], r["hosts"]) for r in told] == [
        ("48", "RUNNING", 16, "n1,n2"),
        ("49_[2-5%1]", "PENDING", 4, None),
        ("50", "COMPLETING", None, "n3"),
    ]
    day = 86_400 * SECOND_NS
    assert [(r["start_ns"], r["end_ns"]) for r in told] == [
        (AT_NS, None),
        (None, None),
        (AT_NS, AT_NS + day),
    ]
    assert told[1]["reason"] == "Priority"


def test_clusters_of_squeue() -> None:
    header = "JOBID|STATE|START_TIME"
    line = f"101|RUNNING|{AT}"
    lines = ("CLUSTER: east", header, line, "CLUSTER: west", header, line)
    told = of_squeue(*lines)
    assert [row["scheduler_cluster"] for row in told] == ["east", "west"]
    assert refused(batches_of(squeue.SOURCE, *lines)) == []
    assert squeue.recognizes(Head("x", "\n".join(lines).encode()))
    (row,) = of_squeue(f"{header}|CLUSTER", f"{line}|north")
    assert row["scheduler_cluster"] == "north"


def test_a_job_that_runs_needs_its_start() -> None:
    batches = batches_of(
        squeue.SOURCE, "JOBID|STATE|START_TIME", "1|RUNNING|N/A", "2|PENDING|N/A", "3|R"
    )
    assert [row["job_id"] for row in rows(batches, Jobs)] == ["2"]
    assert sorted(refused(batches)) == [
        ("line 2", "start_ns|required"),
        ("line 4", "cell_count"),
    ]


def test_the_default_of_squeue_says_how_to_write_more() -> None:
    header = "  JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)"
    assert squeue.recognizes(Head("x", header.encode()))
    with pytest.raises(UnreadableFileError, match="START_TIME among them"):
        batches_of(squeue.SOURCE, header, "1 gpu a b R 1:00 1 n1")


@pytest.mark.parametrize("delimiter", ["|", "|#", ";", " | "])
def test_delimiters_of_squeue(delimiter: str) -> None:
    cells = (("JOBID", "STATE", "START_TIME"), ("7", "RUNNING", AT))
    (row,) = of_squeue(*(delimiter.join(line) for line in cells))
    assert (row["job_id"], row["start_ns"]) == ("7", AT_NS)


def job(*parts: str) -> list[str]:
    return ["JobId=48 JobName=my job", "   JobState=RUNNING Reason=None", *parts]


def test_a_job_of_scontrol() -> None:
    (row,) = of_scontrol(
        *job(
            "   Restarts=2 ExitCode=1:9",
            f"   SubmitTime={AT} EligibleTime=Unknown",
            f"   StartTime={AT} EndTime={LATER} Deadline=N/A",
            "   ReqNodeList=(null) NodeList=n[1-2] QOS=high Account=team",
            "   NumNodes=2 NumCPUs=4 TRES=cpu=4,node=2,gres/gpu=16",
        )
    )
    assert (row["job_id"], row["job_name"], row["restart_count"]) == ("48", "my job", 2)
    assert (row["exit_code"], row["exit_signal"], row["node_count"]) == (1, 9, 2)
    assert (row["start_ns"], row["end_ns"], row["submit_ns"]) == (AT_NS, None, AT_NS)
    assert (row["hosts"], row["gpu_count"], row["eligible_ns"]) == ("n1,n2", 16, None)


@pytest.mark.parametrize(
    ("keys", "job_id"),
    [
        ("JobId=50 ArrayJobId=48 ArrayTaskId=2", "48_2"),
        ("JobId=50 ArrayJobId=48 ArrayTaskId=3-9%2", "48_[3-9%2]"),
        ("JobId=50 HetJobId=49 HetJobOffset=1", "49+1"),
        ("JobId=50 PackJobId=49 PackJobOffset=0", "49+0"),
        ("JobId=48(50)", "48"),
    ],
)
def test_identities_of_scontrol(keys: str, job_id: str) -> None:
    (row,) = of_scontrol(f"{keys} JobName=a JobState=PENDING StartTime={AT}")
    assert (row["job_id"], row["start_ns"]) == (job_id, None)


def test_records_go_on_over_blocks_and_begin_anywhere() -> None:
    told = of_scontrol("slurm_load_jobs: retry", *job(f"StartTime={AT}"), "", *job())
    assert [row["start_ns"] for row in told] == [AT_NS, None]


def test_lists_of_a_block_share_a_number_of_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sacct_hosts, "BLOCK_NAMES", 10)
    lists = ("n[1-6]", "m[1-6]", "n[1-6]", "k[1-4]", "j")
    lines = (f"{i}|R|{AT}|{text}" for i, text in enumerate(lists))
    batches = batches_of(squeue.SOURCE, "JOBID|ST|START_TIME|NODELIST", *lines)
    assert [row["job_id"] for row in rows(batches, Jobs)] == ["0", "2", "3"]
    assert refused(batches) == [("line 3", "node_list"), ("line 6", "node_list")]
