"""Nothing is left behind, and nothing that is still needed is deleted."""

from pathlib import Path

import pytest

from ingest import _disk
from ingest.errors import LakeError
from ingest.lake import open_writer, snapshot
from ingest.staging import stage
from ingest.tables import TrainingMetrics
from tests.ingest.tiny import (
    candidate,
    ingest,
    losses,
    parts_on_disk,
    put,
)


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


def test_a_staged_part_that_is_gone_is_refused(tmp_path: Path, root: Path) -> None:
    staged = stage(root, [candidate(put(tmp_path, "log", ["m 1 5 1"]))])
    (root / staged.parts[0].path).unlink()
    with open_writer(root) as writer, pytest.raises(LakeError, match="staged and gone"):
        writer.commit([staged])
    assert snapshot(root).generation == 0


def test_a_commit_that_fails_leaves_what_was_there(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN a disk that is full when a commit writes
    ingest(root, [candidate(put(tmp_path, "a", ["m 1 5 1", "m 2 5 1"]))])
    with open_writer(root) as writer:
        staged = stage(root, [candidate(put(tmp_path, "b", ["m 1 6 2"]))])
        sync = _disk.sync_folder
        monkeypatch.setattr(_disk, "sync_folder", full)
        with pytest.raises(OSError, match="No space left"):
            writer.commit([staged])
        monkeypatch.setattr(_disk, "sync_folder", sync)

        # THEN nothing has changed, and the commit can be tried again
        assert losses(root) == {1: 1.0, 2: 1.0}
        writer.commit([staged])
    assert losses(root) == {1: 2.0, 2: 1.0}
    with open_writer(root, grace_s=0):
        pass
    live = {part.path for part in snapshot(root).manifest.parts}
    assert parts_on_disk(root) == live


def full(_folder: Path) -> None:
    raise OSError(28, "No space left on device")
