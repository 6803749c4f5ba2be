"""A file five times as long takes no more memory to read, and hardly any to commit."""

import subprocess
import sys
from pathlib import Path

import pytest

LONG = """
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
import polars as pl
from ingest.phrases import phrase
from ingest.lake import open_writer
from ingest.sources import Batch
from ingest.staging import stage
from ingest.tables import StepTimings
from tests.benchmarks._peak import peak_mb
from tests.ingest.tiny import TINY, candidate, put

ROWS = 100_000

def read(stream, reading) -> Iterator[Batch]:
    for n in range(int(stream.read())):
        step = pl.int_range(n * ROWS, (n + 1) * ROWS, eager=True)
        rows = pl.DataFrame({"step": step}).with_columns(
            run_id=pl.lit("r"), rank=pl.col("step") % 512,
            start_ns=pl.col("step") * 20_000_000, duration_ns=pl.col("step") % 977,
            clock=pl.lit("host"), scope=pl.lit("rank"), step_count=1,
            place=phrase("line {}", "step"),
        )
        yield Batch({StepTimings: rows})

folder = Path(sys.argv[1])
long = candidate(put(folder, "log", [sys.argv[2]]), source=replace(TINY, read=read))
with open_writer(folder / "lake") as writer:
    done = writer.commit([stage(folder / "lake", [long])])
assert done.files["rows_accepted"].to_list() == [int(sys.argv[2]) * ROWS]
print(peak_mb())
"""


def peak(folder: Path, batches: int) -> float:
    folder.mkdir()
    arguments = [sys.executable, "-c", LONG, str(folder), str(batches)]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    return float(done.stdout)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_length_of_a_file(tmp_path: Path) -> None:
    one = peak(tmp_path / "one", 20)
    five = peak(tmp_path / "five", 100)
    assert five < 1.25 * one
