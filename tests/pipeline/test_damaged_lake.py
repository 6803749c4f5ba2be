"""Whatever is damaged in the lake, a command says so in one line."""

from pathlib import Path

import pytest

from analysis.runs import Runs
from ingest.lake import snapshot
from pipeline.cli import run_tokens

pytestmark = pytest.mark.thorough


def test_a_part_that_cannot_be_read_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    # GIVEN a lake with a part of the right size and of other bytes
    steps = tmp_path / "steps.csv"
    steps.write_text("step,rank,start_ns,duration_ns\n0,0,1700000000000000000,900\n")
    lake = tmp_path / "lake"
    assert run_tokens(["run", str(steps), "--lake", str(lake), "--quiet"]) == 0
    part = lake / snapshot(lake).parts(Runs)[0].path
    part.write_bytes(bytes(part.stat().st_size))
    capsys.readouterr()

    # WHEN a report is asked for
    assert run_tokens(["report", "--lake", str(lake)]) == 1

    # THEN
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"gpuledger: {part}: expected a part of 1 rows")
    assert "restore it from a backup" in line
