"""Collectives, from the arguments of kernels or from their names."""

from collections.abc import Callable
from typing import Any

import pytest

ReadTrace = Callable[..., Any]

GROUP: dict[str, object] = {
    "Process_Group_Name": "0",
    "Process_Group_Ranks": "[0, 1, 2, 3]",
    "Process_Group_Description": "default_pg",
    "Group_size": 4,
}


def test_a_collective_as_its_kernel_tells_it(read_trace: ReadTrace, write: Any) -> None:
    name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL128(ncclDevKernelArgs)"
    call = {
        "cat": "cuda_runtime",
        "ts": 10,
        "dur": 1,
        "args": {"correlation": 8},
    }
    told = GROUP | {"dtype": "BFloat16", "Seq": 41, "Comms_Id": (1 << 64) - 1}
    told |= {"In_msg_nelems": 1_000, "Out_msg_nelems": 1_000}
    work = write.kernel(20, 5, name, Collective_name="allreduce", correlation=8, **told)
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
    write: Any,
    name: str,
    kind: str,
    inward: int,
    outward: int | None,
    total: int | None,
) -> None:
    told = GROUP | {"In_msg_nelems": inward, "dtype": "Float8_e4m3fn"}
    told |= {} if outward is None else {"Out_msg_nelems": outward}
    rows = read_trace(
        [write.kernel(1, 1, "ncclX", Collective_name=name, **told)]
    ).collectives
    assert rows.select("kind", "bytes_total").rows() == [(kind, total)]


def test_sends_and_receives_know_their_peer(read_trace: ReadTrace, write: Any) -> None:
    name = "ncclDevKernel_SendRecv(ncclDevKernelArgs)"
    told = GROUP | {"In_msg_nelems": 8, "Out_msg_nelems": 8, "dtype": "Float", "Seq": 3}
    rows = read_trace(
        [
            write.kernel(1, 1, name, Collective_name="send", Dst_Rank=1, **told),
            write.kernel(2, 1, name, Collective_name="recv", Src_Rank=3, **told),
            write.kernel(3, 1, name),
        ]
    ).collectives
    columns = ("kind", "is_p2p", "peer_rank", "sequence", "p2p_sequence", "bytes_total")
    assert rows.select(columns).rows() == [
        ("send", True, 1, None, 3, 32),
        ("recv", True, 3, None, 3, 32),
        ("sendrecv", True, None, None, None, None),
    ]


def test_old_traces_tell_only_names(read_trace: ReadTrace, write: Any) -> None:
    names = [
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        "ncclKernel_AllGather_TREE_SIMPLE_Sum_int8_t(ncclWorkElem)",
        "ncclDevKernel_ReduceScatter_Sum_f32_NVLS(ncclDevKernelArgs)",
        "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)",
        "void vllm::cross_device_reduce_1stage<half, 8>()",
    ]
    trace = {
        "distributedInfo": {"rank": 1, "world_size": 8},
        "traceEvents": [write.kernel(one, 1, name) for one, name in enumerate(names)],
    }
    rows = read_trace(trace).collectives
    kinds = ["allreduce", "allgather", "reducescatter", "unknown", "allreduce"]
    assert rows["kind"].to_list() == kinds
    assert rows["algorithm"].to_list() == ["RING_LL", "TREE_SIMPLE", None, None, None]
    assert set(rows["group_id"]) == {"world"}
    assert set(rows["group_size"]) == {8}
    assert set(rows["match_method"]) == {"order"}
    assert rows["sequence"].null_count() == len(names)


def test_the_host_tells_what_kernels_do_not(read_trace: ReadTrace, write: Any) -> None:
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
            write.kernel(30, 1, name, correlation=1),
            write.kernel(40, 1, name, correlation=2),
        ]
    ).collectives
    assert rows.select("kind", "bytes_total", "group_size").rows() == [
        ("alltoall", 80, 2),
        ("sendrecv", None, 2),
    ]


def test_hostile_arguments_do_no_harm(read_trace: ReadTrace, write: Any) -> None:
    rows = read_trace(
        [
            write.kernel(
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
            write.kernel(2, 1, "ncclX", Collective_name=7, In_msg_nelems=[1], dtype={}),
        ]
    ).collectives
    assert rows["bytes_total"].to_list() == [None, None]
    assert rows["dtype"].to_list() == [None, None]
    assert rows["group_id"].to_list() == ["world", "world"]
