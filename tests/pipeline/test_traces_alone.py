"""A run of which only traces tell: each pays for what it covers and no more."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from pipeline import querying
from pipeline.cli import run_tokens

pytestmark = pytest.mark.thorough

BASE = b'"baseTimeNanoseconds":1767189312000000000,'


@pytest.fixture
def lake(project: Path, tmp_path: Path) -> Path:
    """Three ranks, and a fourth whose trace was cut off before it told its base."""
    inbox = tmp_path / "traces"
    inbox.mkdir()
    folder = project / "sample_traces" / "pod16" / "traces"
    for rank in range(4):
        name = f"rank-{rank:02}.pt.trace.json"
        text = gzip.decompress((folder / f"{name}.gz").read_bytes())
        assert text.count(BASE) == 1
        if rank == 3:
            text = text.replace(BASE, b"")[: len(text) // 2]
        (inbox / name).write_bytes(text)
    lake = tmp_path / "lake"
    assert run_tokens(["run", str(inbox), "--lake", str(lake), "--quiet"]) == 3
    return lake


def test_a_trace_without_a_clock_stretches_nothing(lake: Path) -> None:
    def sql(query: str) -> pl.DataFrame:
        return querying.rows_of(lake, query)

    # GIVEN that the cut trace counts from zero, decades before the others
    starts = sql("SELECT rank, start_ns FROM overlap WHERE step IS NULL ORDER BY 1")
    assert starts["start_ns"][3] < 10**17 < starts["start_ns"][0]
    # THEN the attempt is as long as the others say, and each of them pays for its span
    attempt = sql("SELECT end_ns - start_ns AS ns FROM attempts")
    assert attempt["ns"][0] < 4 * 10**9
    paid = sql("SELECT rank, to_ns - from_ns AS ns FROM allocations ORDER BY 1")
    spans = sql(
        "SELECT rank, span_ns AS ns FROM overlap WHERE step IS NULL AND rank < 3"
        " ORDER BY 1"
    )
    assert paid.equals(spans)
    assert sql("SELECT * FROM lost_time WHERE category = 'unattributed'").is_empty()
