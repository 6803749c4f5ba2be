"""A real export of two GPUs against what an SQL sweep of its kernels gave.

nsys-ai reads kernels only: copies count as idle there.
"""

import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

import polars as pl
import pytest

from analysis import Frames
from analysis.attempts import Attempts
from analysis.overlap import Overlap, measure_overlap
from analysis.overlap_groups import measure_groups
from ingest.sources import nsight
from ingest.tables import Collectives, Kernels, Table
from tests.ingest.readings import reading

FILE: Final = "data/nccl/GindaChen_nsys-ai/tests/fixtures/mfu_2gpu_before.sqlite"

#: Compute, communication, both, communication alone, idle, and all of it. [ms]
EXPECTED: Final[Mapping[int, tuple[str, ...]]] = MappingProxyType(
    {
        0: ("253.69", "17.17", "0.00", "17.17", "28.99", "299.85"),
        1: ("256.10", "8.23", "0.00", "8.23", "34.34", "298.66"),
    }
)


@cache
def rows_of(path: Path) -> Mapping[type[Table], pl.DataFrame]:
    data = io.BytesIO(path.read_bytes())
    batches = [b.rows for b in nsight.read(data, reading()) if b.rows]
    found: dict[type[Table], pl.DataFrame] = {}
    for table in (Kernels, Collectives):
        frames = [rows[table] for rows in batches if table in rows]
        told = pl.concat([table.create_empty(), *frames], how="diagonal")
        named = told.with_columns(file_id=pl.lit("f")).select(table.column_names())
        found[table] = table.validate(named, cast=True)
    return found


def overlap_of(path: Path) -> pl.DataFrame:
    kernels = rows_of(path)[Kernels].lazy()
    return measure_overlap(Kernels.cast(kernels), Attempts.create_empty().lazy())


@pytest.mark.parametrize("device", EXPECTED)
def test_overlap_of_each_gpu(shared: Path, device: int) -> None:
    found = overlap_of(shared / FILE).filter(device=device)
    (row,) = found.to_dicts()
    assert row["step"] is None
    got = (
        row["compute_ns"],
        row["communication_ns"],
        row["overlapped_ns"],
        row["exposed_communication_ns"],
        row["idle_ns"] + row["exposed_memory_ns"],
        row["span_ns"],
    )
    assert tuple(f"{ns / 1e6:.2f}" for ns in got) == EXPECTED[device]


def test_it_is_of_one_kind_and_nothing_of_it_is_hidden(shared: Path) -> None:
    path = shared / FILE
    overlap = overlap_of(path)
    frames = {table: rows.lazy() for table, rows in rows_of(path).items()}
    groups, _ = measure_groups(Frames(frames | {Overlap: overlap.lazy()}))
    of_splits = groups.group_by("device", "split").agg(
        pl.col("exposed_alone_ns").sum(), pl.col("collectives_count").sum()
    )
    whole = of_splits.join(overlap, on="device")
    assert whole.height == 2 * 4
    assert whole["exposed_alone_ns"].equals(whole["exposed_communication_ns"])
    assert whole["collectives_count"].equals(whole["communication_count"])
    # all-to-all is a SendRecv kernel to NCCL
    kinds = groups.filter(split="kind").select("kind", "overlapped_ns").unique()
    assert kinds.rows() == [("sendrecv", 0)]
