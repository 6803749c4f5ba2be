"""Logs of NCCL Inspector: sizes, times, kinds of lines, damaged ones."""

import io
import json
from typing import Any

import dataframely as dy
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.attempts import Attempts
from analysis.collective_waits import measure_waits
from ingest.sources import SOURCES, Batch, Head, nccl_inspector
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

SOURCE = nccl_inspector.SOURCE
US = 1_748_030_377_748_202

#: The sample of NCCL's own README, of 2.28.
README = (
    '{"header":{"id":"0x7f8c496ae9f661","rank":2,"n_ranks":8,"nnodes":1},"metadata":'
    '{"inspector_output_format_version":"v4.0","git_rev":"","rec_mechanism":'
    '"profiler_plugin","dump_timestamp_us":1748030377748202,"hostname":"example-hostname"'
    ',"pid":1639453},"coll_perf":{"coll":"AllReduce","coll_sn":1407,'
    '"coll_msg_size_bytes":17179869184,"coll_exec_time_us":61974,'
    '"coll_algobw_gbs":277.210914,"coll_busbw_gbs":485.119099}}'
)


def line(body: dict[str, Any] | None = None, **header: Any) -> str:
    known = {"id": "0xab", "rank": 2, "n_ranks": 8, "nnodes": 1}
    told = {
        "header": known | header,
        "metadata": {
            "inspector_output_format_version": "v4.3",
            "git_rev": "",
            "rec_mechanism": "nccl_profiler_interface",
            "dump_timestamp_us": US,
            "hostname": "n1",
            "pid": 7,
        },
    }
    return json.dumps(told | ({"coll_perf": coll()} if body is None else body))


def coll(**told: Any) -> dict[str, Any]:
    known = {
        "coll": "AllReduce",
        "coll_sn": 5,
        "coll_msg_size_bytes": 65536,
        "coll_exec_time_us": 110,
        "coll_timing_source": "kernel_gpu",
        "coll_algobw_gbs": 0.5957,
        "coll_busbw_gbs": 1.0425,
    }
    return known | told


def pair(**told: Any) -> dict[str, Any]:
    known = {"p2p": "Recv", "p2p_sn": 9, "p2p_peer": 3}
    return known | {"p2p_msg_size_bytes": 4096, "p2p_exec_time_us": 12} | told


def read(*lines: str, **told: Any) -> list[Batch]:
    return held(read_lines(SOURCE, *lines, **told))


def one(*lines: str) -> dict[str, Any]:
    (row,) = rows(read(*lines), Collectives)
    return row


def test_the_sample_of_the_vendor() -> None:
    row = one(README)
    assert (row["group_id"], row["group_size"]) == ("0x7f8c496ae9f661", 8)
    assert (row["rank_in_group"], row["host"]) == (2, "example-hostname")
    assert "rank" not in row
    assert (row["kind"], row["sequence"], row["is_p2p"]) == ("allreduce", 1407, False)
    assert (row["bytes_total"], row["duration_ns"]) == (17_179_869_184, 61_974_000)
    assert row["recorded_ns"] == 1_748_030_377_748_202_000
    assert [row[n] for n in ("enqueue_ns", "start_ns", "end_ns")] == [None] * 3
    # the bandwidth that Inspector printed is that of the size and the time
    assert row["bytes_total"] / row["duration_ns"] == pytest.approx(
        277.210914, rel=1e-6
    )


@pytest.mark.parametrize(
    ("kind", "stored", "size"),
    [
        ("AllReduce", "allreduce", 65536),
        ("ReduceScatter", "reducescatter", 65536 * 32),
        ("AllGather", "allgather", 65536 * 32),
        ("AllGatherV", "allgatherv", 65536 * 32),
        ("Broadcast", "broadcast", 65536),
        ("Reduce", "reduce", 65536),
        ("AlltoAll", "alltoall", 65536),
        ("NewKind", "newkind", 65536),
    ],
)
def test_sizes_are_those_of_the_whole_message(
    kind: str, stored: str, size: int
) -> None:
    row = one(line({"coll_perf": coll(coll=kind)}, n_ranks=32))
    assert (row["kind"], row["bytes_total"]) == (stored, size)


