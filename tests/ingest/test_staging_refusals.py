"""What cannot be a row is refused, with its place and its reason, and counted."""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import _disk
from ingest.sources import Batch, Reading, step_table
from ingest.staging import stage
from ingest.tables import (
    RejectedRows,
    TrainingMetrics,
)
from tests.examples import examples
from tests.ingest.tiny import (
    DAY,
    TINY,
    assert_accounted,
    candidate,
    content,
    ingest,
    put,
    rows,
)


def test_a_row_that_breaks_a_rule_is_refused_with_its_place(tmp_path: Path) -> None:
    path = put(tmp_path, "log", ["s 1 0 5 7", "s 2 0 6 -1", "s 3 -4 8 1", "hello"])
    staged = stage(tmp_path, [candidate(path)])
    refused = rows(tmp_path, staged, RejectedRows)
    told = refused.sort("place").select("table_name", "place", "rule").rows()
    assert told == [
        ("step_timings", "line 2", "duration_ns|min"),
        ("step_timings", "line 3", "rank|min"),
        ("training_metrics", "line 4", "form"),
    ]
    raw = dict(refused.select("place", "raw").iter_rows())
    assert '"duration_ns":-1' in raw["line 2"]
    assert "file_id" not in raw["line 2"]
    assert raw["line 4"] == "hello"
    assert staged.files.select(
        "rows_read", "rows_accepted", "rows_rejected", "records_seen"
    ).rows() == [(4, 1, 3, 4)]


def test_steps_that_no_step_can_be_are_refused_with_a_hint(tmp_path: Path) -> None:
    # GIVEN steps of 1 s: waits of 2 s; all but a millisecond too many; 285 years
    path = tmp_path / "steps.csv"
    path.write_text(
        "run_id,step,rank,start_ns,duration_ns,compute_ns,wait_ns\n"
        "r,1,0,5,1000000000,,2000000000\n"
        "r,2,0,6,1000000000,600000000,401000000\n"
        "r,3,0,7,9000000000000000000,,\n"
    )
    staged = stage(tmp_path, [candidate(path, source=step_table.SOURCE)])

    # THEN what rounding explains is kept, and the others say what is wrong
    refused = rows(tmp_path, staged, RejectedRows).sort("place")
    assert refused["rule"].to_list() == ["parts_exceed_duration", "duration_ns|max"]
    assert "share no time" in refused["hint"][0]
    assert "another unit" in refused["hint"][1]
    assert staged.files["rows_accepted"].to_list() == [1]


def test_a_file_that_no_source_claims_is_one_refused_record(tmp_path: Path) -> None:
    path = put(tmp_path, "odd", ["x" * 300])
    staged = stage(tmp_path, [candidate(path, source=None)])
    assert rows(tmp_path, staged, RejectedRows).drop("file_id").rows() == [
        ("ingested_files", "file", "unrecognized", "x" * 200, "looks like prose")
    ]
    assert staged.files["source"].to_list() == ["unrecognized"]
    assert staged.files["rows_rejected"].to_list() == [1]


def test_rows_before_the_place_where_a_reader_gives_up_are_kept(
    tmp_path: Path,
) -> None:
    path = put(tmp_path, "log", ["m 1 5 1", "!", "m 2 6 1"])
    staged = stage(tmp_path, [candidate(path)])
    assert rows(tmp_path, staged, TrainingMetrics)["step"].to_list() == [1]
    assert rows(tmp_path, staged, RejectedRows).drop("file_id").rows() == [
        ("ingested_files", "line 2", "unreadable", "", "expected no !; leave it out")
    ]


def test_rows_of_a_cut_gzip_file_are_kept(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b"m %d 5 1\n" % i for i in range(5000)))
    path = tmp_path / "log.gz"
    path.write_bytes(whole[:-500])
    staged = stage(tmp_path, [candidate(path)])
    kept = rows(tmp_path, staged, TrainingMetrics)["step"]
    assert kept.to_list() == list(range(len(kept)))
    assert len(kept) > 3000
    fault = rows(tmp_path, staged, RejectedRows).filter(rule="truncated")
    assert fault["place"].to_list() == [f"byte {len(whole) - 500}"]


def test_a_file_that_went_away_is_one_refused_record(tmp_path: Path) -> None:
    path = put(tmp_path, "log", ["m 1 5 1"])
    gone = candidate(path)
    path.unlink()
    refused = rows(tmp_path, stage(tmp_path, [gone]), RejectedRows)
    assert refused["rule"].to_list() == ["unreadable"]


def test_of_rows_with_one_key_in_a_file_the_first_stays(tmp_path: Path) -> None:
    path = put(tmp_path, "log", ["m 1 5 1", "m 2 6 2", f"m 1 {DAY} 3", "m 1 5 4"])
    staged = stage(tmp_path, [candidate(path)])
    kept = rows(tmp_path, staged, TrainingMetrics).sort("step")
    assert kept["loss"].to_list() == [1.0, 2.0]
    refused = rows(tmp_path, staged, RejectedRows).sort("place")
    assert refused.select("place", "rule").rows() == [
        ("line 3", "duplicate"),
        ("line 4", "duplicate"),
    ]


@pytest.mark.parametrize("ends", [KeyboardInterrupt, MemoryError])
def test_what_ends_an_ingest_leaves_nothing(
    ends: type[BaseException], tmp_path: Path
) -> None:
    def stumble(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
        yield from TINY.read(stream, reading)
        raise ends

    broken = replace(TINY, read=stumble)
    path = put(tmp_path, "log", [f"m {i} {i} 1" for i in range(1000)])
    with pytest.raises(ends):
        stage(tmp_path, [candidate(path, source=broken)], flush_rows=200)
    assert not list(tmp_path.rglob("*.parquet"))


words = st.sampled_from(["m", "s", "?", "!", "1", "2", "-1", "x", f"{DAY}"])


files_of_words = st.lists(st.lists(words, min_size=1, max_size=5).map(" ".join))


@pytest.mark.thorough
@given(lines=files_of_words)
@settings(deadline=None, max_examples=examples(30))
def test_every_row_is_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    ingest(folder / "lake", [candidate(put(folder, "log", lines))])
    assert_accounted(folder / "lake")
    told = content(folder / "lake")["ingested_files"]
    assert told["records_seen"][0] <= len(lines)


def test_a_full_disk_is_an_error_and_not_a_refusal(tmp_path: Path) -> None:
    path = put(tmp_path, "log", ["m 1 5 1"])
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        _disk.write_frame(full, pl.DataFrame({"a": [1]}))
    (tmp_path / "lake").touch()
    with pytest.raises(FileExistsError):
        stage(tmp_path / "lake", [candidate(path)])
