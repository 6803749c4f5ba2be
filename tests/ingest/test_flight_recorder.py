"""Dumps of the Flight Recorder: entries, groups, the rank, damaged and hostile ones."""

import io
import json
import os
import pickle
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import SOURCES, Batch, Head, flight_recorder
from ingest.sources._flight import document as flight_document
from ingest.sources._flight.document import version_of
from ingest.tables import Collectives, GroupStatus
from tests.examples import examples
from tests.ingest.readings import held, reading, records, refused, repairs, rows

NS = 1_758_610_505_592_849_034


def entry(**told: Any) -> dict[str, Any]:
    """Return an entry of version 2.9, as PyTorch writes it."""
    known = {
        "record_id": 1,
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "thread_name": "python3",
        "thread_id": "1",
        "collective_seq_id": 26,
        "p2p_seq_id": 0,
        "op_id": 26,
        "profiling_name": "nccl:all_reduce",
        "time_created_ns": NS,
        "input_sizes": [[1024, 2]],
        "input_dtypes": ["BFloat16"],
        "output_sizes": [[1024, 2]],
        "output_dtypes": ["BFloat16"],
        "state": "scheduled",
        "time_discovered_started_ns": None,
        "time_discovered_completed_ns": None,
        "retired": False,
        "timeout_ms": 180000,
        "is_p2p": False,
    }
    return known | told


def group(name: str, purpose: str, ranks: list[int]) -> dict[str, Any]:
    return {"name": name, "desc": purpose, "ranks": str(ranks)}


def status(enqueued: int, started: int, completed: int) -> dict[str, int]:
    return {
        "last_enqueued_collective": enqueued,
        "last_started_collective": started,
        "last_completed_collective": completed,
    }


#: Rank 2 of four: tensor pairs 0-1 and 2-3, pipeline pairs 0-2 and 1-3.
GROUPS = {
    "0": group("0", "default_pg", [0, 1, 2, 3]),
    "2": group("2", "TENSOR_MODEL_PARALLEL_GROUP", [2, 3]),
    "3": group("3", "PIPELINE_MODEL_PARALLEL_GROUP", [0, 2]),
}


def dump(*entries: dict[str, Any], **told: Any) -> dict[str, Any]:
    known = {
        "version": "2.9",
        "pg_config": GROUPS,
        "nccl_version": "2.27.3",
        "pg_status": {str(n): status(26 + n, -1, 25) for n in range(3)},
        "entries": list(entries),
    }
    return known | told


def read(document: object, name: str = "_dump_2", **told: Any) -> list[Batch]:
    data = document if isinstance(document, bytes) else pickle.dumps(document, 2)
    source = flight_recorder.SOURCE
    return held(source.read(io.BytesIO(data), reading(name=name, **told)))


def collective(*entries: dict[str, Any], **told: Any) -> dict[str, Any]:
    (row,) = rows(read(dump(*entries, **told)), Collectives)
    return row


def as_json(document: dict[str, Any]) -> bytes:
    """Return a dump as JSON mode writes it: 0 for unknown times, numbers as texts."""
    text = json.loads(json.dumps(document))
    for one in text["entries"]:
        for name in one:
            if name.startswith("time_discovered"):
                one[name] = one[name] or 0
    for one in text["pg_status"].values():
        one.update({name: str(number) for name, number in one.items()})
    return json.dumps(text, sort_keys=True).encode()


def test_an_entry_that_has_not_started_has_no_start() -> None:
    row = collective(entry())
    assert row["enqueue_ns"] == NS
    assert [row[n] for n in ("start_ns", "end_ns", "duration_ns")] == [None] * 3
    assert (row["state"], row["time_basis"]) == ("scheduled", "cpu")
    assert (row["rank"], row["sequence"], row["p2p_sequence"]) == (2, 26, None)
    assert (row["group_id"], row["group_size"]) == ("0:[0,1,2,3]", 4)
    assert (row["kind"], row["parallel_kind"]) == ("allreduce", "world")


def test_times_are_those_of_the_watchdog_and_the_duration_that_of_the_gpu() -> None:
    row = collective(
        entry(
            state="completed",
            time_discovered_started_ns=NS + 10,
            time_discovered_completed_ns=NS + 999_999_999,
            duration_ms=0.412375,
        )
    )
    assert (row["start_ns"], row["end_ns"]) == (NS + 10, NS + 999_999_999)
    assert row["duration_ns"] == 412_375