def test_bandwidth_of_a_reduce_scatter() -> None:
    # 65,536 B per rank of 32 in 110 us: 19.065 and 18.469 GB/s
    row = one(line({"coll_perf": coll(coll="ReduceScatter")}, n_ranks=32))
    algbw = row["bytes_total"] / row["duration_ns"]
    assert (round(algbw, 3), round(algbw * 31 / 32, 3)) == (19.065, 18.469)


@pytest.mark.parametrize(
    ("time", "ns"), [(5663, 5_663_000), (5663.0, 5_663_000), (0.125, 125)]
)
def test_times_are_whole_numbers_or_fractions(time: float, ns: int) -> None:
    assert one(line({"coll_perf": coll(coll_exec_time_us=time)}))["duration_ns"] == ns


def test_a_send_and_a_receive_name_their_peer_in_the_group() -> None:
    row = one(line({"p2p_perf": pair()}))
    assert (row["kind"], row["is_p2p"], row["peer_in_group"]) == ("recv", True, 3)
    assert (row["sequence"], row["p2p_sequence"]) == (None, 9)
    assert (row["bytes_total"], row["duration_ns"]) == (4096, 12_000)


def test_algorithm_and_name_of_newer_versions() -> None:
    newer = coll(coll_algo="NVLS_TREE", coll_proto="LL128", unheard_of=[1])
    row = one(line({"coll_perf": newer}, comm_name="tp_group"))
    assert (row["algorithm"], row["parallel_kind"]) == ("NVLS_TREE_LL128", "tp")
    unnamed = one(line(comm_name="unknown"))
    assert (unnamed["algorithm"], unnamed["parallel_kind"]) == (None, None)


def times(**told: Any) -> dict[str, Any]:
    kernels = [
        {"channel_id": 0, "kernel_start_ts": US + 40, "kernel_stop_ts": US + 90},
        {"channel_id": 1, "kernel_start_ts": US + 30, "kernel_stop_ts": US + 95},
    ]
    known = {"coll_start_ts": US + 10, "coll_stop_ts": US + 20}
    return known | {"kernel_events": kernels} | told


def seen(told: dict[str, Any]) -> list[int | None]:
    row = one(line({"coll_perf": coll(event_trace_ts=told)}))
    found = [row[name] for name in ("enqueue_ns", "start_ns", "end_ns")]
    return [None if ns is None else ns - US * 1_000 for ns in found]


def test_a_verbose_line_has_times_of_the_host() -> None:
    assert seen(times()) == [10_000, 30_000, 95_000]
    assert seen(times(kernel_events=[])) == [10_000, 10_000, 20_000]


def test_times_that_are_none_stay_unknown() -> None:
    zeros = [{"kernel_start_ts": 0, "kernel_stop_ts": 0}]
    assert seen(times(kernel_events=zeros)) == [10_000, 10_000, 20_000]
    assert (
        seen(times(coll_start_ts=0, coll_stop_ts=0, kernel_events=zeros)) == [None] * 3
    )
    # a stop before the start tells neither
    early = [{"kernel_start_ts": US + 40, "kernel_stop_ts": US + 5}]
    assert seen(times(kernel_events=early)) == [10_000, None, None]


