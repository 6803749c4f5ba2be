"""What goes into the lake comes out once; files supersede and contend by rows."""

from dataclasses import asdict
from pathlib import Path

import polars as pl
import pytest

from ingest import manifest
from ingest.errors import LakeError
from ingest.lake import known_files, open_writer, snapshot
from ingest.manifest import Manifest, Part
from ingest.staging import stage, write_parts
from ingest.tables import TABLES, Kernels, StepTimings, TrainingMetrics
from tests.ingest.tiny import (
    DAY,
    assert_accounted,
    assert_same,
    candidate,
    content,
    ingest,
    put,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "lake"


def losses(root: Path) -> dict[int, float]:
    metrics = content(root)["training_metrics"]
    return dict(metrics.select("step", "loss").iter_rows())


def parts_on_disk(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*/*.parquet")}


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


def test_rows_of_a_file_that_has_grown_are_replaced(tmp_path: Path, root: Path) -> None:
    # GIVEN a log in a part with another's rows
    old = candidate(put(tmp_path, "log", ["m 1 5 1", "m 2 6 2", "?"]))
    other = candidate(put(tmp_path, "other", ["m 9 5 9", "?"]))
    ingest(root, [old, other])

    # WHEN it has grown
    lines = ["m 1 5 1", "m 2 6 2", "?", "m 3 7 3"]
    path = put(tmp_path, "log", lines)
    (done,) = ingest(root, [candidate(path, supersedes=[old.reading.file_id])])

    # THEN its rows are there once, and the other's still
    assert losses(root) == {1: 1.0, 2: 2.0, 3: 3.0, 9: 9.0}
    assert done.superseded == {old.reading.file_id}
    assert sorted(known_files(root)["path"]) == ["log", "other"]
    assert old.reading.file_id not in known_files(root)["file_id"]
    assert content(root)["rejected_rows"].height == 2
    assert_accounted(root)


def test_a_file_and_its_older_state_in_one_commit(tmp_path: Path, root: Path) -> None:
    old = candidate(put(tmp_path, "old", ["m 1 5 1", "m 2 5 2"]))
    new = candidate(put(tmp_path, "new", ["m 1 5 1"]), supersedes=[old.reading.file_id])
    ingest(root, [old, new])
    assert losses(root) == {1: 1.0}
    assert known_files(root)["path"].to_list() == ["new"]
    assert_accounted(root)


def test_of_two_files_the_one_whose_data_reaches_further_wins(
    tmp_path: Path, root: Path
) -> None:
    # GIVEN step 2 in both; `late` has data of the next day
    early = candidate(put(tmp_path, "early", ["m 1 5 1", "m 2 6 2"]))
    late = candidate(put(tmp_path, "late", ["m 2 7 -2", f"m 3 {DAY} -3"]))

    # WHEN the one that loses comes last
    ingest(root, [late], [early])

    # THEN
    assert losses(root) == {1: 1.0, 2: -2.0, 3: -3.0}
    (refused,) = content(root)["rejected_rows"].iter_rows(named=True)
    assert refused["file_id"] == early.reading.file_id
    assert refused["rule"] == "duplicate"
    assert refused["place"] == '{"run_id":"r","attempt":null,"step":2}'
    assert '"loss":2.0' in refused["raw"]
    told = known_files(root).sort("path").select("path", "rows_accepted")
    assert told.rows() == [("early", 1), ("late", 2)]
    assert_accounted(root)


def test_among_equals_the_greater_file_id_wins(tmp_path: Path, root: Path) -> None:
    one = candidate(put(tmp_path, "one", ["m 1 5 1"]))
    two = candidate(put(tmp_path, "two", ["m 1 5 2"]))
    ingest(root, [one], [two])
    ids = {one.reading.file_id: 1.0, two.reading.file_id: 2.0}
    assert losses(root) == {1: ids[max(ids)]}


def test_a_row_comes_back_when_the_one_that_won_leaves(
    tmp_path: Path, root: Path
) -> None:
    # GIVEN three files with step 1, of which `c` wins and then `b`
    a = candidate(put(tmp_path, "a", ["m 1 5 1", "m 5 5 5"]))
    b = candidate(put(tmp_path, "b", ["m 1 6 2", "m 6 6 6"]))
    c = candidate(put(tmp_path, "c", ["m 1 7 3", "m 7 7 7"]))
    ingest(root, [c], [a], [b])
    assert losses(root)[1] == 3.0

    # WHEN the winner is read anew and no longer has it
    new = candidate(put(tmp_path, "c", ["m 7 7 7"]), supersedes=[c.reading.file_id])
    ingest(root, [new])

    # THEN
    assert losses(root) == {1: 2.0, 5: 5.0, 6: 6.0, 7: 7.0}
    told = dict(known_files(root).select("path", "rows_rejected").iter_rows())
    assert told == {"a": 1, "b": 0, "c": 0}
    assert content(root)["rejected_rows"].height == 1
    assert_accounted(root)


def test_readers_keep_the_generation_they_took(tmp_path: Path, root: Path) -> None:
    old = candidate(put(tmp_path, "log", ["m 1 5 1"]))
    ingest(root, [old])
    before = snapshot(root).scan(TrainingMetrics)
    new = put(tmp_path, "log", ["m 2 5 2"])
    ingest(root, [candidate(new, supersedes=[old.reading.file_id])])
    with open_writer(root):
        assert before.collect()["step"].to_list() == [1]
    assert losses(root) == {2: 2.0}


def test_replaced_parts_go_after_their_grace(tmp_path: Path, root: Path) -> None:
    old = candidate(put(tmp_path, "log", ["m 1 5 1"]))
    ingest(root, [old])
    new = put(tmp_path, "log", ["m 2 5 2"])
    ingest(root, [candidate(new, supersedes=[old.reading.file_id])])
    live = {part.path for part in snapshot(root).manifest.parts}
    with open_writer(root):
        assert parts_on_disk(root) > live
    with open_writer(root, grace_s=0) as writer:
        assert parts_on_disk(root) == live
        writer.commit([stage(root, [candidate(put(tmp_path, "x", ["m 3 5 2"]))])])
    assert snapshot(root).manifest.replaced == ()


def test_a_writer_deletes_what_no_manifest_names(tmp_path: Path, root: Path) -> None:
    ingest(root, [candidate(put(tmp_path, "log", ["m 1 5 1"]))])
    live = parts_on_disk(root)
    folder = root / "kernels" / "day=2026-01-01"
    folder.mkdir(parents=True)
    (folder / f"{'0' * 32}.parquet").touch()
    (root / ".partial-00-manifest.parquet").touch()
    (folder / "notes.parquet").touch()
    (root / "README").touch()
    with open_writer(root):
        pass
    assert parts_on_disk(root) == live | {"kernels/day=2026-01-01/notes.parquet"}
    assert not list(root.glob(".partial*"))
    assert (root / "README").exists()


def test_a_writer_spares_what_this_process_stages(tmp_path: Path, root: Path) -> None:
    staged = stage(root, [candidate(put(tmp_path, "log", ["m 1 5 1"]))])
    with open_writer(root) as writer:
        writer.commit([staged])
    assert losses(root) == {1: 1.0}


def test_a_lost_manifest_does_not_cost_the_lake(tmp_path: Path, root: Path) -> None:
    ingest(root, [candidate(put(tmp_path, "log", ["m 1 5 1"]))])
    (root / "gpuledger.duckdb").touch()
    (root / "manifest.parquet").unlink()
    parts = parts_on_disk(root)
    with pytest.raises(LakeError, match="missing"), open_writer(root):
        pass
    assert parts_on_disk(root) == parts


def test_rows_of_a_retired_day_are_counted_and_not_written(
    tmp_path: Path, root: Path
) -> None:
    days = frozenset({("training_metrics", "1970-01-02")})
    root.mkdir()
    manifest.replace(root, Manifest(generation=4, retired_days=days))
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
    older = Part(**{**asdict(part), "fingerprint": "older"})
    manifest.replace(root, Manifest(1, (older, *others)))

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


def test_an_order_of_magnitude_of_duplicates(tmp_path: Path, root: Path) -> None:
    lines = [f"s {i} {i % 7} {i * DAY // 100} 1" for i in range(500)]
    one = candidate(put(tmp_path, "one", [*lines, "m 1 5 1"]))
    two = candidate(put(tmp_path, "two", [*lines, "m 2 5 1", f"m 3 {9 * DAY} 1"]))
    ingest(root, [two], [one])
    told = dict(known_files(root).select("path", "rows_rejected").iter_rows())
    assert told == {"one": 500, "two": 0}
    assert content(root)["rejected_rows"]["rule"].unique().to_list() == ["duplicate"]
    assert_accounted(root)


def test_nothing_staged_is_no_commit(root: Path) -> None:
    with open_writer(root) as writer:
        assert writer.commit([]).generation == 0
        assert writer.commit([stage(root, [])]).generation == 0
    assert [path.name for path in root.iterdir()] == [".lock"]


def test_equal_inputs_make_equal_lakes(tmp_path: Path) -> None:
    logs = [
        candidate(put(tmp_path, "a", ["m 1 5 1", "m 2 6 2", "m 2 6 3", "?"])),
        candidate(put(tmp_path, "b", ["m 2 9 2", "s 1 1 1 1"])),
    ]
    ingest(tmp_path / "one", logs)
    ingest(tmp_path / "two", logs[1:], logs[:1])
    assert_same(content(tmp_path / "one"), content(tmp_path / "two"))
