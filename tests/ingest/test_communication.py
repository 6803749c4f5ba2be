"""Names of kernels, collectives, types and groups."""

import polars as pl

from ingest.communication import (
    collective_kind,
    communication_names,
    element_bytes,
    parallel_kind,
)


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
