"""Files are read into parts: sorted, by day, and every row accounted for."""

import gzip
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import Batch, Reading
from ingest.staging import Staged, stage, write_parts
from ingest.tables import (
    IngestedFiles,
    RejectedRows,
    StepTimings,
    Table,
    TrainingMetrics,
)
from tests.ingest.tiny import (
    DAY,
    TINY,
    assert_accounted,
    candidate,
    content,
    ingest,
    put,
)


def rows(root: Path, staged: Staged, table: type[Table]) -> pl.DataFrame:
    parts = [part for part in staged.parts if part.table == table.sql_name()]
    frames = [pl.read_parquet(root / p.path, hive_partitioning=False) for p in parts]
    return pl.concat([table.create_empty(), *frames])


def test_rows_become_a_sorted_part_for_each_day(tmp_path: Path) -> None:
    # GIVEN steps of two days and one without a time
    lines = [f"m 3 {DAY} 1", "m 2 7 1", "m 1 5 1"]
    path = put(tmp_path, "log", lines)

    # WHEN
    staged = stage(tmp_path, [candidate(path)])

    # THEN
    days = {part.day: part for part in staged.parts}
    assert set(days) == {"1970-01-01", "1970-01-02"}
    first = pl.read_parquet(tmp_path / days["1970-01-01"].path)
    assert first["step"].to_list() == [1, 2]
    assert days["1970-01-01"].path.startswith("training_metrics/day=1970-01-01/")
    assert days["1970-01-01"].key_min == '{"run_id": "r", "attempt": null, "step": 1}'
    assert days["1970-01-01"].key_max == '{"run_id": "r", "attempt": null, "step": 2}'
    assert days["1970-01-01"].file_ids == (staged.files["file_id"][0],)


def test_a_part_says_what_its_columns_mean(tmp_path: Path) -> None:
    staged = stage(tmp_path, [candidate(put(tmp_path, "log", ["s 1 0 5 7"]))])
    schema = pq.read_schema(tmp_path / staged.parts[0].path)
    assert schema.names == StepTimings.column_names()
    assert schema.field("duration_ns").metadata == {
        b"description": b"Wall time of the step.",
        b"unit": b"ns",
    }


def test_rows_without_a_time_are_undated(tmp_path: Path) -> None:
    metrics = {"file_id": ["f"], "run_id": ["r"], "step": [1]}
    frame = pl.concat(
        [TrainingMetrics.create_empty(), pl.DataFrame(metrics)], how="diagonal"
    )
    (part,) = write_parts(tmp_path, TrainingMetrics, frame, kind="raw")
    assert part.day is None
    assert "/day=__HIVE_DEFAULT_PARTITION__/" in part.path


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


def test_what_is_told_of_a_file(tmp_path: Path) -> None:
    paths = [
        put(tmp_path, "a", ["s 1 0 50 7", "s 2 0 60 7"]),
        put(tmp_path, "b", ["m 1 5 1"]),
    ]
    told = stage(tmp_path, [candidate(path) for path in paths]).files
    columns = ("path", "zone", "zone_basis", "run_id_basis", "first_ns", "last_ns")
    assert told.select(columns).rows() == [
        ("a", "UTC", "option", "folder", 50, 60),
        ("b", None, "none", "folder", 5, 5),
    ]


