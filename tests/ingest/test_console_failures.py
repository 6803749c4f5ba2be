"""Failures in console logs: what is a cause, what a symptom, and when it was."""

from datetime import UTC, datetime

import polars as pl
import pytest

from analysis._failure_roles import code_role
from ingest.sources import Batch, console
from ingest.tables import Collectives, Failures
from ingest.times import parse_zone
from tests.ingest.readings import held, read_lines, rows

S = 10**9

WATCHDOG = (
    "[rank5]:[E1218 20:27:21.426415540 ProcessGroupNCCL.cpp:629] [Rank 5] Watchdog"
    " caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=BROADCAST,"
    " NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600081 milliseconds before"
    " timing out."
)
BLOCK = """\
Failures:
[1]:
  time      : 2026-03-02_10:00:01
  host      : node-01
  rank      : 1 (local_rank: 1)
  exitcode  : -15 (pid: 124)
  error_file: <N/A>
  traceback : Signal 15 (SIGTERM) received by PID 124
Root Cause (first observed failure):
[0]:
  time      : 2026-03-02_10:00:00
  host      : node-02
  rank      : 8 (local_rank: 0)
  exitcode  : 1 (pid: 123)
  error_file: <N/A>
  traceback : Traceback (most recent call last):
    raise RuntimeError
"""


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * S


def read(*lines: str, **told: object) -> list[Batch]:
    return held(read_lines(console.SOURCE, *lines, **told))


def failures(*lines: str, **told: object) -> list[dict[str, object]]:
    return rows(read(*lines, **told), Failures)


def role(failure: dict[str, object]) -> str:
    schema = {"source": pl.String, "code": pl.String, "component": pl.String}
    frame = pl.DataFrame([failure], schema=schema)
    return str(frame.select(code_role()).item())


def test_a_watchdog_waited_in_vain_and_names_no_cause() -> None:
    (found,) = failures(WATCHDOG, modified_ns=at("2026-01-02 00:00:00"))
    assert (found["code"], found["rank"], found["name"]) == (
        "watchdog_collective_timeout",
        5,
        "broadcast",
    )
    assert found["time_ns"] == at("2025-12-18 20:27:21") + 426_415_540
    assert found["time_quality"] == "year_inferred"
    assert role(found) == "symptom"


def test_the_year_of_the_run_card_is_taken() -> None:
    (found,) = failures(WATCHDOG, year=2023, zone_basis="option")
    assert found["time_ns"] == at("2023-12-18 20:27:21") + 426_415_540
    assert found["time_quality"] == "exact"


@pytest.mark.parametrize(
    ("line", "code", "component"),
    [
        (
            "[rank3]: RuntimeError: CUDA error: uncorrectable ECC error encountered",
            "cuda_uncorrectable_ecc",
            "gpu_memory",
        ),
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
            "cuda_out_of_memory",
            "software",
        ),
        ("CUDA error: device-side assert triggered", "cuda_error", "software"),
        (
            (
                "[E1218 20:27:21.426 ProcessGroup.cpp:9] [Rank 0] NCCL watchdog thread"
                " terminated with exception: CUDA error: uncorrectable ECC error"
            ),
            "cuda_uncorrectable_ecc",
            "gpu_memory",
        ),
        (
            (
                "[E1218 20:27:21.426 ProcessGroupNCCL.cpp:9] [Rank 0] Heartbeat monitor"
                " timed out! Process will be terminated"
            ),
            "watchdog_heartbeat_timeout",
            None,
        ),
    ],
)
def test_errors_of_cuda_and_of_the_watchdog(
    line: str, code: str, component: str | None
) -> None:
    (found,) = failures(line)
    assert (found["code"], found["component"]) == (code, component)
    assert role(found) == ("symptom" if code.startswith("watchdog") else "root")


@pytest.mark.parametrize(
    ("text", "code", "severity"),
    [
        ("NET/IB : Got completion with status=12", "nccl_network_error", "error"),
        ("Cuda failure 'unspecified launch failure'", "nccl_cuda_failure", "error"),
        (
            "Cuda failure 214 'uncorrectable ECC error encountered'",
            "nccl_uncorrectable_ecc",
            "fatal",
        ),
        ("Call to connect returned Connection refused", "nccl_peer_lost", "error"),
        ("lib wrapper not initialized.", "nccl_warn", "info"),
    ],
)
def test_warnings_of_nccl(text: str, code: str, severity: str) -> None:
    line = f"node-07:2914:2990 [3] misc/x.cc:185 (wrap_x) NCCL WARN {text}"
    (found,) = failures(line)
    assert (found["host"], found["code"], found["severity"]) == (
        "node-07",
        code,
        severity,
    )
    assert (found["time_ns"], found["time_quality"]) == (None, "unknown")


def test_a_warning_may_have_a_stamp() -> None:
    line = "[2026-09-11 23:05:42] n:1:2 [0] a.cc:1 NCCL WARN lib wrapper"
    (found,) = failures(line)
    assert found["time_ns"] == at("2026-09-11 23:05:42")
    assert found["time_quality"] == "zone_assumed"


def test_the_block_of_torchrun_tells_the_first_to_fail() -> None:
    zone = {"zone": parse_zone("+01:00"), "zone_basis": "option"}
    killed, first = failures(*BLOCK.splitlines(), **zone)
    assert (first["host"], first["rank"], first["code"]) == (
        "node-02",
        8,
        "worker_exit_1",
    )
    assert first["time_ns"] == at("2026-03-02 09:00:00")
    assert (first["severity"], killed["severity"]) == ("fatal", "info")
    assert (killed["code"], killed["name"]) == ("worker_exit_-15", "SIGTERM")
    # an exit code is no cause
    assert role(first) == "symptom"


def test_a_block_that_is_cut_off_loses_only_what_is_not_there() -> None:
    for count in range(len(BLOCK.splitlines())):
        assert len(failures(*BLOCK.splitlines()[:count])) <= 2


def test_calls_of_nccl_are_joined_with_their_communicator() -> None:
    head = "node-01:12:34 [0] NCCL INFO"
    tail = "stream 0x5582"
    buffers = "sendbuff 0x7f00 recvbuff 0x7f00"
    found = rows(
        read(
            f"{head} comm 0x5581 rank 3 nranks 8 cudaDev 0 nvmlDev 0 busId 19000 commId"
            " 0x2fe8 - Init COMPLETE",
            f"{head} AllReduce: opCount 2a {buffers} count 1024 datatype 7 op 0 root 0"
            f" comm 0x5581 [nranks=8] {tail}",
            f"{head} AllGather: opCount 2b {buffers} count 10 datatype 9 op 0 root 0"
            f" comm 0x5599 [nranks=4] {tail}",
        ),
        Collectives,
    )
    names = ("kind", "group_id", "rank_in_group", "sequence", "bytes_total", "dtype")
    assert [tuple(row[n] for n in names) for row in found] == [
        ("allreduce", "comm 0x2fe8", 3, 0x2A, 4_096, "float32"),
        ("allgather", "node-01:12 comm 0x5599", None, 0x2B, 80, "bfloat16"),
    ]
    assert {row["state"] for row in found} == {"scheduled"}
    assert {row.get("start_ns") for row in found} == {None}