@pytest.mark.parametrize(
    ("name", "kind", "inward", "outward", "size"),
    [
        ("nccl:all_reduce", "allreduce", [[1024]], [[1024]], 2048),
        ("nccl:_all_gather_base", "allgather", [[1024]], [[4096]], 8192),
        ("nccl:ALLGATHER_coalesced", "allgather", [[8], [8]], [[32], [32]], 128),
        ("nccl:_reduce_scatter_base", "reducescatter", [[4096]], [[1024]], 8192),
        ("nccl:all_to_all", "alltoall", [[4096, 2]], [[4099, 2]], 16384),
        ("nccl:broadcast", "broadcast", [[3]], [[3]], 6),
        ("nccl:barrier", "barrier", [[1]], [[1]], None),
        ("nccl:coalesced", "coalesced", [], [], None),
        ("nccl:gather", "gather", [[8]], [], 64),
    ],
)
def test_sizes_are_those_of_the_whole_message(
    name: str, kind: str, inward: list[Any], outward: list[Any], size: int | None
) -> None:
    row = collective(
        entry(profiling_name=name, input_sizes=inward, output_sizes=outward)
    )
    assert (row["kind"], row["bytes_total"]) == (kind, size)


def test_sizes_of_an_all_to_all_count_from_version_2_4_on() -> None:
    all_to_all = entry(profiling_name="nccl:all_to_all")
    sizes = {v: collective(all_to_all, version=v)["bytes_total"] for v in VERSIONS}
    assert sizes == {"1.1": None, "2.3": None, "2.4": 4096, "2.10": 4096, "next": 4096}


VERSIONS = ("1.1", "2.3", "2.4", "2.10", "next")


def test_versions_are_numbers() -> None:
    assert version_of("2.10") > version_of("2.9") > version_of("2.4")
    assert version_of("next") == version_of(None) == ()


def test_peers_are_global_ranks() -> None:
    # GIVEN a send by position in a group of ranks 0 and 2, seen by rank 2
    pair = {"process_group": ("3", "PIPELINE_MODEL_PARALLEL_GROUP"), "is_p2p": True}
    pair |= {"collective_seq_id": 5, "p2p_seq_id": 11981, "pg_id": 2}
    sent = collective(entry(profiling_name="nccl:send 1->0", **pair))
    got = collective(entry(profiling_name="nccl:recv 1<-0", **pair))

    # THEN the peer is rank 0, and the counter is that of pairs
    assert (sent["kind"], sent["peer_rank"], sent["p2p_sequence"]) == ("send", 0, 11981)
    assert (got["kind"], got["peer_rank"], got["sequence"]) == ("recv", 0, None)
    assert sent["group_id"] == "3:[0,2]"
    assert sent["is_p2p"]
    assert sent["parallel_kind"] == "pp"


def test_json_is_read_as_the_pickle_is() -> None:
    document = dump(entry(), entry(state="started", time_discovered_started_ns=NS + 1))
    left, right = read(document), read(as_json(document))
    for table in (Collectives, GroupStatus):
        assert rows(left, table) == rows(right, table)


def test_json_without_entries_is_a_dump_of_none() -> None:
    document = dump()
    del document["entries"]
    batches = read(json.dumps(document).encode())
    assert not rows(batches, Collectives)
    assert {row["entries_seen"] for row in rows(batches, GroupStatus)} == {0}


def test_status_of_each_group() -> None:
    # GIVEN groups 0, 1 and 2 of the rank; only entries of group 0 and 2 are left
    tensor = {"pg_id": 1, "process_group": ("2", "TENSOR_MODEL_PARALLEL_GROUP")}
    told = {"0": status(26, -1, 25), "1": status(9, 8, 7), "2": status(4, 4, -1)}
    later = entry(time_created_ns=NS + 5, **tensor)
    found = rows(read(dump(entry(), later, later, pg_status=told)), GroupStatus)

    # THEN the third is told by the order of names, and has no entry
    assert [
        (
            row["group_id"],
            row["last_enqueued"],
            row["last_started"],
            row["last_completed"],
            row["entries_seen"],
        )
        for row in found
    ] == [
        ("0:[0,1,2,3]", 26, None, 25, 1),
        ("2:[2,3]", 9, 8, 7, 2),
        ("3:[0,2]", 4, 4, -1, 0),
    ]
    assert {row["time_ns"] for row in found} == {NS + 5}
    assert {row["rank"] for row in found} == {2}


