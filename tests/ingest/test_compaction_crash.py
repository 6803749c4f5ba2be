"""Killed at any moment, a compaction shows the old parts or the new, never both."""

import multiprocessing
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from ingest.catalog import open_catalog
from ingest.lake import snapshot
from tests.ingest.crash import killed_merge, merge_all
from tests.ingest.tiny import (
    DAY,
    assert_accounted,
    assert_same,
    candidate,
    content,
    ingest,
    parts_on_disk,
    put,
)

pytestmark = pytest.mark.thorough


@dataclass(frozen=True)
class Lake:
    """A lake of many small parts, and what a compaction does to its files."""

    root: Path
    folder: Path
    events: list[str]


def run_and_kill(root: Path, folder: Path, strike: int) -> int | None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.ingest.crash"])
    process = context.Process(
        target=killed_merge, args=(root, strike, folder / "events")
    )
    process.start()
    process.join()
    return process.exitcode


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Five ranks of 16 steps on two days, with rows that lost and rows refused."""
    folder = tmp_path_factory.mktemp("many")
    root = folder / "lake"
    files = [
        put(
            folder,
            f"rank-{rank}",
            [
                *(f"s {step} {rank} {step * DAY // 8} 5" for step in range(16)),
                f"m 1 {rank} {rank}",
                "?",
            ],
        )
        for rank in range(5)
    ]
    ingest(root, *([candidate(file)] for file in files))
    whole = folder / "whole"
    shutil.copytree(root, whole)
    assert run_and_kill(whole, folder, 0) == 0
    return Lake(root, folder, (folder / "events").read_text().split("\n"))


def check(lake: Lake, folder: Path, strike: int) -> None:
    # GIVEN a compaction that is killed before its n-th touch of the file system
    root = folder / f"lake-{strike}"
    shutil.copytree(lake.root, root)
    assert run_and_kill(root, folder, strike) == -signal.SIGKILL
    # THEN the lake shows what it showed
    before = content(lake.root)
    assert_same(content(root), before)
    assert_accounted(root)
    # AND WHEN it is run again, THEN there are the parts of an unbroken one and no more
    merge_all(root)
    merge_all(root)
    assert_same(content(root), before)
    assert_accounted(root)
    with open_catalog(root) as connection:
        connection.sql("SELECT count(*) FROM step_timings").fetchall()
    shown = snapshot(root).manifest
    left = {part.path for part in shown.parts} | {r.path for r in shown.replaced}
    assert parts_on_disk(root) <= left
    assert len([part for part in shown.parts if part.table == "step_timings"]) == 4
    assert not list(root.glob(".partial*"))
    shutil.rmtree(root)


def test_the_unbroken_one_makes_several_commits(lake: Lake) -> None:
    renames = [event for event in lake.events if event.startswith("os.rename")]
    commits = [event for event in renames if event.endswith("manifest.parquet")]
    # two days of steps, the rows that lost, refused records, the list of files
    assert len(commits) == 5
    assert any("-rows" in event for event in lake.events)


@pytest.mark.parametrize("eighth", range(8))
def test_killed_on_the_way(lake: Lake, tmp_path: Path, eighth: int) -> None:
    check(lake, tmp_path, 1 + (len(lake.events) - 1) * eighth // 7)


@pytest.mark.slow
def test_killed_anywhere(lake: Lake, tmp_path: Path) -> None:
    for strike in range(1, len(lake.events) + 1):
        check(lake, tmp_path, strike)
