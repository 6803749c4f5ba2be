"""JSON of NCCL's RAS: polls, events, documents that follow each other."""

import io
import json
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import SOURCES, Batch, Head, nccl_ras
from ingest.tables import Failures, GroupStatus
from tests.examples import examples
from tests.ingest.readings import held, reading, records, refused, repairs, rows

SOURCE = nccl_ras.SOURCE


def rank(number: int, error: int = 0, **counts: int) -> dict[str, Any]:
    status = {"init_state": 0, "async_error": error, "finalize_called": False}
    known = {"rank": number, "host": "10.0.0.1", "pid": 70 + number}
    known |= {"cuda_dev": number, "nvml_dev": number, "status": status}
    return known | {"collective_counts": {"Reduce": 0, "AllReduce": 12} | counts}


def missing(number: int, *, silent: bool, dead: bool, **told: Any) -> dict[str, Any]:
    status = {"unresponsive": silent, "considered_dead": dead}
    known = {"rank": number, "host": "10.0.0.2", "pid": 70 + number, "cuda_dev": 1}
    return known | {"nvml_dev": 1, "status": status} | told


def group(**told: Any) -> dict[str, Any]:
    known = {"hash": "0xab", "secondary_hash": "0x1:0x2", "size": 4}
    known |= {"ranks_count": 2, "missing_ranks_count": 0}
    return known | {"ranks": [rank(0), rank(1)], "missing_ranks": []} | told


def poll(*groups: dict[str, Any], **told: Any) -> dict[str, Any]:
    known = {
        "nccl_version": "2.28.9",
        "cuda_runtime_version": 13000,
        "cuda_driver_version": 13000,
        "timestamp": "2026-03-02 09:10:00",
        "communicators_count": len(groups),
        "communicators": list(groups),
        "ras": {"collection_time_sec": 0.25, "timeouts_count": 0},
    }
    return known | told


def event(code: str = "PEER_DEAD", **told: Any) -> dict[str, Any]:
    peer = {"host": "10.0.0.2", "pid": 71, "cuda_devs": [1], "nvml_devs": [1]}
    known = {"timestamp": "2026-03-02 09:09:58", "group": "LIFECYCLE", "event": code}
    return known | {"peer": peer, "details": "declared dead"} | told


def read(*documents: dict[str, Any] | str, **told: Any) -> list[Batch]:
    """Read documents as NCCL prints them, over lines and one after the other."""
    texts = (d if isinstance(d, str) else json.dumps(d, indent=2) for d in documents)
    data = "".join(f"{text}\n" for text in texts).encode()
    return held(SOURCE.read(io.BytesIO(data), reading(**told)))


def statuses(*documents: dict[str, Any]) -> list[dict[str, Any]]:
    return rows(read(*documents), GroupStatus)


def test_counts_of_each_rank_and_kind() -> None:
    found = statuses(poll(group(ranks=[rank(0, AllGather=7), rank(1)])))
    told = [(r["rank_in_group"], r["kind"], r["last_enqueued"]) for r in found]

    # what no rank of the group uses is no row
    assert told == [
        (0, "allgather", 7),
        (0, "allreduce", 12),
        *((1, k, n) for k, n in REST),
    ]
    assert {r["group_id"] for r in found} == {"0xab"}
    assert {r["rank_state"] for r in found} == {"answered"}
    assert {(r["group_size"], r["host"]) for r in found} == {(4, "10.0.0.1")}


REST = (("allgather", None), ("allreduce", 12))


def test_kinds_are_told_by_their_whole_name() -> None:
    found = statuses(poll(group(ranks=[rank(0, AllGather=1, AllGatherV=2, Send=3)])))
    kinds = [r["kind"] for r in found]
    assert kinds == ["allgather", "allgatherv", "allreduce", "send"]


def test_a_rank_that_has_launched_nothing() -> None:
    (only,) = statuses(poll(group(ranks=[rank(0, AllReduce=0)])))
    assert (only["kind"], only["last_enqueued"]) == (None, 0)