def test_a_number_without_a_group_is_refused() -> None:
    # GIVEN names that are no numbers, so that their order tells nothing
    named = {name: group(name, "x", [2, 3]) for name in ("a", "b", "c")}
    told = {str(number): status(1, 1, 1) for number in range(3)}
    batches = read(dump(pg_config=named, pg_status=told))

    # THEN no group is guessed
    assert not rows(batches, GroupStatus)
    places = [f"group '{number}'" for number in range(3)]
    assert refused(batches) == [(place, "group_id|required") for place in places]


def test_numbers_between_those_with_an_entry_are_told_by_order() -> None:
    # GIVEN groups 0, 2, 3 and 9, the last never used: three numbers, one has an entry
    four = GROUPS | {"9": group("9", "EMBEDDING_GROUP", [1, 2])}
    third = entry(pg_id=5, process_group=("3", "PIPELINE_MODEL_PARALLEL_GROUP"))
    told = {str(number): status(number, 1, 1) for number in (0, 1, 5)}
    found = rows(read(dump(third, pg_config=four, pg_status=told)), GroupStatus)

    # THEN two are left before it, and two names
    names = {row["last_enqueued"]: row["group_id"] for row in found}
    assert names == {0: "0:[0,1,2,3]", 1: "2:[2,3]", 5: "3:[0,2]"}


def test_the_last_number_left_is_of_the_last_group_left() -> None:
    named = {name: group(name, "x", [2, 3]) for name in ("a", "b")}
    told = {str(number): status(number, 1, 1) for number in range(2)}
    one = entry(process_group=("b", "x"), pg_id=0)
    found = rows(read(dump(one, pg_config=named, pg_status=told)), GroupStatus)
    assert [(r["group_id"], r["last_enqueued"]) for r in found] == [
        ("b:[2,3]", 0),
        ("a:[2,3]", 1),
    ]


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("_dump_3", 3),
        ("nccl_trace_rank_0", 0),
        ("comm_lib_trace_rank_1.json", 1),
        ("trace-2.pkl", 2),
    ],
)
def test_the_name_decides_where_the_groups_leave_it_open(name: str, rank: int) -> None:
    only = {"0": group("0", "default_pg", [0, 1, 2, 3])}
    batches = read(dump(entry(), pg_config=only), name)
    assert {row["rank"] for row in rows(batches, Collectives)} == {rank}


def test_the_content_goes_before_the_name() -> None:
    # rank 2 alone is in all groups
    assert rows(read(dump(entry()), "copy_of_7"), Collectives)[0]["rank"] == 2


@pytest.mark.parametrize("name", ["dump", "_dump_9", "rank_3_of_16.old"])
def test_a_rank_that_nothing_tells_is_refused(name: str) -> None:
    only = {"0": group("0", "default_pg", [0, 1, 2, 3])}
    batches = read(dump(entry(), pg_config=only), name)
    assert refused(batches) == [("file", "rank|required")]
    (refusal,) = [r for batch in batches for r in batch.refused]
    assert "nccl_trace_rank_3" in (refusal.hint or "")


def test_a_send_tells_its_rank() -> None:
    only = {"0": group("0", "default_pg", [4, 5, 6, 7])}
    pair = entry(profiling_name="nccl:recv 3<-1", is_p2p=True)
    batches = read(dump(pair, pg_config=only), "any")
    (row,) = rows(batches, Collectives)
    assert (row["rank"], row["peer_rank"]) == (7, 5)


def test_a_large_group_is_known_as_traces_print_it() -> None:
    ranks = list(range(100, 164))
    only = {"0": group("0", "default_pg", ranks)}
    (row,) = rows(read(dump(entry(), pg_config=only), "_dump_101"), Collectives)
    printed = ",".join(map(str, range(100, 130)))
    assert row["group_id"] == f"0:[{printed},...]:x64"
    assert row["group_size"] == 64


def test_a_dump_without_groups_is_of_unknown_members() -> None:
    # GIVEN version 1: no pg_config, one number
    old = entry()
    old["seq_id"] = old.pop("collective_seq_id")
    batches = read({"version": "1.1", "entries": [old]}, "nccl_trace_rank_5")
    (row,) = rows(batches, Collectives)
    assert (row["group_id"], row["group_size"], row["rank"]) == ("0:", None, 5)
    assert row["sequence"] == 26


