"""What goes into the lake comes out of it, once."""

from dataclasses import asdict
from pathlib import Path

import polars as pl

from ingest import _manifest_file
from ingest.lake import known_files, open_writer, snapshot
from ingest.manifest import Manifest, Part
from ingest.staging import stage, write_parts
from ingest.tables import TABLES, Kernels, StepTimings, TrainingMetrics
from tests.ingest.tiny import (
    DAY,
    assert_accounted,
    candidate,
    ingest,
    losses,
    parts_on_disk,
    put,
)


def test_what_goes_in_comes_out(tmp_path: Path, root: Path) -> None:
    lines = ["m 2 7 0.5", f"m 1 {DAY} 0.25", "s 1 3 7 9"]
    (done,) = ingest(root, [candidate(put(tmp_path, "log", lines))])
    assert losses(root) == {1: 0.25, 2: 0.5}
    steps = snapshot(root).scan(StepTimings).collect()
    assert steps.select("run_id", "attempt", "step", "rank").rows() == [
        ("r", None, 1, 3)
    ]
    assert done.generation == snapshot(root).generation == 1
    assert done.files["rows_accepted"].to_list() == [3]
    assert known_files(root)["path"].to_list() == ["log"]
    assert_accounted(root)


def test_an_empty_lake_has_every_table(root: Path) -> None:
    lake = snapshot(root)
    assert lake.generation == 0
    for table in TABLES:
        table.validate(lake.scan(table).collect())
    assert not root.exists()


def test_the_same_file_twice_changes_nothing(tmp_path: Path, root: Path) -> None:
    log = candidate(put(tmp_path, "log", ["m 1 5 1", "?"]))
    first, again, beside = ingest(root, [log], [log], [log, log])
    assert [done.generation for done in (first, again, beside)] == [1, 1, 1]
    assert again.known == {log.reading.file_id}
    assert again.files.is_empty()
    assert parts_on_disk(root) == {p.path for p in snapshot(root).manifest.parts}
    assert_accounted(root)


def test_a_file_twice_in_one_commit_comes_once(tmp_path: Path, root: Path) -> None:
    log = candidate(put(tmp_path, "log", ["m 1 5 1", "m 1 5 2", "?"]))
    other = candidate(put(tmp_path, "other", ["m 2 5 1"]))
    with open_writer(root) as writer:
        done = writer.commit([stage(root, [log, other]), stage(root, [log])])
    assert sorted(done.files["path"]) == ["log", "other"]
    assert losses(root) == {1: 1.0, 2: 1.0}
    assert_accounted(root)


def test_rows_of_a_retired_day_are_counted_and_not_written(
    tmp_path: Path, root: Path
) -> None:
    days = frozenset({("training_metrics", "1970-01-02")})
    root.mkdir()
    _manifest_file.replace(root, Manifest(generation=4, retired_days=days))
    lines = ["m 1 5 1", f"m 2 {DAY} 1", f"m 3 {DAY} 1", f"s 1 0 {DAY} 1", "?"]
    (done,) = ingest(root, [candidate(put(tmp_path, "log", lines))])
    assert losses(root) == {1: 1.0}
    told = done.files.select(
        "rows_read", "rows_accepted", "rows_rejected", "rows_retired"
    )
    assert told.rows() == [(5, 2, 1, 2)]
    assert snapshot(root).manifest.retired_days == days
    assert_accounted(root)


def test_parts_of_an_older_declaration_are_read_whole(
    tmp_path: Path, root: Path
) -> None:
    # GIVEN a part that was written before `skipped` was declared, and when `step` was
    # a smaller type
    ingest(root, [candidate(put(tmp_path, "log", ["m 1 5 1", "m 2 6 2"]))])
    before = snapshot(root).manifest
    part = next(part for part in before.parts if part.table == "training_metrics")
    old = pl.read_parquet(root / part.path, hive_partitioning=False)
    old.drop("skipped").cast({"step": pl.Int32}).write_parquet(root / part.path)
    others = [p for p in before.parts if p != part]
    size = (root / part.path).stat().st_size
    older = Part(**{**asdict(part), "fingerprint": "older", "bytes": size})
    _manifest_file.replace(root, Manifest(1, (older, *others)))

    # THEN it is read as declared now, also when some of it is rewritten
    assert snapshot(root).scan(TrainingMetrics).collect()["skipped"].null_count() == 2
    TrainingMetrics.validate(snapshot(root).scan(TrainingMetrics).collect())
    ingest(root, [candidate(put(tmp_path, "next", ["m 2 7 -2"]))])
    assert losses(root) == {1: 1.0, 2: -2.0}


def results(root: Path, steps: list[int], key: str) -> list[Part]:
    frame = pl.DataFrame({"file_id": "f", "run_id": "r", "step": steps})
    whole = pl.concat([TrainingMetrics.create_empty(), frame], how="diagonal_relaxed")
    return write_parts(root, TrainingMetrics, whole, "result", key)


def test_results_replace_those_before(root: Path) -> None:
    with open_writer(root) as writer:
        empty = write_parts(root, Kernels, Kernels.create_empty(), "result", "k1")
        parts = results(root, [1, 2], "k1")
        writer.commit_results({TrainingMetrics: parts, Kernels: empty})
        parts = results(root, [3], "k2")
        assert writer.commit_results({TrainingMetrics: parts}) == 2
    lake = snapshot(root)
    assert lake.scan(TrainingMetrics).collect()["step"].to_list() == [3]
    assert [part.result_key for part in lake.parts(TrainingMetrics)] == ["k2"]
    assert [part.result_key for part in lake.parts(Kernels)] == ["k1"]
    assert lake.scan(Kernels).collect().is_empty()


def test_nothing_staged_is_no_commit(root: Path) -> None:
    with open_writer(root) as writer:
        assert writer.commit([]).generation == 0
        assert writer.commit([stage(root, [])]).generation == 0
    assert [path.name for path in root.iterdir()] == [".lock"]
