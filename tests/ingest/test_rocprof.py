"""Traces of rocprof 1 and 2 and of rocprofv3: work, devices, links, damaged files."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import UnreadableFileError
from ingest.sources import SOURCES, Batch, Head, rocprof
from ingest.sources._rocprof import gather
from ingest.tables import Collectives, Kernels
from tests.examples import examples
from tests.ingest.readings import held, reading, records, refused, rows

SAMPLES = Path(__file__).parents[2] / "sample_traces/formats/rocprof"

#: Handles of a CPU and of two GPUs: more than 63 bits, as the profiler gives them.
CPU, GPU, SECOND = (13_390_814_310_128_413_000 + n for n in range(3))


def read(data: bytes, name: str = "results.json") -> list[Batch]:
    return held(rocprof.read(io.BytesIO(data), reading(name=name)))


def kernels(batches: list[Batch]) -> list[dict[str, Any]]:
    return sorted(rows(batches, Kernels), key=lambda row: row["event"])


#   ---- rocprof 1 and 2


def event(name: str, begin: Any, end: Any, **args: Any) -> str:
    told = {"BeginNs": begin, "EndNs": end, "dev-id": "0", "queue-id": "0"} | args
    members = ",".join(f'"{k}":"{v}"' for k, v in told.items() if v is not None)
    return f',{{"ph":"X","name":"{name}","args":{{{members}}}}}\n'


def chrome(*events: str) -> bytes:
    text = "".join(events)
    return f'{{ "traceEvents":[{{}}\n{text}],\n"otherData": {{}}\n}}'.encode()


def test_work_is_what_names_a_device() -> None:
    batches = read(
        chrome(
            event("hipLaunchKernel", 1, 2, **{"dev-id": None, "queue-id": None}),
            event("gemm", 10, 30, **{"dev-id": "3", "queue-id": "7"}),
            event("async-copy1:55", 31, 32, **{"dev-id": None}),
            event("Marker", 33, 34),
        )
    )
    assert refused(batches) == []
    assert records(batches) == 5
    (row,) = kernels(batches)
    assert (row["device"], row["stream"], row["event"]) == (3, 7, 2)
    assert (row["start_ns"], row["duration_ns"]) == (10, 20)
    assert (row["rank"], row["step"], row["linked"]) == (None, None, False)


def test_names_of_work_tell_its_category() -> None:
    names = {
        "CopyHostToDevice": "memory",
        "hcMemcpyDeviceToHost": "memory",
        "FillBuffer": "memory",
        "CatArrayBatchedCopy<float>": "compute",
        "hipblaslt_gemm": "compute",
        "ncclDevKernel_Generic_4": "communication",
        "ncclKernel_AllReduce_RING_LL_Sum_float": "communication",
    }
    batches = read(chrome(*(event(name, 1, 2) for name in names)))
    found = {row["name"]: row["category"] for row in kernels(batches)}
    assert found == names
    kinds = [row["kind"] for row in rows(batches, Collectives)]
    assert sorted(kinds) == ["allreduce", "unknown"]


def test_kernels_of_a_trace_with_time_stamps_only() -> None:
    told = {"dev-id": None, "gpu-id": "2", "queue-id": None, "stream-id": "5"}
    (row,) = kernels(read(chrome(event("gemm", 1, 2, **told))))
    assert (row["device"], row["stream"]) == (2, 5)


def test_a_name_with_quotes_is_mended() -> None:
    batches = read(chrome(event('f("x")', 1, 2), event("gemm", 3, 4)))
    assert [row["name"] for row in kernels(batches)] == ['f("x")', "gemm"]
    assert sum(batch.repairs for batch in batches) == 1


@pytest.mark.parametrize(
    ("begin", "end", "rule"),
    [
        ("soon", "30", "no_time"),
        ("10", "", "no_time"),
        ("10", "9" * 30, "no_time"),
        ("10", "9" * 5_000, "no_time"),
        ("1e3", "2000", "no_time"),
        ("-5", "20", "no_time"),
        ("30", "20", "negative_duration"),
    ],
)
def test_values_that_are_no_time(begin: str, end: str, rule: str) -> None:
    sound = event("gemm", 10, 20)
    batches = read(chrome(sound, event("gemm", begin, end), sound))
    assert refused(batches) == [("event 2", rule)]
    assert len(kernels(batches)) == 2


def test_a_device_that_is_no_number_is_refused() -> None:
    batches = read(chrome(event("gemm", 1, 2, **{"dev-id": "gpu"})))
    assert refused(batches) == [("event 1", "no_device")]


#   ---- rocprofv3


def when(internal: int, start: Any, end: Any) -> dict[str, Any]:
    correlation = {"internal": internal, "external": 0}
    stamps = {"start_timestamp": start, "end_timestamp": end}
    return stamps | {"correlation_id": correlation}


def dispatch(
    internal: int, start: Any, end: Any, agent: int = GPU, kernel: int = 1
) -> dict[str, Any]:
    info = {
        "agent_id": {"handle": agent},
        "queue_id": {"handle": (1 << 64) - 2},
        "kernel_id": kernel,
    }
    return when(internal, start, end) | {"dispatch_info": info}


def copy(internal: int, source: int, target: int) -> dict[str, Any]:
    sides = {"src_agent_id": {"handle": source}, "dst_agent_id": {"handle": target}}
    return when(internal, 50, 60) | sides


def process(
    dispatches: list[Any],
    copies: list[Any] | None = None,
    calls: list[Any] | None = None,
    numbers: tuple[int | None, int | None] = (None, None),
) -> dict[str, Any]:
    agents: list[dict[str, Any]] = [{"id": {"handle": CPU}, "type": 1}]
    for handle, number in zip((GPU, SECOND), numbers, strict=True):
        agent = {"id": {"handle": handle}, "type": 2}
        agents.append(
            agent | ({} if number is None else {"logical_node_type_id": number})
        )
    symbols = {"kernel_id": 1, "formatted_kernel_name": "gemm", "kernel_name": "_Z.kd"}
    return {
        "metadata": {"pid": 1},
        "agents": agents,
        "kernel_symbols": [symbols, {"kernel_id": 2, "kernel_name": "only.kd"}],
        "buffer_records": {
            "kernel_dispatch": dispatches,
            "hip_api": calls or [],
            "memory_copy": copies or [],
        },
    }


def tool(*processes: dict[str, Any], indent: int | None = None) -> bytes:
    return json.dumps({"rocprofiler-sdk-tool": processes}, indent=indent).encode()


@pytest.mark.parametrize("indent", [None, 2])
def test_a_kernel_is_linked_to_its_call(indent: int | None) -> None:
    calls = [when(7, 5, 8), when(8, 9, 10)]
    data = tool(
        process([dispatch(7, 10, 30), dispatch(9, 40, 45)], calls=calls), indent=indent
    )
    batches = read(data)
    assert refused(batches) == []
    first, second = kernels(batches)
    assert (first["name"], first["start_ns"], first["duration_ns"]) == ("gemm", 10, 20)
    assert (first["device"], first["stream"]) == (0, -2)
    assert (first["linked"], second["linked"]) == (True, False)
    assert records(batches) == 4


def test_names_fall_back_and_may_be_unknown() -> None:
    one, two = dispatch(1, 1, 2, kernel=2), dispatch(2, 3, 4, kernel=9)
    names = [row["name"] for row in kernels(read(tool(process([one, two]))))]
    assert names == ["only.kd", "unnamed kernel"]


@pytest.mark.parametrize(
    ("numbers", "expected"), [((None, None), [0, 1]), ((4, 6), [4, 6])]
)
def test_devices_are_those_that_the_profiler_numbers(
    numbers: tuple[int | None, int | None], expected: list[int]
) -> None:
    work = [dispatch(1, 1, 2), dispatch(2, 1, 2, agent=SECOND)]
    found = kernels(read(tool(process(work, numbers=numbers)), "rank5.json"))
    assert [row["device"] for row in found] == expected
    assert {row["rank"] for row in found} == {None}


def test_a_rank_in_the_name_counts_for_one_gpu() -> None:
    (row,) = kernels(read(tool(process([dispatch(1, 1, 2)])), "rank5_results.json"))
    assert row["rank"] == 5


def test_copies_are_on_the_gpu_that_they_lead_to_else_from() -> None:
    ends = [copy(1, CPU, GPU), copy(2, GPU, CPU), copy(3, GPU, SECOND)]
    found = kernels(read(tool(process([], copies=ends))))
    assert [(row["name"], row["device"]) for row in found] == [
        ("Memcpy HtoD", 0),
        ("Memcpy DtoH", 0),
        ("Memcpy DtoD", 1),
    ]
    batches = read(tool(process([], copies=[copy(1, CPU, CPU)])))
    assert [rule for _, rule in refused(batches)] == ["no_device"]


def test_processes_have_correlations_of_their_own() -> None:
    one = process([dispatch(1, 10, 20)], calls=[when(1, 5, 6)])
    two = process([dispatch(1, 10, 20)])
    found = kernels(read(tool(one, two)))
    assert [row["linked"] for row in found] == [True, False]


@pytest.mark.parametrize("bad", ["soon", None, 1.5, [1], {}, 1 << 70, -4])
def test_stamps_of_another_kind_are_refused(bad: Any) -> None:
    work = [dispatch(1, 10, 20), dispatch(2, bad, 30), dispatch(3, 20, 30)]
    batches = read(tool(process(work)))
    assert refused(batches) == [("event 1", "no_time")]
    assert [row["name"] for row in kernels(batches)] == ["gemm"] * 2


def test_what_is_not_asked_for_is_not_read() -> None:
    secret = "hunter2-AKIA0000SECRET"
    made = process([dispatch(1, 1, 2)])
    made["metadata"] |= {"command": [secret], "environment": {"KEY": secret}}
    told = read(tool(made))
    shown = [frame.write_json() for batch in told for frame in batch.rows.values()]
    assert secret not in "".join(shown)


def test_a_trace_cut_short_keeps_what_is_whole() -> None:
    data = tool(process([dispatch(n, n, n + 1) for n in range(1, 50)]))
    cut = data[: data.rindex(b'"internal": 30')]
    batches = read(cut)
    assert len(kernels(batches)) == 29
    assert [rule for _, rule in refused(batches)] == ["truncated"] * 2


@pytest.mark.parametrize("data", [b"", b"[]", b"BeginNs,EndNs\n"])
def test_no_trace_at_all(data: bytes) -> None:
    with pytest.raises(UnreadableFileError, match="rocprof"):
        read(data)


def test_samples_are_read_whole() -> None:
    for file in sorted(SAMPLES.iterdir()):
        data = file.read_bytes()
        claiming = [s for s in SOURCES if s.recognizes(Head(file.name, data))]
        assert claiming[0].name == "rocprof"
        batches = read(data, file.name)
        assert refused(batches) == []
        assert rows(batches, Collectives)
        assert {row["rank"] for row in rows(batches, Kernels)} <= {2, 3}


def test_traces_of_pytorch_are_not_its_own(shared: Path) -> None:
    kineto = b'{"traceEvents": [{"cat": "kernel", "args": {"device": 0}}]}'
    assert not rocprof.recognizes(Head("a", kineto))
    folder = shared / "data/kineto/micro"
    for path in folder.rglob("*.json"):
        assert not rocprof.recognizes(Head(path.name, path.read_bytes()))


def test_bytes_that_are_no_text_cost_no_name() -> None:
    data = tool(process([dispatch(1, 1, 2)])).replace(b'"gemm"', b'"g\xffm"')
    batches = read(data)
    (row,) = kernels(batches)
    assert row["name"] == "g\ufffdm"
    assert sum(batch.repairs for batch in batches) == 1


@pytest.mark.parametrize("old", [b'"metadata"', b'"kernel_dispatch"', b'"strings"'])
def test_bytes_that_are_no_text_are_counted_around_lists(old: bytes) -> None:
    made = process([dispatch(1, 1, 2)]) | {"strings": {"a": "b"}}
    data = tool(made).replace(old, b'"x": "\xff", ' + old)
    batches = read(data)
    assert (refused(batches), len(kernels(batches))) == ([], 1)
    assert sum(batch.repairs for batch in batches) == 1


@pytest.mark.parametrize("count", [1, 5_000, 3 << 20])
def test_nul_bytes_at_the_end_are_a_repair(count: int) -> None:
    batches = read(tool(process([dispatch(1, 1, 2)])) + b"\n" + bytes(count))
    assert (refused(batches), len(kernels(batches))) == ([], 1)
    assert sum(batch.repairs for batch in batches) == 1


def test_a_trace_cut_in_its_last_brackets_is_told() -> None:
    data = tool(process([dispatch(1, 1, 2)])).rstrip()
    for cut in (data[:-1], data[:-2]):
        assert [rule for _, rule in refused(read(cut))] == ["truncated"]


@given(
    at=st.integers(0, 5_000),
    fill=st.binary(max_size=20),
    cut=st.integers(1, 5_000),
    which=st.integers(0, 1),
)
@settings(max_examples=examples(60))
def test_a_damaged_trace_never_raises_anything_else(
    at: int, fill: bytes, cut: int, which: int
) -> None:
    file = sorted(SAMPLES.iterdir())[which]
    data = file.read_bytes()
    for damaged in (data[:at] + fill + data[at + len(fill) :], data[:cut] + fill):
        try:
            batches = read(damaged, file.name)
        except UnreadableFileError:
            continue
        assert len(rows(batches, Kernels)) <= records(batches)


def test_processes_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    data = tool(*(process([dispatch(1, 10 * n, 10 * n + 5)]) for n in range(9)))
    together = read(data)
    monkeypatch.setattr(gather, "ROWS_TOGETHER", 1)
    assert kernels(read(data)) == kernels(together)
    assert [b.rows[Kernels].height for b in together if Kernels in b.rows] == [9]