@pytest.mark.parametrize(
    ("told", "rule"),
    [
        ({"process_group": None}, "group_id|required"),
        ({"profiling_name": 7}, "kind|required"),
        ({"state": "finished"}, "state|value"),
        ({"state": ["scheduled"]}, "state|value"),
    ],
)
def test_entries_that_are_no_collective(told: dict[str, Any], rule: str) -> None:
    batches = read(dump(entry(), entry(**told)))
    assert refused(batches) == [("entry 1", rule)]
    assert len(rows(batches, Collectives)) == 1


@pytest.mark.parametrize(
    "told",
    [
        {"input_sizes": "wide", "output_sizes": 3},
        {"input_sizes": [["4"], [-1]], "output_sizes": [[None]]},
        {"input_dtypes": ["Odd"], "output_dtypes": []},
        {"input_sizes": [[2**40, 2**40]], "output_sizes": [[2**62, 64]]},
    ],
)
def test_sizes_that_cannot_be_told_are_unknown(told: dict[str, Any]) -> None:
    assert collective(entry(**told))["bytes_total"] is None


@pytest.mark.parametrize("time", [2**70 - 2**69, -5, 0, 1.5, "soon", True, [NS]])
def test_times_that_are_none_are_unknown(time: Any) -> None:
    document = dump(entry(time_created_ns=time, duration_ms="nan"))
    data = json.dumps(document).encode()
    (row,) = rows(read(data), Collectives)
    assert (row["enqueue_ns"], row["duration_ns"]) == (None, None)


@pytest.mark.parametrize("protocol", range(6))
def test_a_dump_that_runs_code_is_refused_by_name(
    protocol: int, tmp_path: Path
) -> None:
    # GIVEN a dump with an object that makes a file when it is unpickled
    class Payload:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.system, (f"touch {tmp_path / 'made'}",)

    data = pickle.dumps(Payload(), protocol)

    # WHEN it comes as a file, and is read
    assert flight_recorder.SOURCE.recognizes(Head("_dump_2", data))
    batches = read(data)

    # THEN one refusal names what it asked for, and nothing has run
    (refusal,) = [r for batch in batches for r in batch.refused]
    assert refusal.rule == "pickle_global"
    assert refusal.hint == f"refused global {os.name}.system"
    assert records(batches) == 1
    assert not (tmp_path / "made").exists()


def test_a_cut_dump_is_one_refusal() -> None:
    data = pickle.dumps(dump(entry(), entry()), 2)
    for length in range(2, len(data), 7):
        assert [rule for _, rule in refused(read(data[:length]))] == ["truncated"]
    text = as_json(dump(entry()))
    assert [rule for _, rule in refused(read(text[:-9]))] == ["truncated"]


def test_bytes_after_a_dump_are_a_repair() -> None:
    batches = read(pickle.dumps(dump(entry()), 2) + b"\0\0")
    assert repairs(batches) == 1
    assert len(rows(batches, Collectives)) == 1


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (pickle.dumps([1, 2], 2), "dump|required"),
        (pickle.dumps({"weights": 1}, 2), "dump|required"),
        (b'{"entries": [NaN]}', "json"),
        (b'{"entries": ' + b"[" * 100_000, "json"),
    ],
)
def test_what_is_no_dump_is_one_refusal(data: bytes, rule: str) -> None:
    assert [rule for _, rule in refused(read(data))] == [rule]


def test_too_many_entries_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # two bytes name an entry again, so the size of a file says little
    monkeypatch.setattr(flight_document, "MOST_ENTRIES", 10)
    data = pickle.dumps({"entries": [entry()] * 11}, 2)
    assert [rule for _, rule in refused(read(data))] == ["entries|most"]


def test_shapes_that_entries_share_are_looked_at_once() -> None:
    # 3,000 entries of one list of 30,000 tensors: 180 million if each were counted
    shapes = [[1]] * 30_000
    many = [entry(input_sizes=shapes, output_sizes=shapes) for _ in range(3_000)]
    found = rows(read(dump(*many)), Collectives)
    assert {row["bytes_total"] for row in found} == {60_000}
    assert len(found) == 3_000


def test_tensors_of_several_formats_are_added_up() -> None:
    formats = ["Float", "BFloat16"]
    two = entry(input_sizes=[[8], [8]], input_dtypes=formats)
    assert collective(two)["bytes_total"] == 8 * 4 + 8 * 2


