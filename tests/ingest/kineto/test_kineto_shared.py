"""Real traces, and what others found in them."""

import csv
import gzip
import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.sources import Head
from ingest.sources.kineto import recognizes
from ingest.tables import Collectives, Kernels, StepTimings

pytestmark = pytest.mark.thorough

#: Categories of work.
WORK = ("kernel", "gpu_memcpy", "gpu_memset")

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


def test_times_since_the_epoch_are_exact(shared: Path, read_trace: ReadTrace) -> None:
    # The span by decimal arithmetic over the text: 480,029,179 ns. The published value
    # of the same trace, 480,029,227 ns, took `ts` for a float, whose step is 250 ns.
    (path,) = (shared / "data/kineto").rglob("rank-0.Apr_03_18_51_38.1102*")
    trace = json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)
    work = [one for one in trace["traceEvents"] if one.get("cat") in WORK]
    starts = [int(one["ts"] * 1_000) for one in work]
    lengths = [int(one["dur"] * 1_000) for one in work]
    rows = read_trace(path).kernels
    assert rows["start_ns"].to_list() == starts
    assert rows["duration_ns"].to_list() == lengths
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]
    assert max(ends) - min(starts) == 480_029_179


def test_every_trace_is_recognized(shared: Path) -> None:
    for path in (shared / "data/kineto").rglob("*.json"):
        with path.open("rb") as file:
            assert recognizes(Head("x", file.read(65_536))), path


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


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("Falconsai_nsfw_image_detection__1016002.json.gz", 1),
        ("gaunernst_bert-small-uncased__1016001.json.gz", 1),
        ("distributed_info_not_found.json.gz", 1),
        ("rank_not_found.json.gz", 1),
        ("triton_example.json.gz", 1),
        ("mi250_minitoy_train_ROCm6_2_kineto.json.gz", 2),
        ("TestProfiler.test_all_categories.json_content.json", 1),
        ("TestProfiler.test_multiple_profilersteps_no_overlap.json_content.json", 2),
    ],
)
def test_steps_of_traces_without_a_rank(
    shared: Path, read_trace: ReadTrace, name: str, count: int
) -> None:
    path = next((shared / "data/kineto").rglob(name))
    assert read_trace(path).steps["rank"].to_list() == [None] * count


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
