"""Damaged telemetry: no traceback, no hang, bounded memory, every row accounted for.

`make mutants` reads 200 damaged copies of the sample of each format.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]

SAMPLES = sorted(
    path
    for path in (PROJECT / "sample_traces" / "formats").rglob("*")
    if path.is_file() and path.suffix != ".md"
)

#: Damaged copies of each sample. [1]
COPIES = 200

#: After this a reader hangs: whole files are read in some 20 ms. [s]
HANGS_S = 900

#: Memory that a damaged copy of a small file may take beyond the whole one. [B]
MOST_BYTES = 400 * 1024 * 1024


@pytest.mark.mutation
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_damaged_copies_are_answered(sample: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.mutation.hold", str(sample), str(tmp_path)]
    done = subprocess.run(
        [*command, str(COPIES)],
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        cwd=PROJECT,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    held = json.loads(done.stdout)
    assert held["copies"] == COPIES
    assert held["rows_read"] > 0
    assert held["peak_growth"] < MOST_BYTES
