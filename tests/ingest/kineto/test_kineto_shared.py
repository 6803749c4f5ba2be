"""Real traces, and small ones that each hold one fault of a profiler."""

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ingest.sources import Head
from ingest.sources.kineto import recognizes
from ingest.tables import Collectives, Kernels, StepTimings

ReadTrace = Callable[..., Any]

#: Counts of work in the published values, by the category of ours.
COUNTS = {
    "n compute kernels": "compute",
    "n comm kernels": "communication",
    "n memcpy+memset": "memory",
}


def published_counts(shared: Path) -> Iterator[tuple[Path, str, int]]:
    """Yield file, category and number of events, counted by an independent sweep."""
    with (shared / "expected/kineto.tsv").open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["evidence"] == "independent_exact" and row["metric"] in COUNTS:
                path = shared / "data" / row["file"]
                yield path, COUNTS[row["metric"]], int(row["expected"])


def micro(shared: Path, name: str) -> Path:
    return shared / "data/kineto/micro" / name


def real_traces(shared: Path) -> list[Path]:
    folder = shared / "data/kineto"
    traces = [path for path in folder.rglob("*.json*") if path.parts[-2] != "micro"]
    return sorted(path for path in traces if "micro" not in path.parts)


def test_published_counts(shared: Path, read_trace: ReadTrace) -> None:
    counted: dict[Path, dict[str, int]] = {}
    expected = list(published_counts(shared))
    for path, category, number in expected:
        if path not in counted:
            frame = read_trace(path).kernels["category"].value_counts()
            counted[path] = dict(frame.iter_rows())
        assert counted[path].get(category, 0) == number, (path, category)
    assert len(expected) == 48


def test_every_real_trace_is_read_without_loss(
    shared: Path, read_trace: ReadTrace
) -> None:
    traces = real_traces(shared)
    for path in traces:
        rows = read_trace(path)
        assert rows.records > 0, path
        assert (rows.refused, rows.repairs) == ([], 0), path
    assert len(traces) == 30


def test_every_trace_is_recognized(shared: Path) -> None:
    for path in (shared / "data/kineto").rglob("*.json"):
        with path.open("rb") as file:
            assert recognizes(Head("x", file.read(65_536))), path


@pytest.mark.parametrize(
    ("name", "kernels", "repairs", "rules"),
    [
        ("abs_ns", [("a", 7, 1_712_195_911_000_000_123, 1)], 0, []),
        ("badesc", [], 1, []),
        ("bigint", [("a", 7, 1_000, 1_000)], 0, []),
        ("ctrl", [], 1, []),
        ("dup", [("a", 9, 1_000, 1_000)], 0, []),
        ("na", [("a", 7, 1_000, 1_000)], 1, []),
        ("nan", [("a", 7, 1_000, 1_000)], 1, []),
        ("quote", [], 1, []),
        ("trailing", [("a", 7, 1_000, 1_000)], 1, []),
        ("trunc", [("a", 7, 1_000, 1_000)], 0, ["truncated"]),
        ("utf8", [("a\ufffd\ufffd", 7, 1_000, 1_000)], 1, []),
    ],
)
def test_each_fault_has_its_answer(  # noqa: PLR0917 - a table of cases
    shared: Path,
    read_trace: ReadTrace,
    name: str,
    kernels: list[tuple[str, int, int, int]],
    repairs: int,
    rules: list[str],
) -> None:
    rows = read_trace(micro(shared, f"{name}.json"))
    columns = ("name", "stream", "start_ns", "duration_ns")
    assert rows.kernels.select(columns).rows() == kernels
    assert (rows.repairs, rows.rules) == (repairs, rules)


def test_base_time_tells_ranks_apart(shared: Path, read_trace: ReadTrace) -> None:
    first, second = (
        read_trace(micro(shared, f"basetime/rank{rank}.json")).kernels["start_ns"][0]
        for rank in (0, 1)
    )
    assert second - first == 7_889_238 * 10**9


