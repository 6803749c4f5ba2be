"""Collectives, from the arguments of kernels or from their names."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from ingest.communication import (
    collective_kind,
    communication_names,
    element_bytes,
    parallel_kind,
)

ReadTrace = Callable[..., Any]
Write = Callable[..., dict[str, Any]]

GROUP: dict[str, object] = {
    "Process_Group_Name": "0",
    "Process_Group_Ranks": "[0, 1, 2, 3]",
    "Process_Group_Description": "default_pg",
    "Group_size": 4,
}


def test_a_collective_as_its_kernel_tells_it(
    read_trace: ReadTrace, kernel: Write
) -> None:
    name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL128(ncclDevKernelArgs)"
    call = {
        "cat": "cuda_runtime",
        "ts": 10,
        "dur": 1,
        "args": {"correlation": 8},
    }
    told = GROUP | {"dtype": "BFloat16", "Seq": 41, "Comms_Id": (1 << 64) - 1}
    told |= {"In_msg_nelems": 1_000, "Out_msg_nelems": 1_000}
    work = kernel(20, 5, name, Collective_name="allreduce", correlation=8, **told)
    row = read_trace([call, work], name="rank2.json").collectives.row(0, named=True)
    assert row == row | {
        "event": 1,
        "rank": 2,
        "device": 0,
        "stream": 7,
        "group_id": "0:[0,1,2,3]",
        "parallel_kind": "world",
        "group_size": 4,
        "kind": "allreduce",
        "is_p2p": False,
        "peer_rank": None,
        "sequence": 41,
        "p2p_sequence": None,
        "match_method": "sequence",
        "bytes_total": 2_000,
        "dtype": "BFloat16",
        "algorithm": "RING_LL128",
        "enqueue_ns": 10_000,
        "start_ns": 20_000,
        "end_ns": 25_000,
        "duration_ns": 5_000,
        "time_basis": "gpu",
        "state": "completed",
    }


@pytest.mark.parametrize(
    ("name", "kind", "inward", "outward", "total"),
    [
        # Of n = 4 ranks and 1 byte an element: see nccl-tests, doc/PERFORMANCE.md.
        ("allreduce", "allreduce", 100, 100, 100),
        ("_allgather_base", "allgather", 100, 400, 400),
        ("allgather_into_tensor_coalesced", "allgather", 100, None, 400),
        ("_reduce_scatter_base", "reducescatter", 400, 100, 400),
        ("all_to_all", "alltoall", 400, 400, 400),
        ("all_to_allv", "alltoall", 300, 500, 300),
        ("broadcast", "broadcast", 100, 100, 100),
        ("reduce", "reduce", 100, 100, 100),
        ("gather", "gather", 100, 0, 400),
        ("scatter", "scatter", 0, 100, 400),
        ("barrier", "barrier", 1, 1, None),
    ],
)
def test_size_by_one_convention(  # noqa: PLR0917 - a table of cases
    read_trace: ReadTrace,
    kernel: Write,
    name: str,
    kind: str,
    inward: int,
    outward: int | None,
    total: int | None,
) -> None:
    told = GROUP | {"In_msg_nelems": inward, "dtype": "Float8_e4m3fn"}
    told |= {} if outward is None else {"Out_msg_nelems": outward}
    rows = read_trace([kernel(1, 1, "ncclX", Collective_name=name, **told)]).collectives
    assert rows.select("kind", "bytes_total").rows() == [(kind, total)]


def test_sends_and_receives_know_their_peer(
    read_trace: ReadTrace, kernel: Write
) -> None:
    name = "ncclDevKernel_SendRecv(ncclDevKernelArgs)"
    told = GROUP | {"In_msg_nelems": 8, "Out_msg_nelems": 8, "dtype": "Float", "Seq": 3}
    rows = read_trace(
        [
            kernel(1, 1, name, Collective_name="send", Dst_Rank=1, **told),
            kernel(2, 1, name, Collective_name="recv", Src_Rank=3, **told),
            kernel(3, 1, name),
        ]
    ).collectives
    columns = ("kind", "is_p2p", "peer_rank", "sequence", "p2p_sequence", "bytes_total")
    assert rows.select(columns).rows() == [
        ("send", True, 1, None, 3, 32),
        ("recv", True, 3, None, 3, 32),
        ("sendrecv", True, None, None, None, None),
    ]


def test_old_traces_tell_only_names(read_trace: ReadTrace, kernel: Write) -> None:
    names = [
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        "ncclKernel_AllGather_TREE_SIMPLE_Sum_int8_t(ncclWorkElem)",
        "ncclDevKernel_ReduceScatter_Sum_f32_NVLS(ncclDevKernelArgs)",
        "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)",
        "void vllm::cross_device_reduce_1stage<half, 8>()",
    ]
    trace = {
        "distributedInfo": {"rank": 1, "world_size": 8},
        "traceEvents": [kernel(one, 1, name) for one, name in enumerate(names)],
    }
    rows = read_trace(trace).collectives
    kinds = ["allreduce", "allgather", "reducescatter", "unknown", "allreduce"]
    assert rows["kind"].to_list() == kinds
    assert rows["algorithm"].to_list() == ["RING_LL", "TREE_SIMPLE", None, None, None]
    assert set(rows["group_id"]) == {"world"}
    assert set(rows["group_size"]) == {8}
    assert set(rows["match_method"]) == {"order"}
    assert rows["sequence"].null_count() == len(names)


def test_kernels_without_a_group_join_the_only_one(
    read_trace: ReadTrace, kernel: Write
) -> None:
    told = kernel(2, 1, "ncclX", Collective_name="broadcast", **GROUP)
    other = kernel(3, 1, "ncclX", Process_Group_Name="9", Process_Group_Ranks="[0, 2]")
    silent = kernel(1, 1, "ncclY")
    world = {"distributedInfo": {"rank": 0, "world_size": 4}}
    one = read_trace(world | {"traceEvents": [silent, told]}).collectives
    assert one["group_id"].to_list() == ["0:[0,1,2,3]"] * 2
    assert one["group_size"].to_list() == [4, 4]
    two = read_trace(world | {"traceEvents": [silent, told, other]}).collectives
    assert two["group_id"].to_list() == ["world", "0:[0,1,2,3]", "9:[0,2]"]
    larger = {"distributedInfo": {"rank": 0, "world_size": 8}}
    part = read_trace(larger | {"traceEvents": [silent, told]}).collectives
    assert part["group_id"].to_list() == ["world", "0:[0,1,2,3]"]


def test_groups_differ_by_name_members_and_size(
    read_trace: ReadTrace, kernel: Write
) -> None:
    cut = {"Process_Group_Name": "5", "Process_Group_Ranks": "[0, 1, ...]"}
    groups: list[dict[str, object]] = [
        GROUP,
        GROUP | {"Process_Group_Name": 0, "Process_Group_Ranks": [0, 1, 2, 3]},
        GROUP | {"Process_Group_Name": "1"},
        cut | {"Group_size": 64},
        cut | {"Group_size": 128},
    ]
    work = [kernel(at, 1, "ncclX", **group) for at, group in enumerate(groups)]
    assert read_trace(work).collectives["group_id"].to_list() == [
        "0:[0,1,2,3]",
        "0:[0,1,2,3]",
        "1:[0,1,2,3]",
        "5:[0,1,...]:x64",
        "5:[0,1,...]:x128",
    ]


def test_the_host_tells_what_kernels_do_not(
    read_trace: ReadTrace, kernel: Write
) -> None:
    # GIVEN a request of the host from 10 to 20 us, with a launch in it and one behind
    asked = {
        "Collective name": "all_to_all",
        "In msg nelems": 10,
        "dtype": "Long",
        "Process Group Name": "2",
        "Process Group Ranks": "[0, 1]",
        "Group size": 2,
    }
    request = {"cat": "cpu_op", "name": "record_param_comms", "ts": 10, "dur": 10}
    call = {"cat": "cuda_runtime", "dur": 1}
    name = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)"
    rows = read_trace(
        [
            request | {"args": asked},
            request | {"ts": 12, "args": {"External id": 3}},
            call | {"ts": 15, "args": {"correlation": 1}},
            call | {"ts": 21, "args": {"correlation": 2}},
            kernel(30, 1, name, correlation=1),
            kernel(40, 1, name, correlation=2),
        ]
    ).collectives
    assert rows.select("kind", "bytes_total", "group_size").rows() == [
        ("alltoall", 80, 2),
        ("sendrecv", None, 2),
    ]


def test_hostile_arguments_do_no_harm(read_trace: ReadTrace, kernel: Write) -> None:
    rows = read_trace(
        [
            kernel(
                1,
                1,
                "ncclX",
                Collective_name="allreduce",
                In_msg_nelems=1 << 80,
                Group_size=-5,
                dtype="",
                Process_Group_Name="",
                Src_Rank="x",
            ),
            kernel(2, 1, "ncclX", Collective_name=7, In_msg_nelems=[1], dtype={}),
        ]
    ).collectives
    assert rows["bytes_total"].to_list() == [None, None]
    assert rows["dtype"].to_list() == [None, None]
    assert rows["group_id"].to_list() == ["world", "world"]


def test_kinds_of_names() -> None:
    names = {
        "ncclDevKernel_Broadcast_RING_LL": "broadcast",
        "ncclKernel_Reduce_RING_LL_Sum_float": "reduce",
        "nccl:_all_gather_base": "allgather",
        "reduce_scatter_tensor_coalesced": "reducescatter",
        "one_shot_all_reduce_kernel": "allreduce",
        "coalesced": None,
    }
    frame = pl.DataFrame({"name": list(names)})
    assert frame.select(collective_kind(pl.col("name")))["name"].to_list() == list(
        names.values()
    )


def test_sizes_of_elements() -> None:
    sizes = {"Float8_e5m2fnuz": 1, "BFloat16": 2, "Float": 4, "Long": 8, "Quad": None}
    frame = pl.DataFrame({"dtype": list(sizes)})
    assert frame.select(element_bytes(pl.col("dtype")))["dtype"].to_list() == list(
        sizes.values()
    )


def test_purposes_of_groups() -> None:
    purposes = {
        "default_pg": "world",
        "mesh_dp_shard": "dp",
        "mesh_fsdp": "dp",
        "DATA_PARALLEL_GROUP_WITH_CP": "dp",
        "TENSOR_MODEL_PARALLEL_GROUP": "tp",
        "PIPELINE_MODEL_PARALLEL_GROUP": "pp",
        "EXPERT_MODEL_PARALLEL_GROUP": "ep",
        "undefined": None,
    }
    frame = pl.DataFrame({"purpose": list(purposes)})
    found = frame.select(kind=parallel_kind(pl.col("purpose")))["kind"]
    assert found.to_list() == list(purposes.values())


def test_a_library_of_ones_own_is_one_line() -> None:
    names = communication_names(("myfabric_",))
    assert names.search("void MyFabric_exchange()")
    assert not names.search("ncclDevKernel")
