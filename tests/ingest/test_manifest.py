"""The manifest is read whole or refused, and replaced whole or not at all."""

from pathlib import Path

import polars as pl
import pytest

from ingest import _manifest_file
from ingest.errors import LakeError
from ingest.manifest import MANIFEST, Manifest, Part, Replaced

PART = Part(
    table="kernels",
    day="2026-01-31",
    path="kernels/day=2026-01-31/ab.parquet",
    rows=3,
    bytes=2**40,
    key_min='{"rank": null}',
    key_max='{"rank": 7}',
    file_ids=("a", "b"),
    fingerprint="f",
)
RESULT = Part(
    table="runs",
    day=None,
    path="runs/day=x/cd.parquet",
    rows=0,
    bytes=1,
    key_min="{}",
    key_max="{}",
    file_ids=(),
    fingerprint="g",
    kind="result",
    result_key="k",
)


def test_a_folder_without_a_manifest_is_an_empty_lake(tmp_path: Path) -> None:
    assert _manifest_file.load(tmp_path) == Manifest(generation=0)
    assert _manifest_file.load(tmp_path / "none") == Manifest(generation=0)


@pytest.mark.parametrize(
    "written",
    [
        Manifest(generation=1),
        Manifest(7, (PART, RESULT), (Replaced("p", 5),), frozenset({("kernels", "d")})),
    ],
)
def test_a_manifest_is_read_as_it_was_written(
    tmp_path: Path, written: Manifest
) -> None:
    _manifest_file.replace(tmp_path, Manifest(generation=99))
    _manifest_file.replace(tmp_path, written)
    assert _manifest_file.load(tmp_path) == written
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST]


def test_parts_of_a_table_are_found_by_kind() -> None:
    lake = Manifest(parts=(PART, RESULT))
    assert list(lake.of("kernels")) == [PART]
    assert list(lake.of("kernels", "result")) == []
    assert list(lake.of("runs", "derived", "result")) == [RESULT]


def damaged(path: Path) -> list[bytes]:
    whole = path.read_bytes()
    other = path.with_name("other")
    pl.DataFrame({"a": [1]}).write_parquet(other)
    newer = path.with_name("newer")
    labels = {"format": "2", "generation": "1"}
    pl.read_parquet(path).write_parquet(newer, metadata=labels)
    return [b"", b"text", whole[:-9], other.read_bytes(), newer.read_bytes()]


def test_a_damaged_manifest_is_refused_in_one_line(tmp_path: Path) -> None:
    _manifest_file.replace(tmp_path, Manifest(1, (PART,)))
    path = tmp_path / MANIFEST
    for data in damaged(path):
        path.write_bytes(data)
        with pytest.raises(LakeError, match=r"manifest\.parquet: expected") as caught:
            _manifest_file.load(tmp_path)
        assert "\n" not in str(caught.value)


def test_a_failed_replacement_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _manifest_file.replace(tmp_path, Manifest(generation=1))

    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space"):
        _manifest_file.replace(tmp_path, Manifest(generation=2))
    assert _manifest_file.load(tmp_path).generation == 1
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST]