@pytest.mark.parametrize("rank", [0, 1])
def test_compact_json_tells_its_rank(
    shared: Path, read_trace: ReadTrace, rank: int
) -> None:
    content = micro(shared, f"compact/rank{rank}.json").read_bytes()
    rows = read_trace(content, name="no_name.json")
    assert rows.kernels["rank"].to_list() == [rank]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cuda_sync", {"compute": (2, 200_000)}),
        ("custom_ar", {"compute": (1, 200_000), "communication": (2, 300_000)}),
        ("hip_prefix", {"compute": (1, 100_000), "communication": (1, 100_000)}),
        ("cpuop_stream", {"compute": (1, 2_000)}),
        ("sub_us", {"compute": (10, 4_000)}),
    ],
)
def test_work_of_each_category(
    shared: Path, read_trace: ReadTrace, name: str, expected: dict[str, Any]
) -> None:
    rows = read_trace(micro(shared, f"{name}/rank0.json")).kernels
    found = rows.group_by("category").agg(
        pl.len(), pl.col("duration_ns").cast(pl.Int64).sum()
    )
    assert {row[0]: row[1:] for row in found.iter_rows()} == expected
    assert rows["linked"].all()


@pytest.mark.parametrize("form", ["modern", "old"])
def test_collectives_of_a_straggler(
    shared: Path, read_trace: ReadTrace, form: str
) -> None:
    rows = [
        read_trace(micro(shared, f"straggler_{form}/rank{rank}.json")).collectives
        for rank in (0, 1)
    ]
    assert [frame["kind"].to_list() for frame in rows] == [["allreduce"] * 2] * 2
    assert [frame["step"].to_list() for frame in rows] == [[1, 2]] * 2
    late = rows[1]["start_ns"] - rows[0]["start_ns"]
    assert late.to_list() == [400_000, 400_000]


def test_steps_of_a_multi_rank_run(shared: Path, read_trace: ReadTrace) -> None:
    # The annotation of DLRM's rank 7: ProfilerStep#10 at 1694128201428718 us.
    folder = shared / "data/kineto/facebookresearch+param"
    (path,) = folder.rglob("worker7_step_12*.json")
    rows = read_trace(path)
    assert rows.steps.select("step", "rank", "start_ns", "duration_ns").rows() == [
        (10, 7, 1_694_128_201_428_718_000, 12_509_000)
    ]
    kinds = rows.collectives["kind"].value_counts()
    assert dict(kinds.iter_rows()) == {"sendrecv": 5, "allreduce": 3}
    assert set(rows.collectives["group_id"]) == {"world"}
    assert set(rows.collectives["group_size"]) == {8}


def test_graphs_link_many_kernels_to_one_launch(
    shared: Path, read_trace: ReadTrace
) -> None:
    (path,) = (shared / "data/kineto").rglob("sglang_Qwen3-8B_decode.json.gz")
    assert read_trace(path).kernels["linked"].all()


def test_kernels_without_a_launch_are_kept(shared: Path, read_trace: ReadTrace) -> None:
    # 3,653 pieces of work, of which 968 were launched before the profile began.
    (path,) = (shared / "data/kineto").rglob("resnet_act_checkpoint.json.gz")
    linked = read_trace(path).kernels["linked"]
    assert (len(linked), linked.sum()) == (3_653, 2_685)


def test_rows_of_every_table_name_their_trace(
    shared: Path, read_trace: ReadTrace
) -> None:
    (path,) = (shared / "data/kineto").rglob("nccl_data.json.gz")
    rows = read_trace(path)
    for table in (Kernels, Collectives, StepTimings):
        frame = rows.tables[table]
        assert len(frame)
        assert frame["file_id"].n_unique() == 1
    assert re.fullmatch("[0-9a-f]{16}", rows.kernels["trace_id"][0])