@pytest.mark.thorough
@pytest.mark.parametrize("case", ["gpu_error_1st", "lock_gil_1st"])
def test_real_dumps_load_with_every_global_refused(shared: Path, case: str) -> None:
    # GIVEN the dumps of 16 ranks, with names that tell nothing
    folder = next((shared / "data" / "nccl").rglob(case))
    found = {}
    for rank in range(16):
        data = (folder / f"_dump_{rank}").read_bytes()
        assert flight_recorder.SOURCE.recognizes(Head("any", data))
        found[rank] = read(data, "any")

    # THEN each is read whole, by the rank that wrote it
    assert all(not refused(batches) for batches in found.values())
    statuses = [row for b in found.values() for row in rows(b, GroupStatus)]
    entries = [row for b in found.values() for row in rows(b, Collectives)]
    for rank, batches in found.items():
        assert {row["rank"] for row in rows(batches, GroupStatus)} == {rank}
    assert all(row["state"] == "scheduled" for row in entries)
    assert all(row["start_ns"] is None for row in entries)

    # AND the members of a group agree on it: each of its ranks tells of it
    members = Counter(row["group_id"] for row in statuses)
    sizes = {row["group_id"]: row["group_size"] for row in statuses}
    assert members == sizes
    assert (len(statuses), len(entries)) == EXPECTED[case]


#: Groups of all ranks, and entries, as counted with the standard library.
EXPECTED = {"gpu_error_1st": (200, 289), "lock_gil_1st": (208, 142)}


def test_the_real_ranks_that_hang(shared: Path) -> None:
    # GIVEN dumps of a run in which ranks 9 and 14 were held
    folder = next((shared / "data" / "nccl").rglob("lock_gil_1st"))
    statuses = [
        row
        for rank in range(16)
        for row in rows(read((folder / f"_dump_{rank}").read_bytes()), GroupStatus)
    ]

    # THEN in the default group the second stage is behind, and they have no entry
    tops: dict[str, int] = defaultdict(int)
    for row in statuses:
        tops[row["group_id"]] = max(tops[row["group_id"]], row["last_enqueued"])
    behind = [r for r in statuses if r["last_enqueued"] < tops[r["group_id"]]]
    world = {r["rank"] for r in behind if r["parallel_kind"] == "world"}
    assert world == set(range(8, 16))
    assert {r["rank"] for r in behind if r["parallel_kind"] == "tp"} == {9, 14}
    seen: Counter[int] = Counter()
    for row in statuses:
        seen[row["rank"]] += row["entries_seen"]
    assert {rank for rank, count in seen.items() if not count} == {9, 14}


def test_other_documents_are_no_dumps() -> None:
    trace = '{"traceEvents": [], "distributedInfo": {"pg_config": [], "pg_status": {}}}'
    assert not flight_recorder.SOURCE.recognizes(Head("t", trace.encode()))
    for text in ("", "{}", '{"entries": []}', "nccl:all_reduce"):
        assert not flight_recorder.SOURCE.recognizes(Head("t", text.encode()))
    data = as_json(dump(entry()))
    assert next(s for s in SOURCES if s.recognizes(Head("t", data))).name == (
        "flight-recorder"
    )


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=examples(40))
@given(
    st.sampled_from([*sorted(entry()), "pg_config", "pg_status", "version", "entries"]),
    VALUES,
)
def test_any_value_in_any_field_is_a_row_or_a_refusal(name: str, value: Any) -> None:
    document = dump(entry(), entry())
    (document if name in document else document["entries"][0])[name] = value
    for data in (json.dumps(document).encode(), pickle.dumps(document, 2)):
        batches = read(data)
        seen = sum(len(rows(batches, t)) for t in (Collectives, GroupStatus))
        assert records(batches) == seen + len(refused(batches))


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.integers(0, 9999), st.integers(0, 255)), max_size=5))
def test_changed_bytes_are_rows_or_refusals(changes: list[tuple[int, int]]) -> None:
    for whole in (pickle.dumps(dump(entry(), entry()), 2), as_json(dump(entry()))):
        data = bytearray(whole)
        for at, byte in changes:
            data[at % len(data)] = byte
        batches = read(bytes(data))
        seen = sum(len(rows(batches, t)) for t in (Collectives, GroupStatus))
        assert records(batches) == seen + len(refused(batches))