def test_ranks_that_did_not_answer() -> None:
    lost = [
        missing(1, silent=False, dead=False),
        missing(2, silent=True, dead=False),
        missing(3, silent=True, dead=True),
    ]
    batches = read(poll(group(ranks=[], missing_ranks=lost)))
    told = [(r["rank_in_group"], r["rank_state"]) for r in rows(batches, GroupStatus)]
    assert told == [(1, "missing"), (2, "unresponsive"), (3, "dead")]

    # a process is lost where it does not respond, not where it left the group
    failures = rows(batches, Failures)
    codes = [(r["code"], r["severity"], r["host"]) for r in failures]
    assert codes == [
        ("ras_unresponsive", "warning", "10.0.0.2"),
        ("ras_dead", "error", "10.0.0.2"),
    ]
    assert failures[1]["message"] == "process 73 on 10.0.0.2 with CUDA device 1"
    assert {r["source"] for r in failures} == {"application"}


def test_a_process_of_many_groups_is_lost_once() -> None:
    lost = [missing(3, silent=True, dead=True)]
    two = [group(missing_ranks=lost), group(hash="0xcd", missing_ranks=lost)]
    batches = read(poll(*two))
    assert len(rows(batches, Failures)) == 1


def test_a_process_stays_lost_until_it_is_seen_again() -> None:
    lost = poll(group(missing_ranks=[missing(3, silent=True, dead=True)]))
    later = lost | {"timestamp": "2026-03-02 09:10:10"}
    assert len(rows(read(lost, later), Failures)) == 1
    assert len(rows(read(lost, poll(group()), later), Failures)) == 2


def test_an_unknown_host_is_none() -> None:
    lost = [missing(3, silent=True, dead=True, host="unknown", pid=-1)]
    batches = read(poll(group(ranks=[], missing_ranks=lost)))
    (failure,) = rows(batches, Failures)
    assert (failure["host"], failure["message"]) == (None, "process with CUDA device 1")


@pytest.mark.parametrize(
    ("error", "name"),
    [(0, None), (7, None), (6, "remote process error"), (9, "error 9")],
)
def test_errors_of_ranks(error: int, name: str | None) -> None:
    found = rows(read(poll(group(ranks=[rank(0, error)]))), Failures)
    assert [r["name"] for r in found] == ([name] if name else [])


def test_groups_of_one_hash_are_told_apart() -> None:
    found = statuses(poll(group(), group(secondary_hash="0x3:0x4")))
    assert {r["group_id"] for r in found} == {"0xab:0x1:0x2", "0xab:0x3:0x4"}


def test_stamps_are_local() -> None:
    denver = ZoneInfo("America/Denver")
    batches = read(poll(group()), zone=denver, zone_basis="option")
    stamp = datetime(2026, 3, 2, 9, 10, tzinfo=denver)
    found = rows(batches, GroupStatus)
    assert {r["time_ns"] for r in found} == {int(stamp.timestamp()) * 10**9}
    assert {r["time_quality"] for r in found} == {"exact"}
    assert any(batch.zone_used for batch in batches)


@pytest.mark.parametrize(
    "stamp", [None, "", "soon", 7, "2026-03-08 02:30:00", "9" * 99]
)
def test_stamps_that_are_none(stamp: Any) -> None:
    # half past two of that night was skipped in Denver
    lost = group(missing_ranks=[missing(3, silent=True, dead=True)])
    told = poll(lost, timestamp=stamp)
    batches = read(told, zone=ZoneInfo("America/Denver"))
    assert {r["time_ns"] for r in rows(batches, GroupStatus)} == {None}
    (failure,) = rows(batches, Failures)
    assert (failure["time_ns"], failure["time_quality"]) == (None, "unknown")


def test_polls_follow_each_other() -> None:
    # GIVEN two polls over lines, one compact, as jq -c leaves it, and one event
    compact = json.dumps(poll(group()))
    batches = read(poll(group()), poll(group()), compact, event())
    found = rows(batches, GroupStatus)
    assert len({r["dump_id"] for r in found}) == 3
    assert len(found) == 6
    assert [r["code"] for r in rows(batches, Failures)] == ["PEER_DEAD"]


def test_events_that_lose_a_process() -> None:
    batches = read(
        event(),
        event("PEER_UNRESPONSIVE"),
        event("PEER_RECOVERED"),
        event("KEEPALIVE", group="TRACE"),
        event(peer={"addr": "10.0.0.9<4711>"}),
        event(peer=None),
    )
    assert records(batches) == 6
    told = [(r["code"], r["severity"], r["host"]) for r in rows(batches, Failures)]
    assert told == [
        ("PEER_DEAD", "error", "10.0.0.2"),
        ("PEER_UNRESPONSIVE", "warning", "10.0.0.2"),
        ("PEER_DEAD", "error", "10.0.0.9<4711>"),
        ("PEER_DEAD", "error", None),
    ]