def test_lines_for_no_table_are_records() -> None:
    batches = read(
        line({"dump_stats": {"coll_drops": 12, "p2p_drops": 0}}),
        line({"proxy_op": {"channel": 1}}),
        line(),
    )
    assert records(batches) == 3
    assert len(rows(batches, Collectives)) == 1
    assert not refused(batches)


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (line(rank="2"), "type"),
        (line(rank=-1), "type"),
        (line(rank=2**31), "type"),
        (line(id=""), "type"),
        ("{}", "header|required"),
        (line({"coll_perf": {"coll": "AllReduce"}}), "coll_perf|type"),
        (line({"coll_perf": coll(coll_sn=2**64)}), "type"),
        (line({"coll_perf": coll(coll_exec_time_us=-1)}), "duration_ns|value"),
        (line({"coll_perf": coll(coll_exec_time_us=1e300)}), "duration_ns|value"),
        (line().replace("110", "NaN"), "json"),
        (line().replace("}}", ",}}"), "json"),
    ],
)
def test_lines_that_are_refused(broken: str, rule: str) -> None:
    batches = read(line(), broken, line())
    (found,) = refused(batches)
    assert found == ("line 2", rule)
    assert records(batches) == 3


def test_a_killed_process_leaves_a_cut_line() -> None:
    data = f"{line()}\n{line()[:150]}".encode()
    batches = held(SOURCE.read(io.BytesIO(data), reading()))
    assert refused(batches) == [("line 2", "truncated_line")]


def test_nul_bytes_and_bytes_that_are_no_text_are_repairs() -> None:
    named = line(comm_name="t?p").encode().replace(b"t?p", b"t\xffp")
    data = f"{line()}\n".encode() + b"\0" * 40 + named + b"\n"
    batches = held(SOURCE.read(io.BytesIO(data), reading()))
    assert repairs(batches) == 2
    assert len(rows(batches, Collectives)) == 2


def test_the_line_is_known_by_its_keys() -> None:
    assert SOURCE.recognizes(Head("n1-pid7.log", f"{line()}\n".encode()))
    assert SOURCE.recognizes(Head("any", f"damaged\n{README}\n".encode()))
    for other in ("", "{}", '{"header": {"id": 1}}', '{"metadata": {}, "header": []}'):
        assert not SOURCE.recognizes(Head("any", other.encode()))
    head = Head("any", README.encode())
    assert next(s for s in SOURCES if s.recognizes(head)) is SOURCE


@settings(max_examples=examples(50))
@given(st.lists(st.tuples(st.integers(0, 9999), st.integers(0, 255)), max_size=8))
def test_changed_bytes_are_rows_or_refusals(changes: list[tuple[int, int]]) -> None:
    data = bytearray("\n".join([line(), line({"p2p_perf": pair()}), README]).encode())
    for at, byte in changes:
        data[at % len(data)] = byte
    batches = held(SOURCE.read(io.BytesIO(bytes(data)), reading()))
    assert records(batches) >= len(rows(batches, Collectives)) + len(refused(batches))


def test_the_shortest_time_among_ranks_is_the_transfer() -> None:
    # GIVEN what two ranks saw of one collective, in a log each, without times
    frames = []
    for rank, took in ((0, 900), (1, 400)):
        text = line({"coll_perf": coll(coll_exec_time_us=took)}, rank=rank, n_ranks=2)
        batches = read_lines(SOURCE, text, file_id=f"{rank}" * 32)
        frames += [batch.rows[Collectives].drop("place") for batch in batches]

    # WHEN they are brought together
    seen = pl.concat([Collectives.create_empty(), *frames], how="diagonal").lazy()
    waits = measure_waits(cast(seen), Attempts.create_empty().lazy())

    # THEN the rank that was in it longer waited for the other, and no start is made up
    (row,) = waits.to_dicts()
    assert (row["transfer_ns"], row["wait_ns_max"]) == (400_000, 500_000)
    assert (row["ranks_seen"], row["start_ns"], row["last_rank"]) == (2, None, None)


def cast(rows_seen: pl.LazyFrame) -> dy.LazyFrame[Collectives]:
    told = rows_seen.with_columns(file_id=pl.lit("f")).collect()
    return Collectives.validate(told, cast=True).lazy()
