"""What the work on GPUs in a trace becomes."""

from collections.abc import Callable
from typing import Any

import pytest

ReadTrace = Callable[..., Any]

#: A base that Kineto makes: a multiple of 7,889,238 s. [ns]
BASE_NS = 1_767_189_312_000_000_000


def test_times_are_exact_and_count_from_the_base(
    read_trace: ReadTrace, write: Any
) -> None:
    # GIVEN times that no float of 64 bits can hold
    text = b"""{"traceEvents": [
      {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7,
       "ts": 4458676522690.655, "dur": 1.123, "args": {"stream": 7}},
      {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7,
       "ts": "4458676522691.7", "dur": 1.5e1, "args": {"stream": 7}}
    ], "baseTimeNanoseconds": 1767189312000000000}"""
    # WHEN it is read
    rows = read_trace(text).kernels
    # THEN the base, which stands behind the events, is added to the nanosecond
    assert rows["start_ns"].to_list() == [
        BASE_NS + 4_458_676_522_690_655,
        BASE_NS + 4_458_676_522_691_700,
    ]
    assert rows["duration_ns"].to_list() == [1_123, 15_000]


def test_times_since_the_epoch_need_no_base(read_trace: ReadTrace, write: Any) -> None:
    absolute = 1_767_200_000_000_000
    trace = {"traceEvents": [write.kernel(absolute, 5)], "baseTimeNanoseconds": BASE_NS}
    assert read_trace(trace).kernels["start_ns"].to_list() == [absolute * 1_000]


@pytest.mark.parametrize(
    ("cat", "category"),
    [
        ("kernel", "compute"),
        ("Kernel", "compute"),
        ("KERNEL", "compute"),
        ("gpu_memcpy", "memory"),
        ("Memcpy", "memory"),
        ("gpu_memset", "memory"),
        ("Memset", "memory"),
    ],
)
def test_work_is_what_its_category_says(
    read_trace: ReadTrace, write: Any, cat: str, category: str
) -> None:
    rows = read_trace([write.kernel(5, 1, cat=cat)]).kernels
    assert rows["category"].to_list() == [category]


@pytest.mark.parametrize(
    "cat", ["cuda_sync", "gpu_user_annotation", "cpu_op", "python_function", "ac2g", ""]
)
def test_nothing_else_is_work_even_on_a_stream(
    read_trace: ReadTrace, write: Any, cat: str
) -> None:
    rows = read_trace([write.kernel(5, 1, cat=cat)])
    assert rows.kernels.is_empty()
    assert (rows.records, rows.refused) == (1, [])


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "communication"),
        ("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "communication"),
        ("void vllm::cross_device_reduce_2stage<__nv_bfloat16, 8>()", "communication"),
        ("hipblaslt_gemm_bf16", "compute"),
        ("__amd_rocclr_copyBuffer", "compute"),
        ("void at::native::reduce_kernel<512, 1>()", "compute"),
    ],
)
def test_communication_by_name(
    read_trace: ReadTrace, write: Any, name: str, category: str
) -> None:
    rows = read_trace([write.kernel(5, 1, name)]).kernels
    assert rows["category"].to_list() == [category]


def test_communication_by_its_arguments(read_trace: ReadTrace, write: Any) -> None:
    rows = read_trace([write.kernel(5, 1, "myown", Collective_name="allreduce")])
    assert rows.kernels["category"].to_list() == ["communication"]
    assert rows.collectives["kind"].to_list() == ["allreduce"]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (0, 0),
        (7, 7),
        ("7", 7),
        ("stream 7", 7),
        ((1 << 63) - 1, (1 << 63) - 1),
        ((1 << 64) - 1, -1),
    ],
)
def test_streams_of_any_form(
    read_trace: ReadTrace, write: Any, stream: object, expected: int
) -> None:
    rows = read_trace([write.kernel(5, 1, stream=stream), write.kernel(6, 1)]).kernels
    assert rows["stream"].to_list() == [expected, 7]


def test_place_from_process_and_thread(read_trace: ReadTrace) -> None:
    old = {"ph": "X", "cat": "Kernel", "name": "a", "ts": 1, "dur": 1}
    rows = read_trace(
        [
            old | {"pid": 3, "tid": "stream 16", "args": {}},
            old | {"pid": 3, "tid": 9, "args": {"device": 1}},
            old | {"pid": 3},
        ]
    ).kernels
    assert rows["device"].to_list() == [3, 1, 3]
    assert rows["stream"].to_list() == [16, 9, -1]
