"""Which kernels communicate, and which collective a name means: one table of each."""

import re
from types import MappingProxyType
from typing import Final

import polars as pl

#: What the names of communication kernels contain, in any case. `hip` is not among
#: them: hipBLASLt multiplies matrices. Add a line for another library.
COMMUNICATION_PATTERNS: Final = (
    r"nccl",  # NCCL: ncclKernel_*, ncclDevKernel_*
    r"(?<!oc)rccl",  # RCCL; ROCclr, which copies, is no RCCL
    r"hccl",  # Gaudi and Ascend
    r"oneccl|ccl_(?:allreduce|allgather|reduce|alltoall|bcast|broadcast)",  # Intel
    r"msccl",  # MSCCL and MSCCL++
    r"nvshmem",
    r"rocshmem",
    r"deep_?ep::",  # DeepEP's dispatch and combine
    r"cross_device_reduce",  # vLLM and SGLang
    r"(?:one|two)_?shot_?all_?reduce|multimem_(?:all|one_shot|reduce)",  # PyTorch
    r"all_?reduce_?(?:fusion|kernel|sum)",  # TensorRT-LLM, FlashInfer, AITER
    r"userbuffers",  # Transformer Engine
)

#: Kinds of collectives, by what a name contains once it is only lower-case letters;
#: the first that fits. A SendRecv kernel may be a send, a receive or an all-to-all.
KINDS: Final = MappingProxyType(
    {
        "crossdevicereduce": "allreduce",
        "shotallreduce": "allreduce",
        "allreduce": "allreduce",
        "allgather": "allgather",
        "reducescatter": "reducescatter",
        "alltoall": "alltoall",
        "broadcast": "broadcast",
        "bcast": "broadcast",
        "sendrecv": "sendrecv",
        "barrier": "barrier",
        "gather": "gather",
        "scatter": "scatter",
        "reduce": "reduce",
        "send": "send",
        "recv": "recv",
    }
)

#: Axes of a layout, by what the description of a group contains in lower case.
#: PyTorch's own groups and those of device meshes and of Megatron are covered.
AXES: Final = MappingProxyType(
    {
        "world": r"default_pg",
        "dp": r"data_?parallel|(?:^|[^a-z])(?:fs|hs)?dp(?:$|[^a-z])",
        "pp": r"pipeline|(?:^|[^a-z])pp(?:$|[^a-z])",
        "ep": r"expert|(?:^|[^a-z])ep(?:$|[^a-z])",
        "cp": r"context|(?:^|[^a-z])cp(?:$|[^a-z])",
        "tp": r"tensor|(?:^|[^a-z])tp(?:$|[^a-z])",
    }
)

#: What tells an axis more closely and is none itself: gradients are summed over the
#: ranks of a context, too, and experts have tensor and data groups of their own.
_CLOSER: Final = MappingProxyType(
    {
        r"_with_cp": "",
        r"(dp[a-z_]*?)_(?:cp|(?:mod|in)_ep)": "$1",
        r"expert_(data|tensor)_parallel": "${1}_parallel",
    }
)

#: Kinds between two ranks.
POINT_TO_POINT: Final = ("send", "recv", "sendrecv")

#: Bytes of an element by the name of its type in lower case, as PyTorch prints it.
#: Two elements of `float4_e2m1fn_x2` share the byte that PyTorch counts. [B]
ELEMENT_BYTES: Final = MappingProxyType(
    {
        **dict.fromkeys(("byte", "char", "bool", "int8", "uint8"), 1),
        **dict.fromkeys(("qint8", "quint8", "float4_e2m1fn_x2"), 1),
        **dict.fromkeys(("float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3"), 1),
        **dict.fromkeys(("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"), 1),
        **dict.fromkeys(("half", "float16", "bfloat16"), 2),
        **dict.fromkeys(("short", "int16", "uint16"), 2),
        **dict.fromkeys(("float", "float32", "int", "int32", "uint32", "qint32"), 4),
        **dict.fromkeys(("complexhalf", "complex32"), 4),
        **dict.fromkeys(("double", "float64", "long", "int64", "uint64"), 8),
        **dict.fromkeys(("complexfloat", "complex64"), 8),
        **dict.fromkeys(("complexdouble", "complex128"), 16),
    }
)

#: Greatest size that is told.
_MOST: Final = (1 << 63) - 1


def communication_names(
    patterns: tuple[str, ...] = COMMUNICATION_PATTERNS,
) -> re.Pattern[str]:
    """Return a pattern to search for in the name of a kernel."""
    return re.compile("|".join(patterns), re.IGNORECASE)


def collective_kind(name: pl.Expr) -> pl.Expr:
    """Return the kind of collective that a name means, null where it means none.

    Args:
        name: `_allgather_base`, `ncclDevKernel_AllReduce_Sum_f32_RING_LL`, ...
    """
    letters = name.str.to_lowercase().str.replace_all("[^a-z]", "")
    words = letters.str.extract(f"({'|'.join(KINDS)})", 1)
    return words.replace_strict(dict(KINDS), default=None)


def parallel_kind(description: pl.Expr) -> pl.Expr:
    """Return what a group is for (dp, tp, ...), null where that is not said.

    A group along several axes is of none of them.

    Args:
        description: `default_pg`, `mesh_dp_shard`, `TENSOR_MODEL_PARALLEL_GROUP`, ...
    """
    text = description.str.to_lowercase()
    for pattern, axis in _CLOSER.items():
        text = text.str.replace(pattern, axis)
    named = {kind: text.str.contains(pattern) for kind, pattern in AXES.items()}
    count = pl.sum_horizontal(is_named.cast(pl.Int32) for is_named in named.values())
    kind = pl.coalesce(
        pl.when(is_named).then(pl.lit(kind)) for kind, is_named in named.items()
    )
    return pl.when(count == 1).then(kind)


def element_bytes(dtype: pl.Expr) -> pl.Expr:
    """Return the bytes of an element, null for a type that is not known. [B]"""
    return dtype.str.to_lowercase().replace_strict(
        dict(ELEMENT_BYTES), default=None, return_dtype=pl.Int64
    )


def message_size(inward: pl.Expr, outward: pl.Expr) -> pl.Expr:
    """Return the size of the whole message, as nccl-tests count it.

    Of an all-gather the output, of a reduce-scatter and an all-to-all the input; of a
    gather and a scatter what the root has; of all others the message. The rows have
    the columns `kind` and `group_size`.
    Source: nccl-tests, doc/PERFORMANCE.md.

    Args:
        inward: What goes in at a rank, in elements or bytes.
        outward: What comes out there.
    """
    kind, size = pl.col("kind"), pl.col("group_size")
    of_all_in = pl.when(inward <= _MOST // size).then(inward * size)
    of_all_out = pl.when(outward <= _MOST // size).then(outward * size)
    return (
        pl.when(kind == "allgather")
        .then(pl.coalesce(outward, of_all_in))
        .when(kind == "gather")
        .then(of_all_in)
        .when(kind == "scatter")
        .then(of_all_out)
        .when(kind == "recv")
        .then(pl.coalesce(outward, inward))
        .when(~kind.is_in(["barrier", "unknown"]))
        .then(pl.coalesce(inward, outward))
    )
