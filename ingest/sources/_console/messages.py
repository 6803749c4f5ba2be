"""Messages of NCCL, of PyTorch's watchdog and of CUDA that tell of a failure."""

from typing import Final, NamedTuple

import polars as pl


class Message(NamedTuple):
    """A message: what it contains, and what that means."""

    contains: str
    code: str
    component: str | None
    severity: str


#: What the watchdog says, the most particular first. All ranks but the guilty one wait
#: in vain and say so: a code with `watchdog` in it names no cause.
WATCHDOG: Final = (
    Message(
        r"Watchdog caught collective operation timeout",
        "watchdog_collective_timeout",
        None,
        "fatal",
    ),
    Message(
        r"Heartbeat monitor timed out", "watchdog_heartbeat_timeout", None, "fatal"
    ),
    Message(
        r"watchdog thread terminated with exception",
        "watchdog_exception",
        None,
        "fatal",
    ),
)

#: What CUDA's errors say in any process, the most particular first.
CUDA: Final = (
    Message(
        r"CUDA error: uncorrectable ECC error",
        "cuda_uncorrectable_ecc",
        "gpu_memory",
        "fatal",
    ),
    Message(r"CUDA error: .*(?i:nvlink)", "cuda_nvlink", "nvlink", "fatal"),
    Message(
        r"CUDA out of memory|CUDA error: out of memory",
        "cuda_out_of_memory",
        "software",
        "error",
    ),
    Message(r"CUDA error: \S", "cuda_error", "software", "error"),
)

#: What NCCL warns of. Anything else that it warns of stopped nothing by itself.
NCCL: Final = (
    Message(
        r"NCCL WARN .*Cuda failure.*uncorrectable ECC",
        "nccl_uncorrectable_ecc",
        "gpu_memory",
        "fatal",
    ),
    Message(r"NCCL WARN .*Cuda failure", "nccl_cuda_failure", "gpu", "error"),
    Message(
        r"NCCL WARN .*(?:Got completion|async event|Got async|local catastrophic)",
        "nccl_network_error",
        "network",
        "error",
    ),
    Message(
        r"NCCL WARN .*(?:Connection|connect|remote process|socket|Timeout)",
        "nccl_peer_lost",
        None,
        "error",
    ),
    Message(r"NCCL WARN ", "nccl_warn", None, "info"),
)


def telling(messages: tuple[Message, ...]) -> str:
    """Return an expression that a line of one of the messages contains."""
    return "|".join(message.contains for message in messages)


def meaning(messages: tuple[Message, ...]) -> dict[str, pl.Expr]:
    """Return `code`, `component` and `severity` of lines, by the first that fits."""
    line = pl.col("line")
    found = {message.code: line.str.contains(message.contains) for message in messages}
    code = pl.coalesce(
        pl.when(is_it).then(pl.lit(name)) for name, is_it in found.items()
    )
    parts = {m.code: (m.component, m.severity) for m in messages}
    components = {name: component for name, (component, _) in parts.items()}
    severities = {name: severity for name, (_, severity) in parts.items()}
    return {
        "code": code,
        "component": code.replace_strict(
            components, default=None, return_dtype=pl.String
        ),
        "severity": code.replace_strict(
            severities, default=None, return_dtype=pl.String
        ),
    }
