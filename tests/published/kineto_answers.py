"""Which figure of a peer is answered by what, and why each of the others is not."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

import polars as pl

from tests.published import kineto_peers as peers

#: Figures by `analysis: metric`, and how they are worked out from the rows.
ANSWERS: Final[Mapping[str, peers.Answer]] = MappingProxyType(
    {
        r"temporal_breakdown: (idle|compute|non_compute)_time_pctg": lambda p, m: (
            peers.share_in_percent(p, m[1])
        ),
        r"gpu_kernel_breakdown.*: kernel_type\[0\]": lambda p, _: (
            max(("compute", "memory"), key=lambda one: peers.sum_us_of(p, one))
            .upper()
            .replace("COMPUTE", "COMPUTATION")
        ),
        r"gpu_kernel_breakdown.*: kernel_type\[0\].sum": lambda p, _: peers.sum_us_of(
            p, "compute"
        ),
        r"gpu_kernel_breakdown.*: kernel_breakdown\[0\].sum.*": lambda p, _: (
            peers.sum_us(p, "add-dtype_Float")
        ),
        r"gpu_kernel_breakdown.*: kernel_breakdown\[11\].sum.*": lambda p, _: (
            peers.sum_us(p, "dma_request")
        ),
        r"gpu_kernel_breakdown.*: kernel_breakdown\[11\].kernel_type": lambda p, _: (
            peers.kernels(p).filter(name="dma_request")["category"].unique().item()
        ).upper(),
        r"queue_length_summary: streams": lambda p, _: str(
            sorted(peers.in_whole_us(p)["stream"].unique())
        ).replace(" ", ""),
        r"cuda_kernel_launch_stats: corr (\d+) gpu_duration": lambda p, m: (
            peers.with_correlation(p, int(m[1]))["duration_ns"] / 1_000
        ),
        r"gpu_kernels_with_user_annotations: corr (\d+) kernel": lambda p, m: (
            peers.with_correlation(p, int(m[1]))["name"]
        ),
        r"gpu_kernels_with_user_annotations: kernels": lambda p, _: (
            peers.kernels(p).filter(pl.col("step") < pl.col("step").max()).height
        ),
        r"parse NCCL args: NCCL kernels": lambda p, _: (
            peers.kernels(p).filter(category="communication").height
        ),
        r"parse NCCL args: largest (?:in|out)_msg_nelems": lambda p, _: (
            peers.longest(p)["bytes_total"] / peers.WIDTHS[peers.longest(p)["dtype"]]
        ),
        r"parse NCCL args: collective_name": lambda p, _: peers.longest(p)["kind"],
        r"parse NCCL args: process_group_name": lambda p, _: peers.longest(p)[
            "group_id"
        ].partition(":")[0],
        r"parse NCCL args: process_group_ranks": lambda p, _: (
            peers.longest(p)["group_id"].partition(":")[2].replace(",", ", ")
        ),
        r"parse NCCL args: process_group_desc": lambda p, _: {
            "world": "default_pg"
        }.get(peers.longest(p)["parallel_kind"]),
        r"unixtime start: rank0 start ns": lambda p, _: peers.first_step_ns(p),
        r"coll_analysis row(\d): (.*)": lambda p, m: peers.of_alike(p, int(m[1]), m[2]),
        r"step_(?:time_breakdown|costs): step[ #](\d+) (Kernel|Memcpy|Memset)": (
            lambda p, m: peers.of_step(p, int(m[1]), m[2])
        ),
        r"step_(?:time_breakdown|costs): step[ #](\d+) Total": lambda p, m: (
            peers.totals(p)[int(m[1])]
        ),
        r"gpu_metrics: average step total us": lambda p, _: (
            sum(peers.totals(p).values()) / len(peers.totals(p))
        ),
        r"gpu_metrics: GPU Utilization %": lambda p, _: peers.utilization(p),
    }
)


class Reason(NamedTuple):
    """Why figures are not answered.

    Attributes:
        sort: What sort of reason it is, in a few words.
        file: What the name of their trace contains.
        figure: `analysis: metric` of all of it.
        why: The reason.
    """

    sort: str
    file: str
    figure: str
    why: str


#: Sorts of reasons: what the rows leave out, and what a peer defines in another way.
HOST: Final = "time of the host, which is not read"
LAUNCHES: Final = "when work was launched, which is not kept"
ANNOTATIONS: Final = "ranges that users name, which are not read"
ARGUMENTS: Final = "arguments of kernels and operations that are no columns"
EVENTS: Final = "counts of a peer's table of events"
RANKS: Final = "a rank that is not told: 0 there, null here"
MADE_STEPS: Final = "the host's ranges taken for steps and communication"


#: The reasons; the first that fits a figure counts.
REASONS: Final = (
    Reason(
        LAUNCHES,
        "",
        r"(?:queue_length_summary: stream102|time_blocked).*",
        "the state of queues is an analysis of launches, which make no rows; HTA keeps"
        " the last stream alone",
    ),
    Reason(
        LAUNCHES,
        "",
        r"idle_time_breakdown.*",
        "what a stream was idle for is told by when its next work was launched, and"
        " when makes no rows, only whether",
    ),
    Reason(
        LAUNCHES,
        "rank_non_gpu",
        r"queue length/bw .*",
        "any reader of a trace without work answers that it has none",
    ),
    Reason(
        HOST,
        "",
        r"(?:aten_op_kernels_and_delay: .*|cuda_kernel_launch_stats: .*"
        r"(?:cpu_duration|launch_delay))",
        "what the host's operations and calls took is not read: rows are work of GPUs",
    ),
    Reason(
        ANNOTATIONS,
        "",
        r"(?:gpu_user_annotation_breakdown|….*allowlist"
        r"|gpu_kernels_with_user_annotations: (?:unique|kernels in|corr \d+ ann)).*",
        "annotations of users are not read, but for steps",
    ),
    Reason(
        ARGUMENTS,
        "",
        r"parse NCCL args: in_split_size",
        "splits are no column: none is given",
    ),
    Reason(
        HOST,
        "triton",
        r"parse triton args: (?:triton cpu_ops|name|kernel_backend|cat)",
        "an operation of the host, which is no GPU's work whatever its arguments",
    ),
    Reason(
        EVENTS,
        "trace_filter",
        r".*(?:Filter|gpu=True).*",
        "filters of HTA's table of all events, most of which make no rows",
    ),
    Reason(
        RANKS,
        "",
        r"rank detection: .*",
        "a rank that is not told is null, and never 0 in silence",
    ),
    Reason(
        HOST,
        "",
        r"step_(?:time_breakdown|costs): step ?#?\d+ "
        r"(?:Runtime|DataLoader|CPU Exec|CpuOp|Other)",
        "classes of the host's time, which is not read",
    ),
    Reason(
        ARGUMENTS,
        "",
        r"gpu_metrics: Est. .*",
        "occupancy and blocks of a kernel are no columns",
    ),
    Reason(
        MADE_STEPS,
        "test_no_profilerstep",
        r"step_costs: step#1 Total",
        "without steps the plugin makes one, from the host's first operation (100),"
        " which is no row, to the end of the kernel that it launched (420)",
    ),
    Reason(
        MADE_STEPS,
        "distributed_nccl",
        r"step_costs: step#1 Total",
        "without steps the plugin makes one, from the host's first operation (0) to the"
        " end of its last (235), as no kernel has a launch: neither is a row",
    ),
    Reason(
        MADE_STEPS,
        "distributed_nccl",
        r"(?:step_costs: step#1 Communication|distributed overlap: .*)",
        "the plugin takes the host's nccl: ranges for communication, which are not"
        " read: NCCL's kernels are another time",
    ),
    Reason(
        MADE_STEPS,
        "distributed_nccl",
        r"(?:distributed wait|comm_ops table): .*",
        "a transfer is the shortest over two workers, of which one trace is here; a"
        " latency begins with the host's call, and sizes are of its arguments, which"
        " are not read",
    ),
)


def answer_of(figure: str) -> tuple[peers.Answer, re.Match[str]] | None:
    for pattern, answer in ANSWERS.items():
        if found := re.fullmatch(pattern, figure):
            return answer, found
    return None


def reason_of(file: str, figure: str) -> Reason | None:
    fitting = (r for r in REASONS if r.file in file and re.fullmatch(r.figure, figure))
    return next(fitting, None)
