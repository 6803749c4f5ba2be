"""Files are read into parts: sorted, by day, few of them."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from ingest.staging import stage, write_parts
from ingest.tables import (
    IngestedFiles,
    RejectedRows,
    StepTimings,
    TrainingMetrics,
)
from tests.ingest.tiny import (
    DAY,
    candidate,
    content,
    ingest,
    put,
    rows,
)


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


def test_every_row_of_ingested_files_is_valid(tmp_path: Path) -> None:
    staged = stage(tmp_path, [candidate(put(tmp_path, "log", []))])
    IngestedFiles.validate(staged.files)
    assert staged.parts == ()
