"""Traces of NCCL's example profiler: kernels inside collectives, known defects."""

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import SOURCES, Batch, Head, nccl_profiler
from ingest.tables import Collectives
from tests.examples import examples
from tests.ingest.readings import (
    held,
    read_lines,
    reading,
    records,
    refused,
    repairs,
    rows,
)

SOURCE = nccl_profiler.SOURCE
CLOCK = 1_756_135_989_724_672_000

#: A hash that no float holds: it is beyond 2**53, and odd.
HASH = 1_493_613_951_195_738_943


def event(name: str, cat: str, ph: str, ts: float, **args: Any) -> str:
    known: dict[str, Any] = {"name": name, "cat": cat, "ph": ph, "ts": ts}
    known |= {"id": 0, "pid": 7, "tid": 1}
    return json.dumps(known | ({"args": args} if args else {})) + ","


def begin(name: str = "AllReduce", ts: float = 100.5, **args: Any) -> str:
    known: dict[str, Any] = {"SeqNum": 3, "CommHash": HASH, "Rank": 0, "Count": 1024}
    known |= {"Datatype": "ncclFloat32", "Algorithm": "RING", "Protocol": "LL"}
    return event(name, "COLL", "b", ts, **known | args)


def end(name: str = "AllReduce", ts: float = 180.75) -> str:
    return event(name, "COLL", "e", ts)


def kernel(channel: int, start: int, stop: int) -> str:
    told = {"Channel": channel, "StartGpuClk": start, "StopGpuClk": stop}
    return event("KernelCh", "GPU", "b", 110.0, **told)


def read(*lines: str) -> list[Batch]:
    return held(read_lines(SOURCE, "[", *lines, "{}]"))


def one(*lines: str) -> dict[str, Any]:
    (row,) = rows(read(*lines), Collectives)
    return row


def test_times_are_those_of_the_kernels() -> None:
    row = one(
        begin(), kernel(0, CLOCK + 5, CLOCK + 90), kernel(1, CLOCK, CLOCK + 80), end()
    )
    assert (row["start_ns"], row["end_ns"]) == (CLOCK, CLOCK + 90)
    assert (row["duration_ns"], row["time_basis"]) == (90, "gpu")
    assert (row["group_id"], row["sequence"]) == (hex(HASH), 3)
    assert (row["kind"], row["bytes_total"]) == ("allreduce", 4096)
    assert (row["algorithm"], row["dtype"]) == ("RING_LL", "float32")
    assert (row["rank_in_group"], row["state"]) == (0, "completed")


def test_without_kernels_only_the_length_is_known() -> None:
    row = one(begin(), end())
    assert (row["start_ns"], row["end_ns"], row["duration_ns"]) == (None, None, 80_250)
    assert row["time_basis"] == "cpu"


@pytest.mark.parametrize("ts", [0.0, 500.0])
def test_times_that_are_none(ts: float) -> None:
    # zero is no time, and an end before the start tells no length
    row = one(begin(ts=ts), end())
    assert row["duration_ns"] is None


@pytest.mark.parametrize(("stop", "mended"), [(0, 0), (CLOCK - 1, 1)])
def test_a_stop_that_is_none(stop: int, mended: int) -> None:
    batches = read(begin(), kernel(0, CLOCK, stop), end())
    (row,) = rows(batches, Collectives)
    assert (row["start_ns"], row["end_ns"], row["duration_ns"]) == (CLOCK, None, None)
    assert repairs(batches) == mended


def test_kernels_belong_to_the_collective_that_they_are_printed_in() -> None:
    found = rows(
        read(
            *(begin(), kernel(0, CLOCK, CLOCK + 1), end(), kernel(0, 1, 2)),
            *(begin(SeqNum=4), kernel(0, CLOCK + 7, CLOCK + 9), end()),
        ),
        Collectives,
    )
    assert [(r["sequence"], r["duration_ns"]) for r in found] == [(3, 1), (4, 2)]


def test_sizes_that_need_the_number_of_ranks_are_unknown() -> None:
    assert one(begin("AllGather"), end("AllGather"))["bytes_total"] is None
    assert one(begin(Datatype="ncclOdd"), end())["bytes_total"] is None


def test_a_send_names_its_peer_in_the_group() -> None:
    told = {"CommHash": HASH, "Rank": 0, "Peer": 1, "Count": 8}
    row = one(
        event("Send", "P2P", "b", 1.5, Datatype="ncclBfloat16", **told),
        event("Send", "P2P", "e", 2.5),
    )
    assert (row["kind"], row["is_p2p"], row["peer_in_group"]) == ("send", True, 1)
    assert (row["bytes_total"], row["match_method"]) == (16, "order")


def test_bare_values_are_mended() -> None:
    bare = '{"name": "AllReduce API", "cat": "COLL_API", "ph": "b", "ts": 0.0, "args":'
    bare += ' {"count": 8, "datatype": ncclFloat32, "Stream": 0x55aa, "root": 0}},'
    batches = read(bare, begin(), end())
    assert (records(batches), repairs(batches), refused(batches)) == (3, 1, [])


def test_a_killed_process_leaves_its_last_collective_open() -> None:
    data = f"[\n{begin()}\n{kernel(0, CLOCK, 0)}\n{end()[:40]}".encode()
    batches = held(SOURCE.read(io.BytesIO(data), reading()))
    (row,) = rows(batches, Collectives)
    assert (row["state"], row["start_ns"]) == ("started", CLOCK)
    assert refused(batches) == [("line 4", "truncated_line")]


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("not json", "json"),
        (begin(CommHash=1.5), "type"),
        (begin(Rank="0"), "type"),
        (begin().replace("100.5", "NaN"), "type"),
    ],
)
def test_lines_that_are_refused(line: str, rule: str) -> None:
    batches = read(begin(), end(), line)
    assert refused(batches) == [("line 4", rule)]
    assert len(rows(batches, Collectives)) == 1


def test_a_collective_without_a_group_is_refused() -> None:
    batches = read(event("AllReduce", "COLL", "b", 1.0, Rank=0), end())
    assert refused(batches) == [("line 2", "group_id|required")]


def test_it_is_known_by_its_categories() -> None:
    head = Head("any", f"[\n{begin()}\n".encode())
    assert next(s for s in SOURCES if s.recognizes(head)) is SOURCE
    for other in ("[]", '[{"cat": "kernel", "ph": "X"}]', "{}", ""):
        assert not SOURCE.recognizes(Head("any", other.encode()))


@settings(max_examples=examples(50))
@given(st.lists(st.tuples(st.integers(0, 9999), st.integers(0, 255)), max_size=8))
def test_changed_bytes_are_rows_or_refusals(changes: list[tuple[int, int]]) -> None:
    lines = ["[", begin(), kernel(0, CLOCK, CLOCK + 9), end(), begin(), end(), "{}]"]
    data = bytearray("\n".join(lines).encode())
    for at, byte in changes:
        data[at % len(data)] = byte
    batches = held(SOURCE.read(io.BytesIO(bytes(data)), reading()))
    assert records(batches) >= len(rows(batches, Collectives))