def test_equal_events_are_numbered() -> None:
    batches = read(json.dumps(event()), json.dumps(event()))
    assert [r["occurrence"] for r in rows(batches, Failures)] == [0, 1]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (json.dumps(poll(group()), indent=2)[:-3], "truncated"),
        ('{"communicators": [1,]}', "json"),
        ('{"communicators": 7}', "communicators|required"),
        ("{}", "communicators|required"),
        ('"rank": 3,', "json"),
        ('{"communicators": [NaN]}', "json"),
    ],
)
def test_documents_that_are_refused(text: str, rule: str) -> None:
    whole = poll(group())
    batches = read(whole, text, whole)
    assert [found for _, found in refused(batches)] == [rule]
    assert len(rows(batches, GroupStatus)) == 4


@pytest.mark.parametrize(
    ("told", "rule"),
    [
        ({"hash": None}, "group_id|required"),
        ({"ranks": [rank(0) | {"rank": "0"}, rank(1)]}, None),
        ({"ranks": [rank(0) | {"rank": -1}, rank(1)]}, "rank|required"),
        ({"ranks": [rank(0) | {"rank": 2**40}, rank(1)]}, "rank|required"),
        ({"ranks": 7, "missing_ranks": [3, None]}, None),
    ],
)
def test_ranks_that_are_refused(told: dict[str, Any], rule: str | None) -> None:
    batches = read(poll(group(**told)))
    assert [found for _, found in refused(batches)] == ([rule] if rule else [])


def test_bytes_that_are_no_text_are_repairs() -> None:
    data = json.dumps(event(details="x?")).encode().replace(b"x?", b"x\xff") + b"\n"
    batches = held(SOURCE.read(io.BytesIO(data), reading()))
    assert repairs(batches) == 1
    assert rows(batches, Failures)[0]["message"].endswith("x\ufffd")


def test_it_is_known_by_its_keys() -> None:
    for document in (poll(group()), event()):
        for text in (json.dumps(document), json.dumps(document, indent=2)):
            head = Head("any", text.encode())
            assert next(s for s in SOURCES if s.recognizes(head)) is SOURCE
    for other in ("", "{}", '{"communicators": []}', '{"event": "PEER_DEAD"}'):
        assert not SOURCE.recognizes(Head("any", other.encode()))


@settings(max_examples=examples(50))
@given(st.lists(st.tuples(st.integers(0, 9999), st.integers(0, 255)), max_size=8))
def test_changed_bytes_are_rows_or_refusals(changes: list[tuple[int, int]]) -> None:
    lost = group(missing_ranks=[missing(3, silent=True, dead=True)])
    texts = [json.dumps(poll(lost), indent=2), json.dumps(event())]
    data = bytearray("\n".join(texts).encode())
    for at, byte in changes:
        data[at % len(data)] = byte
    batches = held(SOURCE.read(io.BytesIO(bytes(data)), reading()))
    seen = sum(len(rows(batches, table)) for table in (GroupStatus, Failures))
    assert records(batches) >= seen + len(refused(batches))


def test_batches_do_not_depend_on_how_many_documents_they_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    documents = [poll(group()), event(), event(timestamp="no"), poll(), event()]
    whole = read(*documents)
    monkeypatch.setattr(nccl_ras, "BATCH_RECORDS", 1)
    each = read(*documents)
    assert len(whole) == 1
    assert len(each) > len(documents)
    for table in (GroupStatus, Failures):
        assert rows(whole, table) == rows(each, table)
    assert records(whole) == records(each)


def test_events_in_an_hour_that_the_zone_skips_are_told_apart() -> None:
    zone = ZoneInfo("Europe/Berlin")
    stamps = ("2026-03-29 02:10:00", "2026-03-29 02:20:00")
    batches = read(*(event(timestamp=stamp) for stamp in stamps), zone=zone)
    found = [(r["time_ns"], r["occurrence"]) for r in rows(batches, Failures)]
    assert found == [(None, 0), (None, 1)]
