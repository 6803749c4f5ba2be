"""What a trace's events become."""

from collections.abc import Callable
from typing import Any

import pytest

from ingest.errors import UnreadableFileError
from ingest.sources import Head
from ingest.sources.kineto import SOURCE, recognizes

ReadTrace = Callable[..., Any]
Write = Callable[..., dict[str, Any]]

#: A base that Kineto makes: a multiple of 7,889,238 s. [ns]
BASE_NS = 1_767_189_312_000_000_000

DAY_US = 86_400_000_000


def launch(ts: float, correlation: int, **args: object) -> dict[str, object]:
    """Write the call that launches the work of a correlation."""
    return {
        "ph": "X",
        "cat": "cuda_runtime",
        "name": "cudaLaunchKernel",
        "pid": 100,
        "tid": 100,
        "ts": ts,
        "dur": 2,
        "args": {"correlation": correlation, **args},
    }


def step(number: int, ts: float, dur: float, cat: str = "user_annotation") -> Any:
    """Write the annotation of a step."""
    return {
        "ph": "X",
        "cat": cat,
        "name": f"ProfilerStep#{number}",
        "ts": ts,
        "dur": dur,
    }


def window(dur: float) -> dict[str, object]:
    """Write the span of profiling."""
    return {
        "ph": "X",
        "cat": "Trace",
        "name": "PyTorch Profiler (0)",
        "ts": 0,
        "dur": dur,
    }


def test_times_are_exact_and_count_from_the_base(
    read_trace: ReadTrace, kernel: Write
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


def test_times_since_the_epoch_need_no_base(
    read_trace: ReadTrace, kernel: Write
) -> None:
    absolute = 1_767_200_000_000_000
    trace = {"traceEvents": [kernel(absolute, 5)], "baseTimeNanoseconds": BASE_NS}
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
    read_trace: ReadTrace, kernel: Write, cat: str, category: str
) -> None:
    rows = read_trace([kernel(5, 1, cat=cat)]).kernels
    assert rows["category"].to_list() == [category]


@pytest.mark.parametrize(
    "cat", ["cuda_sync", "gpu_user_annotation", "cpu_op", "python_function", "ac2g", ""]
)
def test_nothing_else_is_work_even_on_a_stream(
    read_trace: ReadTrace, kernel: Write, cat: str
) -> None:
    rows = read_trace([kernel(5, 1, cat=cat)])
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
    read_trace: ReadTrace, kernel: Write, name: str, category: str
) -> None:
    rows = read_trace([kernel(5, 1, name)]).kernels
    assert rows["category"].to_list() == [category]


def test_communication_by_its_arguments(read_trace: ReadTrace, kernel: Write) -> None:
    rows = read_trace([kernel(5, 1, "myown", Collective_name="allreduce")])
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
    read_trace: ReadTrace, kernel: Write, stream: object, expected: int
) -> None:
    rows = read_trace([kernel(5, 1, stream=stream), kernel(6, 1)]).kernels
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


def test_step_is_that_of_the_launch(read_trace: ReadTrace, kernel: Write) -> None:
    # GIVEN us    0         10        20        30        40
    #   host      |--- step 1 ---|--- step 2 ---|
    #   launches     1   2          3               4
    #   device                 11111       2222  333      44  55
    events = [
        kernel(12, 5, correlation=1),
        kernel(24, 4, correlation=2),
        kernel(30, 3, correlation=3),
        kernel(36, 2, correlation=4),
        kernel(40, 2, correlation=99),
        launch(2, 1),
        launch(6, 2),
        launch(17, 3),
        launch(33, 4),
        step(2, 15, 15),
        step(1, 0, 15),
    ]
    rows = read_trace(events, name="rank3.json")
    # THEN work belongs to the step that launched it, whenever it ran
    assert rows.kernels["step"].to_list() == [1, 1, 2, None, None]
    assert rows.kernels["linked"].to_list() == [True, True, True, True, False]
    # AND the steps are known as the host timed them
    assert rows.steps.select("step", "rank", "start_ns", "duration_ns").rows() == [
        (1, 3, 0, 15_000),
        (2, 3, 15_000, 15_000),
    ]
    assert set(rows.steps["clock"]) == {"host"}
    assert set(rows.steps["scope"]) == {"rank"}


def test_any_call_launches_and_one_may_launch_many(
    read_trace: ReadTrace, kernel: Write
) -> None:
    graph = launch(1, 5) | {"cat": "cuda_driver", "name": "cuGraphLaunch"}
    rows = read_trace([graph, kernel(5, 1, correlation=5), kernel(7, 1, correlation=5)])
    assert rows.kernels["linked"].to_list() == [True, True]


