"""A lake that is damaged says which part, and what to do."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from ingest import catalog
from ingest.catalog import open_catalog, publish
from ingest.errors import LakeError
from ingest.lake import known_files, refuse_damaged, snapshot
from ingest.tables import TABLES, IngestedFiles, Table, TrainingMetrics

CATALOG = "gpuledger.duckdb"


@pytest.fixture
def root(published: Path) -> Path:
    return published


def part_of(root: Path, table: type[Table]) -> Path:
    return root / snapshot(root).parts(table)[0].path


def halve(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def flip_the_footer(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-100:-96] = bytes(byte ^ 0xFF for byte in data[-100:-96])
    data[-4:] = b"XXXX"
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [halve, Path.unlink])
def test_a_part_that_is_not_whole_is_named(
    root: Path, damage: Callable[[Path], None]
) -> None:
    part = part_of(root, TrainingMetrics)
    damage(part)
    with pytest.raises(LakeError, match="restore it from a backup") as error:
        snapshot(root).scan(TrainingMetrics)
    assert str(part) in str(error.value)


@pytest.mark.parametrize("damage", [halve, Path.unlink, flip_the_footer])
def test_known_files_of_a_damaged_lake_name_the_part(
    root: Path, damage: Callable[[Path], None]
) -> None:
    part = part_of(root, IngestedFiles)
    damage(part)
    with pytest.raises(LakeError, match="expected a part of") as error:
        known_files(root)
    assert str(part) in str(error.value)


def test_a_part_of_the_right_size_is_found_by_reading(root: Path) -> None:
    part = part_of(root, TrainingMetrics)
    refuse_damaged(root)
    flip_the_footer(part)
    with pytest.raises(LakeError, match="restore it from a backup") as error:
        refuse_damaged(root)
    assert str(part) in str(error.value)
    with pytest.raises(LakeError, match="restore it from a backup"):
        publish(root, TABLES)


def test_a_lost_manifest_is_not_an_empty_lake(root: Path) -> None:
    (root / "manifest.parquet").unlink()
    with pytest.raises(LakeError, match="missing, though the lake has been written"):
        snapshot(root)
    with pytest.raises(LakeError, match="missing, though the lake has been written"):
        open_catalog(root)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def turn_into_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [halve, empty, turn_into_a_folder])
def test_damaged_views_say_how_to_build_them_again(
    root: Path, damage: Callable[[Path], None]
) -> None:
    damage(root / CATALOG)
    with pytest.raises(LakeError, match="run gpuledger analyze to build it again"):
        open_catalog(root)


def test_a_full_disk_leaves_the_old_views_and_nothing_else(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN a disk that is full when the views are written
    before = sorted(path.name for path in root.iterdir())
    views = (root / CATALOG).read_bytes()

    error = duckdb.TransactionException("No space left on device")

    def full(file: Path, *_: object) -> None:
        file.write_bytes(b"half")
        file.with_name(f"{file.name}.wal").write_bytes(b"log")
        raise error

    monkeypatch.setattr(catalog, "_build", full)

    # WHEN they are published
    with pytest.raises(LakeError, match=r"No space left on device.*make room"):
        publish(root, TABLES)

    # THEN
    assert sorted(path.name for path in root.iterdir()) == before
    assert (root / CATALOG).read_bytes() == views
