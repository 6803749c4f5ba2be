"""What the real listings of Slurm must give, by the list of expected values."""

import ast
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ingest.sources import Source, sacct, scontrol, sinfo, squeue
from ingest.sources._lines_frames import line_frames
from ingest.sources._slurm.sacct_jobs import split
from ingest.sources._slurm.sacct_records import parse_header, records_of
from ingest.sources._source import Batch, Head
from ingest.tables import Failures, Jobs
from ingest.times import SECOND_NS
from tests.ingest.readings import held, reading, records, refused, repairs, rows

GCM = "data/failures/facebookresearch+gcm"


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, dict[str, str]]:
    with (shared / "expected/failures.tsv").open(newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file, delimiter="\t")}


def batches_of(source: Source, path: Path) -> list[Batch]:
    assert source.recognizes(Head(path.name, path.read_bytes()[:65_536]))
    with path.open("rb") as stream:
        return held(source.read(stream, reading()))


def fields_of(path: Path) -> pl.DataFrame:
    """Fields of every record of a file, steps included."""
    header = parse_header(path.read_text().partition("\n")[0])
    assert header is not None
    blocks = line_frames(io.BytesIO(path.read_bytes()), Jobs)
    return pl.concat([split(one.frame, header) for one in records_of(blocks, header)])


def file_of(shared: Path, row: dict[str, str]) -> Path:
    return shared / "data/failures" / row["file"]


def test_e084_rows_jobs_and_steps(shared: Path, expected: dict[str, Any]) -> None:
    row = expected["E084"]
    batches = batches_of(sacct.SOURCE, file_of(shared, row))
    jobs = len(rows(batches, Jobs))
    total = records(batches)
    assert f"{total} / {jobs} / {total - jobs}" == row["computed_value"]
    assert not refused(batches)


def test_e085_states_of_jobs(shared: Path, expected: dict[str, Any]) -> None:
    row = expected["E085"]
    jobs = rows(batches_of(sacct.SOURCE, file_of(shared, row)), Jobs)
    told = ast.literal_eval(row["computed_value"])
    assert Counter(job["state"] for job in jobs) == told


def test_e086_states_of_rows(shared: Path, expected: dict[str, Any]) -> None:
    row = expected["E086"]
    words = fields_of(file_of(shared, row))["State"].str.extract(r"^(\w+)")
    assert Counter(words) == ast.literal_eval(row["computed_value"])


def test_e087_records_over_lines(shared: Path, expected: dict[str, Any]) -> None:
    # blanks at the ends of lines are dropped, and joined lines keep their line feed
    row = expected["E087"]
    path = file_of(shared, row)
    joined = path.with_name(path.stem + "-expected.txt")
    assert joined.name in row["published_value"]

    def texts(file: Path) -> Iterator[str]:
        header = parse_header(file.read_text().partition("\n")[0])
        assert header is not None
        for one in records_of(line_frames(io.BytesIO(file.read_bytes()), Jobs), header):
            yield from one.frame["text"]

    marked = [re.sub(r" *\n", r"\\n", text) for text in texts(path)]
    wanted = [re.sub(r" *\\n", r"\\n", text) for text in texts(joined)]
    assert [re.sub(r"\\n +", r"\\n", text) for text in marked] == [
        re.sub(r"\\n +", r"\\n", text) for text in wanted
    ]


def test_e090_rows_of_a_day(shared: Path, expected: dict[str, Any]) -> None:
    row = expected["E090"]
    path = file_of(shared, row)
    day = datetime(2021, 4, 7, tzinfo=UTC).strftime("%Y-%m-%d")
    found = fields_of(path).filter(pl.col("End").str.starts_with(day))
    wanted = path.with_name(path.stem + "-expected.txt").read_text().splitlines()[1:]
    assert [f"{a}|{b}" for a, b in found.select("JobID", "State").iter_rows()] == wanted
    assert len(wanted) == 9


def test_steps_that_end_after_their_job_do_not_move_its_end(shared: Path) -> None:
    path = shared / GCM / "sample-sacct-output-midnight-edge-case.txt"
    jobs = {row["job_id"]: row for row in rows(batches_of(sacct.SOURCE, path), Jobs)}
    fields = fields_of(path).filter(pl.col("JobID").str.contains(".", literal=True))
    late = []
    for job_id, end in fields.select("JobID", "End").iter_rows():
        moment = datetime.fromisoformat(end).replace(tzinfo=UTC)
        end_ns = int(moment.timestamp()) * SECOND_NS
        late.append(end_ns - jobs[job_id.partition(".")[0]]["end_ns"])
    assert sum(by > 0 for by in late) == 68
    assert max(late) == 76 * SECOND_NS


def test_bytes_that_are_not_text_are_counted(shared: Path) -> None:
    path = shared / GCM / "sample-sacct-output-invalid-utf8.txt"
    batches = batches_of(sacct.SOURCE, path)
    bad = sum(
        line.decode(errors="replace").encode() != line
        for line in path.read_bytes().split(b"\n")
    )
    assert repairs(batches) == bad > 0
    assert not refused(batches)


def test_a_large_listing_of_running_jobs(shared: Path) -> None:
    path = shared / GCM / "sample-sacct-running-output-large.txt"
    batches = batches_of(sacct.SOURCE, path)
    jobs = rows(batches, Jobs)
    assert not refused(batches)
    assert all(row["end_ns"] is None for row in jobs if row["state"] == "RUNNING")
    assert len(jobs) + sum("." in name for name in fields_of(path)["JobID"]) == records(
        batches
    )


def test_partitions_are_records_without_rows(shared: Path) -> None:
    for name, count in (("", 3), ("-large", 8)):
        path = shared / GCM / f"sample-scontrol-output{name}.txt"
        batches = batches_of(scontrol.SOURCE, path)
        assert records(batches) == count
        assert not refused(batches)
        assert not rows(batches, Jobs) + rows(batches, Failures)


def test_a_node_that_is_drained_in_two_partitions(shared: Path) -> None:
    batches = batches_of(sinfo.SOURCE, shared / GCM / "sample-sinfo-output.txt")
    (row,) = rows(batches, Failures)
    moment = datetime(2022, 6, 2, tzinfo=UTC) + timedelta(
        hours=5, minutes=54, seconds=34
    )
    assert row["time_ns"] == int(moment.timestamp()) * SECOND_NS
    assert (row["host"], row["code"]) == ("node0201", "node_drain")
    assert records(batches) == 5
    assert not refused(batches)


@pytest.mark.parametrize(
    "name",
    [
        "sample-squeue-output.txt",
        "sinfo-output-for-structured.txt",
        "sample-scontrol-show-config-output.txt",
    ],
)
def test_listings_without_a_header_are_not_guessed(shared: Path, name: str) -> None:
    head = Head(name, (shared / GCM / name).read_bytes())
    sources = (sacct, scontrol, sinfo, squeue)
    assert not any(one.recognizes(head) for one in sources)