def test_repeated_ids_find_the_last_call_before_the_work(
    read_trace: ReadTrace, kernel: Write
) -> None:
    # GIVEN two traces glued together, each with correlations 1 and 2
    events = [
        *(step(1, 0, 100), launch(10, 1), kernel(20, 1, correlation=1)),
        *(step(2, 100, 100), launch(110, 1), kernel(120, 1, correlation=1)),
        # Work that starts before its only calls by the skew of clocks takes the next.
        *(launch(30, 2), launch(130, 2), kernel(29, 1, correlation=2)),
    ]
    rows = read_trace(events).kernels
    assert rows["step"].to_list() == [1, 2, 1]


def test_external_id_links_work_without_correlation(
    read_trace: ReadTrace, kernel: Write
) -> None:
    call = launch(1, 0, **{"External id": 77})
    rows = read_trace(
        [
            call,
            kernel(5, 1, External_id=77),
            kernel(6, 1, External_id=77, correlation=0),
            kernel(7, 1, External_id=77, correlation=12),
            kernel(8, 1),
        ]
    ).kernels
    assert rows["linked"].to_list() == [True, True, False, False]


@pytest.mark.parametrize(
    ("told", "name", "rank"),
    [
        ({"rank": 5}, "rank3.json", 5),
        ({"rank": "5"}, "trace.json", 5),
        ({"rank": -1}, "rank3.json", 3),
        ({"backend": "nccl"}, "worker3_step_12.1694.pt.trace.json", 3),
        (None, "rank-0.Apr_03_18_51_38.1102.pt.trace.json", 0),
        (None, "mtia_rank_12.json", 12),
        (None, "RANK0.json", 0),
        ("broken", "frank3.json", None),
        (None, "host_1234.json", None),
    ],
)
@pytest.mark.parametrize("at_end", [False, True])
def test_rank_is_told_or_named(  # noqa: PLR0917 - a table of cases
    read_trace: ReadTrace,
    kernel: Write,
    told: object,
    name: str,
    rank: int,
    at_end: bool,
) -> None:
    events = {"traceEvents": [kernel(5, 1), step(1, 0, 9)]}
    facts = {} if told is None else {"distributedInfo": told}
    rows = read_trace(events | facts if at_end else facts | events, name=name)
    assert rows.kernels["rank"].to_list() == [rank]
    assert rows.steps["rank"].to_list() == ([] if rank is None else [rank])


@pytest.mark.parametrize(
    ("start", "duration", "rule"),
    [
        (50, -1, "negative_duration"),
        (50, None, "no_time"),
        (None, 5, "no_time"),
        ("soon", 5, "no_time"),
        (0, 5, "time_outside_trace"),
        (9e15, 5, "time_outside_trace"),
        (30 * DAY_US, 9e12, "longer_than_trace"),
        (30 * DAY_US, 2e7, "longer_than_trace"),
    ],
)
def test_broken_times_are_refused_by_name(
    read_trace: ReadTrace, kernel: Write, start: object, duration: object, rule: str
) -> None:
    # GIVEN kernels a month after the base, in a profile of 10 s, and a broken one
    sound = [kernel(30 * DAY_US + 10 * one, 5) for one in range(9)]
    rows = read_trace([*sound, kernel(start, duration, "broken"), window(1e7)])
    # THEN it is refused with its place, and the others are rows
    assert rows.rules == [rule]
    assert rows.refused[0].place == "event 9"
    assert "broken" in rows.refused[0].raw
    assert len(rows.kernels) == 9
    assert rows.records == 11


def test_zero_is_a_time_like_any_other(read_trace: ReadTrace, kernel: Write) -> None:
    rows = read_trace([kernel(0, 5), kernel(5, 0), kernel(7, 3_599_000_000)])
    assert rows.kernels["start_ns"].to_list() == [0, 5_000, 7_000]


@pytest.mark.parametrize("device", [None, -1, 1 << 40])
def test_work_of_no_device_is_refused(
    read_trace: ReadTrace, kernel: Write, device: object
) -> None:
    one = kernel(5, 1, device=device)
    del one["pid"]
    assert read_trace([one, kernel(6, 1)]).rules == ["no_device"]


def test_broken_steps_are_refused(read_trace: ReadTrace, kernel: Write) -> None:
    rows = read_trace([step(1, 0, 9), step(2, 9, -9)], name="rank0.json")
    assert rows.steps["step"].to_list() == [1]
    assert rows.rules == ["negative_duration"]


def test_devices_of_steps_are_no_steps_of_the_host(read_trace: ReadTrace) -> None:
    events = [step(1, 0, 9), step(1, 2, 9, cat="gpu_user_annotation")]
    assert len(read_trace(events, name="rank0.json").steps) == 1


@pytest.mark.parametrize(
    "trace",
    [
        b'{"schemaVersion": 1, "deviceProperties": [{"id": 0}]}',
        b'{"schemaVersion": 1, "traceEvents": null}',
        b'{"schemaVersion": 1, "traceEvents": []}',
        b"[]",
        b'{"traceEvents": [{"ph": "M", "name": "process_name"}]}',
    ],
)
def test_a_trace_without_work_is_sound(read_trace: ReadTrace, trace: bytes) -> None:
    rows = read_trace(trace)
    assert rows.kernels.is_empty()
    assert rows.refused == []


