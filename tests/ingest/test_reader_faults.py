"""A fault of a reader costs its file, and no other."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import polars as pl
import pytest

from ingest import files
from ingest.discovery import Options, discover
from ingest.lake import known_files, snapshot
from ingest.planning import plan
from ingest.sources import Batch, Reading, nvidia_smi
from ingest.tables import IngestedFiles, RejectedRows, TrainingMetrics
from tests.ingest.tiny import TINY, assert_accounted, candidate, ingest, put

HEADER = "timestamp, uuid, power.draw [W]\n"


def broken(error: BaseException) -> Iterator[Batch]:
    row = {"run_id": ["r"], "step": [1], "time_ns": [1]}
    yield Batch({TrainingMetrics: pl.DataFrame(row)}, records=1)
    raise error


@pytest.mark.parametrize(
    "error",
    [
        OverflowError("too large"),
        KeyError("gpu"),
        TypeError("NoneType"),
        RecursionError("deep"),
        pl.exceptions.ComputeError("invalid"),
        pl.exceptions.PanicException("out of range"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_a_fault_is_one_refusal(error: BaseException, tmp_path: Path) -> None:
    # GIVEN a file whose reader fails after its first row, beside a good one
    def read(_: BinaryIO, __: Reading) -> Iterator[Batch]:
        return broken(error)

    faulty = replace(TINY, name="faulty", read=read)
    bad = candidate(put(tmp_path, "bad", ["x"]), source=faulty)
    good = candidate(put(tmp_path, "good", ["m 2 5 1"]))
    ingest(tmp_path / "lake", [bad, good])

    # THEN both rows are there, and the fault is told with the reader's name
    assert_accounted(tmp_path / "lake")
    lake = snapshot(tmp_path / "lake")
    steps = lake.scan(TrainingMetrics).select("step").collect()["step"].sort()
    assert steps.to_list() == [1, 2]
    (refused,) = lake.scan(RejectedRows).collect().iter_rows(named=True)
    assert refused["rule"] == "reader_failed"
    assert "reader faulty" in refused["hint"]


def test_a_log_of_another_node_is_no_beginning(tmp_path: Path) -> None:
    # GIVEN the log of one node that is the beginning of another node's
    rows = [f"2026/03/02 12:00:0{i}.000, GPU-1, 5 W\n" for i in range(4)]
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "smi-node-21.csv").write_text(HEADER + "".join(rows[:2]))
    (folder / "smi-node-22.csv").write_text(HEADER + "".join(rows))
    (folder / "smi-node-23.csv").write_text(HEADER)
    known = IngestedFiles.create_empty()

    # THEN both are read; one that has grown under its own name is one file
    planned = plan(discover([folder], Options()), known)
    names = [one.path.name for one in planned.candidates]
    assert names == ["smi-node-21.csv", "smi-node-22.csv", "smi-node-23.csv"]
    assert {one.source for one in planned.candidates} == {nvidia_smi.SOURCE}
    assert files.fingerprint(folder / "smi-node-22.csv").prefixes == ()


def test_a_file_without_rows_still_has_its_beginning(tmp_path: Path) -> None:
    # GIVEN a listing of steps only, which makes no job, and a copy of its beginning
    lines = [f"1.{i}|COMPLETED\n" for i in range(6)]
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "all.txt").write_text("JobID|State\n" + "".join(lines))
    (folder / "some.txt").write_text("JobID|State\n" + "".join(lines[:3]))
    first = plan(discover([folder], Options()), IngestedFiles.create_empty())
    assert [one.path.name for one in first.candidates] == ["all.txt"]

    # WHEN it is in the lake, THEN nothing is new
    ingest(tmp_path / "lake", first.candidates)
    second = plan(discover([folder], Options()), known_files(tmp_path / "lake"))
    assert second.candidates == ()
