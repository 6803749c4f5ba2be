"""Kernels and collectives of the synthetic model, as the profiler names them."""

from typing import Any, Final

from ingest.synthetic.scenario import Scenario
from ingest.synthetic.workload import Kind, Operation

#: Kernels of a layer and their share of its time.
_FORWARD: Final = (
    ("nvjet_hsh_256x128_64x4_qkv_NNT", 0.22),
    ("void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 8>>", 0.24),
    ("nvjet_hsh_128x128_64x5_proj_NNT", 0.10),
    ("void at::native::vectorized_elementwise_kernel<4, silu_and_mul>", 0.06),
    ("nvjet_hsh_256x128_64x4_mlp_NNT", 0.38),
)
_BACKWARD: Final = (
    ("nvjet_hsh_256x128_64x4_mlp_dgrad_TNN", 0.36),
    ("nvjet_hsh_256x128_64x4_mlp_wgrad_NTN", 0.24),
    ("void flash::flash_bwd_dq_dk_dv_loop_kernel<128, 64, 64, 8>", 0.26),
    ("nvjet_hsh_256x128_64x4_qkv_dgrad_TNN", 0.14),
)
_OPTIMIZER: Final = (
    ("void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>", 1.0),
)
KERNELS: Final = {
    "forward": _FORWARD,
    "backward": _BACKWARD,
    "optimizer": _OPTIMIZER,
    "copy": (("Memcpy HtoD (Pinned -> Device)", 1.0),),
}

#: Stream of each kind of work.
STREAMS: Final = {"copy": 12, "tp": 20, "dp": 24, "world": 28}
COMPUTE_STREAM: Final = 7
ALL_REDUCE: Final = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage)"
DESCRIPTIONS: Final = {"tp": "mesh_tp", "dp": "mesh_dp", "world": "default_pg"}


def groups_of(scenario: Scenario, rank: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the name and the members of the groups that a rank is in."""
    tp_group, dp_group = scenario.tp_group(rank), scenario.dp_group(rank)
    return {
        "world": ("0", tuple(range(scenario.ranks))),
        "tp": (str(1 + rank // scenario.tp), tp_group),
        "dp": (str(1 + scenario.dp + rank % scenario.tp), dp_group),
    }


def collective_args(
    scenario: Scenario, rank: int, number: int, operation: Operation
) -> dict[str, Any]:
    """Return what PyTorch notes about a collective of a step."""
    kind = operation.kind
    name, ranks = groups_of(scenario, rank)[kind]
    per_step = {"tp": 2 * scenario.layers, "dp": scenario.buckets, "world": 1}
    elements = _elements(scenario, kind)
    return {
        "Collective name": "allreduce",
        "In msg nelems": elements,
        "Out msg nelems": elements,
        "Group size": len(ranks),
        "dtype": "BFloat16",
        "In split size": "[]",
        "Out split size": "[]",
        "Process Group Name": name,
        "Process Group Description": DESCRIPTIONS[kind],
        "Process Group Ranks": str(list(ranks)),
        "Seq": number * per_step[kind] + operation.position + 1,
    }


def _elements(scenario: Scenario, kind: Kind) -> int:
    """Return the elements of a collective's message. [1]"""
    if kind == "tp":
        return scenario.tokens_per_step // scenario.dp * scenario.hidden
    if kind == "dp":
        return scenario.parameters // scenario.tp // scenario.buckets
    return 1
