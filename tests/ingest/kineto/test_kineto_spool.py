"""Frames come back as they went in, from memory or from disk."""

import tempfile
from pathlib import Path

import polars as pl
import pytest

from ingest.sources._kineto.spool import Spool


def frame(first: int, rows: int) -> pl.DataFrame:
    numbers = pl.int_range(first, first + rows, eager=True)
    return pl.DataFrame({"number": numbers, "name": numbers.cast(pl.String)})


@pytest.mark.parametrize("rows_in_memory", [0, 5, 1_000])
def test_frames_come_back_in_order(
    rows_in_memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Spool(rows_in_memory) as spool:
        for first in range(0, 12, 3):
            spool.add(frame(first, 3))
        on_disk = [path for path in tmp_path.rglob("*") if path.is_file()]
        numbers = [one["number"].to_list() for one in spool]
        assert numbers == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
        assert spool[2].equals(frame(6, 3))
        assert len(on_disk) == {0: 4, 5: 4, 1_000: 0}[rows_in_memory]
    assert list(tmp_path.iterdir()) == []


def test_nothing_in_nothing_out() -> None:
    with Spool(1) as spool:
        assert list(spool) == []
