"""Traces of every age and of every vendor: how each spells the same work."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ingest.files import open_expanded
from ingest.sources import kineto
from ingest.tables import Kernels
from tests.ingest.readings import held, reading, rows

pytestmark = pytest.mark.thorough

ReadTrace = Callable[..., Any]

BASE_NS = 1_767_189_312_000_000_000


@pytest.mark.parametrize(
    ("cat", "name", "category"),
    [
        ("Kernel", "gemm", "compute"),
        ("kernel", "ncclKernel_AllReduce_RING_LL_Sum_float", "communication"),
        ("kernel", "ncclDevKernel_Generic_4", "communication"),
        ("kernel", "Cijk_Ailk_Bljk_HHS_BH_MT128x64x32", "compute"),
        ("kernel", "hipblaslt_gemm", "compute"),
        ("Memcpy", "Memcpy HtoD (Pageable -> Device)", "memory"),
        ("Memset", "Memset (Device)", "memory"),
        ("gpu_memcpy", "CopyHostToDevice", "memory"),
        ("mtia_ccp_events", "fc-dtype_Float", "compute"),
        ("mtia_ccp_events", "dma_request", "memory"),
        ("mtia_ccp_events", "hccl_all_reduce", "communication"),
    ],
)
def test_categories_of_all_ages(
    read_trace: ReadTrace, write: Any, cat: str, name: str, category: str
) -> None:
    rows = read_trace([write.kernel(1, 2, name, cat)])
    assert rows.kernels["category"].to_list() == [category]
    assert rows.refused == []


@pytest.mark.parametrize(
    "cat",
    ["cuda_sync", "gpu_user_annotation", "cpu_op", "overhead", "mtia_counters"],
)
def test_what_is_no_work_of_a_gpu(read_trace: ReadTrace, write: Any, cat: str) -> None:
    rows = read_trace([write.kernel(1, 2, "Stream Sync", cat)])
    assert rows.kernels.is_empty()


def test_mtia_tells_its_device_as_a_process(read_trace: ReadTrace, write: Any) -> None:
    event = write.kernel(1, 2, "fc-dtype_Float", "mtia_ccp_events")
    event |= {"pid": 9, "tid": 801, "args": {"correlation": 5}}
    call = write.launch(0.5, 5) | {"cat": "mtia_runtime"}
    (row,) = read_trace([call, event]).kernels.to_dicts()
    assert (row["device"], row["stream"], row["linked"]) == (9, 801, True)


@pytest.mark.parametrize("told", [b"03", b'"03"', b"3", b'"3"', b"003"])
@pytest.mark.parametrize("at_end", [False, True])
def test_ranks_with_zeros_before_them(
    read_trace: ReadTrace, write: Any, told: bytes, *, at_end: bool
) -> None:
    facts = b'"distributedInfo":{"rank":' + told + b',"world_size":016}'
    events = b'"traceEvents":' + json.dumps([write.kernel(1, 2)]).encode()
    parts = (events, facts) if at_end else (facts, events)
    rows = read_trace(b"{" + b",".join(parts) + b"}")
    assert rows.kernels["rank"].to_list() == [3]


def test_requests_before_a_group_is_set_up_tell_no_group(
    read_trace: ReadTrace, write: Any
) -> None:
    # MI300X, PyTorch 2.6: the first requests name the group and no members
    group = {"Process_Group_Name": "0", "Group_size": 4}
    told = write.kernel(
        3,
        1,
        "ncclX",
        Collective_name="broadcast",
        Process_Group_Ranks="[0, 1, 2, 3]",
        **group,
    )
    early = write.kernel(
        1,
        1,
        "record_param_comms",
        "cpu_op",
        Collective_name="init",
        Process_Group_Ranks="[]",
        Process_Group_Name="0",
        Group_size=1,
    )
    silent = write.kernel(2, 1, "ncclY")
    world = {"distributedInfo": {"rank": 0, "world_size": 4}}
    found = read_trace(world | {"traceEvents": [early, silent, told]}).collectives
    assert found["group_id"].to_list() == ["0:[0,1,2,3]"] * 2


def test_a_gzip_of_several_members(tmp_path: Path, write: Any) -> None:
    text = json.dumps([write.kernel(n, 1) for n in range(300)]).encode()
    path = tmp_path / "rank7.json.gz"
    thirds = [text[:5_000], text[5_000:20_000], text[20_000:]]
    path.write_bytes(b"".join(map(gzip.compress, thirds)))
    with open_expanded(path) as stream:
        batches = held(kineto.read(stream, reading(name="rank7.json")))
    assert len(rows(batches, Kernels)) == 300


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), None])
def test_compact_and_wide_json(
    read_trace: ReadTrace, write: Any, separators: tuple[str, str] | None
) -> None:
    trace = {
        "distributedInfo": {"rank": 5},
        "traceEvents": [write.step(1, 0, 9), write.launch(1, 4), write.kernel(5, 1)],
        "baseTimeNanoseconds": BASE_NS,
    }
    indent = None if separators else 2
    text = json.dumps(trace, separators=separators, indent=indent).encode()
    rows = read_trace(text)
    assert rows.kernels["start_ns"].to_list() == [BASE_NS + 5_000]
    assert rows.steps["start_ns"].to_list() == [BASE_NS]
    assert rows.kernels["rank"].to_list() == [5]


def test_the_real_trace_of_mtia(shared: Path, read_trace: ReadTrace) -> None:
    (path,) = (shared / "data/kineto").rglob("mtia_rank_0.json.gz")
    found = read_trace(path)
    assert found.refused == []
    counts = dict(found.kernels["category"].value_counts().iter_rows())
    assert counts == {"compute": 3_453, "memory": 22_361}
    compute = found.kernels.filter(pl.col("category") == "compute")
    assert compute["linked"].all()


def test_traces_of_the_cpu_alone(shared: Path, read_trace: ReadTrace) -> None:
    for name, rank in (
        ("rank_non_gpu.json.gz", 0),
        ("rank_not_found.json.gz", None),
        ("distributed_info_not_found.json.gz", None),
    ):
        (path,) = (shared / "data/kineto").rglob(name)
        found = read_trace(path)
        assert found.kernels.is_empty()
        assert found.steps["rank"].unique().to_list() == [rank]
        assert (found.records, found.refused) == (2_424 + 43, [])
