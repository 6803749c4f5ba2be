"""Exports of Nsight Systems: work, steps, devices, and what is missing."""

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ingest.sources import SOURCES, Batch, Head, nsight
from ingest.tables import (
    Collectives,
    Kernels,
    StepTimings,
)
from tests.ingest.nsight_export import (
    PID,
    PROCESS,
    SCHEMA,
    SESSION_NS,
    Export,
    sample,
)
from tests.ingest.readings import held, reading, records, refused, rows

OTHER_PROCESS = (1 << 48) | (145 << 24)
US = 1_000


def read(data: bytes, name: str = "report.sqlite") -> list[Batch]:
    return held(nsight.read(io.BytesIO(data), reading(name=name)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "report.sqlite"


def lacking(*tables: str) -> dict[str, str]:
    return {name: made for name, made in SCHEMA.items() if name not in tables}


def kernels(batches: Sequence[Batch]) -> list[dict[str, Any]]:
    return sorted(rows(batches, Kernels), key=lambda row: row["event"])


def test_the_sample_is_what_was_drawn(project: Path) -> None:
    folder = project / "sample_traces/formats/nsight"
    (file,) = folder.iterdir()
    batches = read(file.read_bytes(), file.name)
    assert refused(batches) == []
    drawn = [
        (k["start_ns"] - SESSION_NS, k["duration_ns"], k["category"], k["step"])
        for k in kernels(batches)
    ]
    assert drawn == [
        (12 * US, 18 * US, "compute", 10),
        (25 * US, 20 * US, "communication", 10),
        (78 * US, 12 * US, "communication", 11),
        (60 * US, 20 * US, "compute", 11),
        (5 * US, 3 * US, "memory", 10),
        (55 * US, 1 * US, "memory", 11),
    ]
    assert {k["rank"] for k in kernels(batches)} == {3}
    assert {k["device"] for k in kernels(batches)} == {3}
    assert all(k["linked"] for k in kernels(batches))
    assert records(batches) == 6


def test_names_copies_and_collectives(path: Path) -> None:
    batches = read(sample().write(path))
    assert [k["name"] for k in kernels(batches)][::3] == [
        "void gemm<128, 64>(float*)",
        "CUDA graph",
    ]
    assert [k["name"] for k in kernels(batches)][4:] == ["Memcpy HtoD", "Memset"]
    first, second = rows(batches, Collectives)
    assert (first["kind"], first["algorithm"]) == ("allreduce", "RING_LL")
    assert first["enqueue_ns"] == SESSION_NS + 11 * US
    assert second["end_ns"] == SESSION_NS + 90 * US
    assert first["group_size"] is first["bytes_total"] is None
    assert not first["is_p2p"]


@pytest.mark.parametrize(
    ("name", "rank"), [("job.sqlite", None), ("job_rank12.sqlite", 12)]
)
def test_steps_are_rows_whether_the_rank_is_known(
    path: Path, name: str, rank: int | None
) -> None:
    found = rows(read(sample().write(path), name), StepTimings)
    assert [(r["step"], r["rank"], r["duration_ns"]) for r in found] == [
        (10, rank, 50 * US),
        (11, rank, 50 * US),
    ]


def test_a_rank_of_several_processes_is_not_made_up(path: Path) -> None:
    export = sample()
    export.kernel(1, 2, process=OTHER_PROCESS)
    batches = read(export.write(path), "rank0.sqlite")
    assert {k["rank"] for k in kernels(batches)} == {None}
    assert [s["rank"] for s in rows(batches, StepTimings)] == [None, None]


def test_devices_of_processes_that_see_one_gpu_each(path: Path) -> None:
    export = Export()
    export.kernel(10, 20)
    export.kernel(10, 20, process=OTHER_PROCESS)
    export.add("TARGET_INFO_CUDA_DEVICE", gpuId=4, cudaId=0, pid=PID)
    export.add("TARGET_INFO_CUDA_DEVICE", gpuId=6, cudaId=0, pid=145)
    assert [k["device"] for k in kernels(read(export.write(path)))] == [4, 6]
    data = export.write(path, lacking("TARGET_INFO_CUDA_DEVICE"))
    assert [k["device"] for k in kernels(read(data))] == [0, 0]


def test_correlations_and_steps_are_those_of_a_process(path: Path) -> None:
    export = Export()
    export.range(0, 100, "step 1")
    export.range(0, 100, "step 2", process=OTHER_PROCESS)
    for process, start in ((PROCESS, 20), (OTHER_PROCESS, 40)):
        told: dict[str, Any] = {"process": process, "launched": start - 10}
        export.kernel(start, start + 5, correlationId=9, **told)
    for call in export.rows["CUPTI_ACTIVITY_KIND_RUNTIME"]:
        assert isinstance(call, dict)
        call["correlationId"] = 9
    found = kernels(read(export.write(path)))
    assert [k["step"] for k in found] == [1, 2]


@pytest.mark.parametrize(
    ("names", "step"),
    [
        (["ProfilerStep#7", "iteration 8"], 7),
        (["iteration 8", "step 0"], 8),
        (["iter_9"], 9),
        (["Training step: 10"], 10),
        (["global_step=11"], 11),
        (["step"], None),
        (["optimizer step 3 of 4"], None),
        (["forward"], None),
    ],
)
def test_habits_of_naming_steps(path: Path, names: list[str], step: int | None) -> None:
    export = Export()
    for name in names:
        export.range(0, 100, name)
    export.kernel(20, 30, launched=10)
    (found,) = kernels(read(export.write(path)))
    assert found["step"] == step


def test_a_registered_text_names_a_step_and_an_open_range_does_not(
    path: Path,
) -> None:
    export = Export()
    told = {"globalTid": PROCESS + PID, "eventType": 59}
    export.add("NVTX_EVENTS", start=0, end=50, textId=export.string("step 5"), **told)
    export.range(50, None, "step 6")
    export.kernel(20, 30, launched=10)
    export.kernel(70, 80, launched=60)
    assert [k["step"] for k in kernels(read(export.write(path)))] == [5, None]


@pytest.mark.parametrize("table", sorted(set(SCHEMA) - {"CUPTI_ACTIVITY_KIND_KERNEL"}))
def test_every_other_table_may_be_missing(path: Path, table: str) -> None:
    batches = read(sample().write(path, lacking(table)))
    assert refused(batches) == []
    assert len(kernels(batches)) >= 5


def test_without_a_session_times_count_from_zero(path: Path) -> None:
    data = sample().write(path, lacking("TARGET_INFO_SESSION_START_TIME"))
    assert kernels(read(data))[0]["start_ns"] == 12 * US


def test_without_names_kernels_are_unnamed(path: Path) -> None:
    data = sample().write(path, lacking("StringIds"))
    assert {k["name"] for k in kernels(read(data))[:3]} == {"unnamed kernel"}


def test_columns_may_be_missing(path: Path) -> None:
    few = "start INTEGER, end INTEGER, deviceId INTEGER, shortName INTEGER"
    schema = SCHEMA | {"CUPTI_ACTIVITY_KIND_KERNEL": few}
    found = kernels(read(sample().write(path, schema)))[:3]
    assert [k["stream"] for k in found] == [-1] * 3
    assert found[0]["name"] == "void gemm<128, 64>"
    assert [k["linked"] for k in found] == [False] * 3


def test_a_table_without_times_is_refused(path: Path) -> None:
    schema = SCHEMA | {"CUPTI_ACTIVITY_KIND_KERNEL": "start INTEGER, streamId INTEGER"}
    batches = read(sample().write(path, schema))
    table = "table CUPTI_ACTIVITY_KIND_KERNEL"
    assert refused(batches) == [(table, "missing_column")]
    assert len(kernels(batches)) == 3


@pytest.mark.parametrize("version", ["_V2", "_V3"])
def test_tables_of_a_later_version(path: Path, version: str) -> None:
    name = "CUPTI_ACTIVITY_KIND_KERNEL"
    rename = f"ALTER TABLE {name} RENAME TO {name}{version}"
    batches = read(sample().write(path, SCHEMA, rename))
    assert len(kernels(batches)) == 6


def test_recognized_by_its_tables_alone(path: Path) -> None:
    data = sample().write(path)
    assert nsight.recognizes(Head("any.db", data))
    assert not nsight.recognizes(Head("report.sqlite", data[:16]))
    other = {"cookies": "id INTEGER"}
    assert not nsight.recognizes(Head("c", Export().write(path, other)))
    claiming = [s.name for s in SOURCES if s.recognizes(Head("x", data))]
    assert claiming == ["nsight"]


@pytest.fixture(scope="module")
def real(shared: Path) -> Iterator[list[Batch]]:
    folder = shared / "data/nccl/GindaChen_nsys-ai/tests/fixtures"
    with (folder / "mfu_2gpu_before.sqlite").open("rb") as file:
        yield held(nsight.read(file, reading()))


def test_a_real_export_of_two_gpus(real: list[Batch]) -> None:
    assert refused(real) == []
    assert records(real) == 4_010 + 1_020 + 269
    found = rows(real, Kernels)
    assert {k["rank"] for k in found} == {None}
    talking = rows(real, Collectives)
    assert {(c["kind"], c["is_p2p"]) for c in talking} == {("sendrecv", True)}
    assert len(talking) == 66
    first = min(k["start_ns"] for k in found)
    assert first == 1_779_782_330_176_752_435 + 60_111_513_113


def test_a_real_export_of_schema_3_24(shared: Path) -> None:
    folder = shared / "data/nccl/GindaChen_nsys-ai/tests/fixtures"
    batches = read((folder / "mock.sqlite").read_bytes(), "mock.sqlite")
    assert refused(batches) == []
    found = kernels(batches)
    assert [k["category"] for k in found] == ["compute", "compute", "memory"]
    assert [k["name"] for k in found][2] == "Memcpy DtoH"
    assert all(k["linked"] for k in found)
    assert found[0]["start_ns"] == 1_776_781_226_557_295_056 + 1_517_727_052
