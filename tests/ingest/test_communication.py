"""Names of kernels, collectives, types and groups."""

import polars as pl
import pytest

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


@pytest.mark.parametrize(
    ("description", "kind"),
    [
        ("default_pg", "world"),
        ("mesh_dp_shard", "dp"),
        ("mesh_fsdp", "dp"),
        ("mesh_dp_shard_cp", "dp"),
        ("mesh_dp_shard_mod_ep", "dp"),
        ("mesh_dp_tp", None),
        ("mesh_pp", "pp"),
        ("undefined", None),
        (None, None),
        # Megatron-core, parallel_state.py: every description that it gives to a group
        ("DATA_PARALLEL_GROUP", "dp"),
        ("DATA_PARALLEL_GROUP_GLOO", "dp"),
        ("DATA_PARALLEL_GROUP_WITH_CP", "dp"),
        ("DATA_PARALLEL_GROUP_WITH_CP_AG", "dp"),
        ("DATA_PARALLEL_GROUP_WITH_CP_GLOO", "dp"),
        ("INTRA_PARTIAL_DATA_PARALLEL_GROUP_WITH_CP", "dp"),
        ("CONTEXT_PARALLEL_GROUP", "cp"),
        ("MODEL_PARALLEL_GROUP", None),
        ("TENSOR_MODEL_PARALLEL_GROUP", "tp"),
        ("PIPELINE_MODEL_PARALLEL_GROUP", "pp"),
        ("EMBEDDING_GROUP", None),
        ("POSITION_EMBEDDING_GROUP", None),
        ("TENSOR_AND_DATA_PARALLEL_GROUP", None),
        ("TENSOR_AND_DATA_PARALLEL_GROUP_WITH_CP", None),
        ("TENSOR_AND_CONTEXT_PARALLEL_GROUP", None),
        ("EXPERT_MODEL_PARALLEL_GROUP", "ep"),
        ("EXPERT_TENSOR_PARALLEL_GROUP", "tp"),
        ("EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP", None),
        ("EXPERT_TENSOR_MODEL_PIPELINE_PARALLEL_GROUP", None),
        ("EXPERT_DATA_PARALLEL_GROUP", "dp"),
        ("EXPERT_DATA_PARALLEL_GROUP_GLOO", "dp"),
        ("INTRA_DISTRIBUTED_OPTIMIZER_INSTANCE_GROUP", None),
    ],
)
def test_purposes_of_groups(description: str | None, kind: str | None) -> None:
    frame = pl.DataFrame({"purpose": [description]}, schema={"purpose": pl.String})
    found = frame.select(kind=parallel_kind(pl.col("purpose")))["kind"]
    assert found.to_list() == [kind]


def test_a_library_of_ones_own_is_one_line() -> None:
    names = communication_names(("myfabric_",))
    assert names.search("void MyFabric_exchange()")
    assert not names.search("ncclDevKernel")