def test_a_file_that_no_source_claims_is_one_refused_record(tmp_path: Path) -> None:
    path = put(tmp_path, "odd", ["x" * 300])
    staged = stage(tmp_path, [candidate(path, source=None)])
    assert rows(tmp_path, staged, RejectedRows).drop("file_id").rows() == [
        ("ingested_files", "file", "unrecognized", "x" * 200)
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
        ("ingested_files", "line 2", "unreadable", "expected no !")
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


@pytest.mark.parametrize("flush_rows", [200, 400, 10_000])
def test_a_long_file_gives_what_a_short_one_does(
    tmp_path: Path, flush_rows: int
) -> None:
    # GIVEN 1,000 steps of two days, and 50 that repeat steps of before
    lines = [f"m {i} {i * DAY // 500} {i}" for i in range(1000)]
    lines += [f"m {i} {DAY} -1" for i in range(300, 350)]
    path = put(tmp_path, "log", lines)

    # WHEN it is written in chunks, or in one
    staged = stage(tmp_path, [candidate(path)], flush_rows=flush_rows)

    # THEN the first of each key stays
    kept = rows(tmp_path, staged, TrainingMetrics).sort("step")
    assert kept["loss"].to_list() == [float(i) for i in range(1000)]
    refused = rows(tmp_path, staged, RejectedRows)
    assert refused.height == 50
    assert refused.select(RejectedRows.key).is_unique().all()
    assert refused["rule"].unique().to_list() == ["duplicate"]
    told = staged.files.select("rows_read", "rows_accepted", "rows_rejected").rows()
    assert told == [(1050, 1000, 50)]
    on_disk = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.parquet")}
    assert on_disk == {part.path for part in staged.parts}


def test_many_small_files_share_parts(tmp_path: Path) -> None:
    paths = [
        put(tmp_path, f"{i}", [f"m {i} {i} 1", f"s {i} 0 {DAY} 1"]) for i in range(300)
    ]
    staged = stage(tmp_path, [candidate(path) for path in paths])
    assert sorted(part.table for part in staged.parts) == [
        "step_timings",
        "training_metrics",
    ]
    assert staged.files.height == 300


@pytest.mark.slow
def test_three_thousand_small_files_give_few_parts(tmp_path: Path) -> None:
    root = tmp_path / "lake"
    paths = [put(tmp_path, f"{i}", [f"m {i} {i} 1"]) for i in range(3000)]
    candidates = [candidate(path) for path in paths]
    ingest(root, *(candidates[i : i + 256] for i in range(0, 3000, 256)))
    assert content(root)["training_metrics"].height == 3000
    assert len(list(root.rglob("*.parquet"))) <= 2 * 12 + 1


def test_a_bug_of_a_reader_is_not_hidden_and_leaves_nothing(tmp_path: Path) -> None:
    def stumble(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
        yield from TINY.read(stream, reading)
        raise ZeroDivisionError

    broken = replace(TINY, read=stumble)
    path = put(tmp_path, "log", [f"m {i} {i} 1" for i in range(1000)])
    with pytest.raises(ZeroDivisionError):
        stage(tmp_path, [candidate(path, source=broken)], flush_rows=200)
    assert not list(tmp_path.rglob("*.parquet"))


def test_what_is_staged_can_be_sent_to_another_process(tmp_path: Path) -> None:
    staged = stage(tmp_path, [candidate(put(tmp_path, "log", ["m 1 5 1"]))])
    sent = pickle.loads(pickle.dumps(staged))
    assert sent.parts == staged.parts
    assert sent.files.equals(staged.files)


def test_threads_stage_side_by_side(tmp_path: Path) -> None:
    batches = [
        [candidate(put(tmp_path, f"{i}", [f"m {i} {j} 1" for j in range(9)]))]
        for i in range(8)
    ]
    with ThreadPoolExecutor(4) as pool:
        staged = list(pool.map(lambda batch: stage(tmp_path, batch), batches))
    assert sum(part.rows for some in staged for part in some.parts) == 8 * 9


def test_an_empty_result_is_a_part_that_remembers_its_key(tmp_path: Path) -> None:
    empty = TrainingMetrics.create_empty()
    (part,) = write_parts(
        tmp_path, TrainingMetrics, empty, kind="result", result_key="k"
    )
    assert (part.rows, part.kind, part.result_key) == (0, "result", "k")


words = st.sampled_from(["m", "s", "?", "!", "1", "2", "-1", "x", f"{DAY}"])
files_of_words = st.lists(st.lists(words, min_size=1, max_size=5).map(" ".join))


@given(lines=files_of_words)
@settings(deadline=None, max_examples=30)
def test_every_row_is_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    ingest(folder / "lake", [candidate(put(folder, "log", lines))])
    assert_accounted(folder / "lake")
    told = content(folder / "lake")["ingested_files"]
    assert told["records_seen"][0] <= len(lines)


def test_every_row_of_ingested_files_is_valid(tmp_path: Path) -> None:
    staged = stage(tmp_path, [candidate(put(tmp_path, "log", []))])
    IngestedFiles.validate(staged.files)
    assert staged.parts == ()
