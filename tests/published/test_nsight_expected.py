"""A real export of two GPUs against what an SQL sweep of its kernels gave.

nsys-ai reads kernels only: copies count as idle there.
"""

import io
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import polars as pl
import pytest

from analysis.attempts import Attempts
from analysis.overlap import measure_overlap
from ingest.sources import nsight
from ingest.tables import Kernels
from tests.ingest.readings import reading

FILE: Final = "data/nccl/GindaChen_nsys-ai/tests/fixtures/mfu_2gpu_before.sqlite"

#: Compute, communication, both, communication alone, idle, and all of it. [ms]
EXPECTED: Final[Mapping[int, tuple[str, ...]]] = MappingProxyType(
    {
        0: ("253.69", "17.17", "0.00", "17.17", "28.99", "299.85"),
        1: ("256.10", "8.23", "0.00", "8.23", "34.34", "298.66"),
    }
)


@pytest.mark.parametrize("device", EXPECTED)
def test_overlap_of_each_gpu(shared: Path, device: int) -> None:
    data = io.BytesIO((shared / FILE).read_bytes())
    frames = [b.rows[Kernels] for b in nsight.read(data, reading()) if b.rows]
    told = pl.concat([Kernels.create_empty(), *frames], how="diagonal").with_columns(
        file_id=pl.lit("f")
    )
    kernels = Kernels.validate(told.select(Kernels.column_names()), cast=True)
    found = measure_overlap(
        Kernels.cast(kernels.lazy()), Attempts.create_empty().lazy()
    )
    (row,) = found.filter(pl.col("device") == device).to_dicts()
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
