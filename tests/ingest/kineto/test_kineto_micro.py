"""Small traces that each hold one fault of a profiler, or one trap for a reader."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

ReadTrace = Callable[..., Any]


def micro(shared: Path, name: str) -> Path:
    return shared / "data/kineto/micro" / name


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