@pytest.mark.parametrize("trace", [b"", b"  ", b"kernel", b'"traceEvents"', b"\x00"])
def test_what_is_no_json_cannot_be_read(read_trace: ReadTrace, trace: bytes) -> None:
    with pytest.raises(UnreadableFileError, match=r"trace\.json: byte 0: expected"):
        read_trace(trace)


@pytest.mark.parametrize(
    ("trace", "rule", "kernels"),
    [
        (b'{"schemaVersion": 1, "deviceProp', "truncated", 0),
        (b'{"traceEvents": [%b', "truncated", 1),
        (b'{"traceEvents": [%b], "traceName": "x', "truncated", 1),
        (b'{"traceEvents": [%b]} {"traceEvents": []}', "trailing_data", 1),
        (b'{"traceEvents": [%b], "x": }', "malformed", 1),
        (b'{"x": }', "malformed", 0),
    ],
)
def test_a_broken_end_is_refused_once(
    read_trace: ReadTrace, trace: bytes, rule: str, kernels: int
) -> None:
    one = b'{"cat":"kernel","pid":0,"ts":1,"dur":1,"args":{"stream":7}}'
    rows = read_trace(trace.replace(b"%b", one))
    assert rows.rules == [rule]
    assert len(rows.kernels) == kernels
    assert rows.refused[0].place.startswith("byte ")


def test_facts_are_found_in_a_broken_end(read_trace: ReadTrace, kernel: Write) -> None:
    trace = (
        b'{"distributedInfo": {"rank": 4}, "x": }, "traceEvents": ['
        b'{"cat":"kernel","pid":0,"ts":1,"dur":1}],'
        b' "baseTimeNanoseconds": 1767189312000000000, "traceName": "cut o'
    )
    rows = read_trace(trace).kernels
    assert rows.select("rank", "start_ns").rows() == [(4, BASE_NS + 1_000)]


def test_a_head_is_mended(read_trace: ReadTrace) -> None:
    rows = read_trace(
        b'\xef\xbb\xbf{"deviceProperties": [{"name": "A100", "numSms": NaN}],'
        b' "distributedInfo": {"rank": 2},'
        b' "traceEvents": [{"cat":"kernel","pid":0,"ts":1,"dur":1}]}'
    )
    assert rows.kernels["rank"].to_list() == [2]
    assert rows.repairs == 1


def test_records_and_batches_of_a_large_trace(
    read_trace: ReadTrace, kernel: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN spools and frames so small that a trace of 500 kernels fills many
    monkeypatch.setattr("ingest.sources._kineto_gather.WORK_ROWS", 16)
    monkeypatch.setattr("ingest.sources._kineto_gather.LAUNCH_ROWS", 16)
    monkeypatch.setattr("ingest.sources.kineto.WORK_IN_MEMORY", 64)
    monkeypatch.setattr("ingest.sources.kineto.LAUNCHES_IN_MEMORY", 64)
    count = 500
    events = [
        *(kernel(100 + one, 1, "nccl", correlation=one + 1) for one in range(count)),
        *(launch(one, count - one) for one in range(count)),
        step(3, 0, count),
    ]
    # WHEN it is read
    rows = read_trace({"traceEvents": events}, name="rank0.json")
    # THEN every kernel found its launch, whichever frame it was in
    assert rows.kernels["event"].to_list() == list(range(count))
    assert rows.kernels["step"].to_list() == [3] * count
    assert rows.collectives["enqueue_ns"].to_list() == [
        1_000 * (count - 1 - one) for one in range(count)
    ]
    assert rows.records == 2 * count + 1


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"schemaVersion":1,"traceEvents":[', True),
        (b'\xef\xbb\xbf\n {"traceEvents": [', True),
        (b'{"schemaVersion": 1, "deviceProperties": [', True),
        (b'{"distributedInfo": {"rank": 0}', True),
        (b'{"metadata": {"x": "' + b"y" * 65_536, True),
        (b'{"metadata": {"x": "y"}}', False),
        (b'[{"ph": "X", "cat": "kernel", "name": "a"}]', True),
        (b'[\n {"name": "a", "cat": "cpu_op", "ph": "X"}', True),
        (b'[{"name": "iteration begin", "ph": "i", "ts": 0}]', False),
        (b'{"status": "success", "data": {}}', False),
        (b"[1, 2]", False),
        (b"timestamp, name", False),
        (b"", False),
    ],
)
def test_recognizes_by_content(data: bytes, expected: bool) -> None:
    assert recognizes(Head("whatever.txt", data[:65_536])) is expected


def test_the_source_says_what_changes_its_rows() -> None:
    assert SOURCE.options == {"run_id", "name"}
