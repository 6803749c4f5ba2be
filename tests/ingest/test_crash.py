"""Killed at any moment, an ingest that is run again ends as if nothing had happened."""

import multiprocessing
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from ingest.catalog import open_catalog
from ingest.lake import snapshot
from tests.ingest.crash import killed_night, night
from tests.ingest.tiny import DAY, assert_accounted, assert_same, content, put

pytestmark = pytest.mark.thorough

Content = dict[str, pl.DataFrame]


def fill(inbox: Path) -> None:
    """What a second night finds: a log that has grown, new ones, and copies of rows."""
    first = [f"m {i} {i} 1" for i in range(30)]
    put(inbox, "a", ["m 900 5 1", "m 901 6 2", "?"])
    put(inbox, "b", [f"s {i} 0 {i * DAY // 4} 5" for i in range(8)])
    put(inbox, "c", ["m 901 3 7", "m 902 4 8", "s 3 0 8 -1"])
    put(inbox, "d-2", [*first, "m 31 31 1", "!"])
    put(inbox, "e", [f"m {i % 50} {i + DAY} 2" for i in range(70)])
    put(inbox, "f", ["m 40 1 1", f"s 1 0 {DAY // 4} 7"])
    put(inbox, "g", [f"s {i} 1 {i} 5" for i in range(90)])
    put(inbox, "h", ["nothing"])


@dataclass(frozen=True)
class Nights:
    """A lake after its first night, and what its second would be, unbroken.

    Attributes:
        root: The lake.
        inbox: Files of the second night.
        events: What the second night does to the file system, in order.
        commits: Events after which a commit is done.
        generations: What the lake shows after each commit, the first night first.
    """

    root: Path
    inbox: Path
    events: list[str]
    commits: list[int]
    generations: list[Content]


def second_night(nights: Path, root: Path, inbox: Path, strike: int) -> int | None:
    """Run a second night in a process of its own; return how it ended."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.ingest.crash"])
    arguments = (root, inbox, strike, nights / "events")
    process = context.Process(target=killed_night, args=arguments)
    process.start()
    process.join()
    return process.exitcode


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Nights:
    folder = tmp_path_factory.mktemp("nights")
    first, inbox, root = folder / "first", folder / "inbox", folder / "lake"
    first.mkdir()
    inbox.mkdir()
    put(first, "d", [f"m {i} {i} 1" for i in range(30)])
    put(first, "z", ["m 901 9 9", f"s 3 0 {DAY} 5"])
    night(root, first)
    fill(inbox)
    whole = folder / "whole"
    shutil.copytree(root, whole)
    assert second_night(folder, whole, inbox, 0) == 0
    events = (folder / "events").read_text().split("\n")
    renames = [i for i, event in enumerate(events, 1) if event.startswith("os.rename")]
    commits = [i for i in renames if events[i - 1].endswith("manifest.parquet")]
    shown = [content(root)]
    for strike in commits[1:]:
        copy = folder / f"after-{strike}"
        shutil.copytree(root, copy)
        assert second_night(folder, copy, inbox, strike) == -signal.SIGKILL
        shown.append(content(copy))
    return Nights(root, inbox, events, commits, [*shown, content(whole)])


def check(nights: Nights, folder: Path, strike: int) -> None:
    # GIVEN a second night that is killed before its n-th touch of the file system
    root = folder / f"lake-{strike}"
    shutil.copytree(nights.root, root)
    assert second_night(folder, root, nights.inbox, strike) == -signal.SIGKILL

    # THEN the lake shows what it did after the last commit
    done = sum(commit < strike for commit in nights.commits)
    assert_same(content(root), nights.generations[done])
    with open_catalog(root) as connection:
        connection.sql("SELECT count(*) FROM training_metrics").fetchall()

    # AND WHEN the night is run again, THEN it ends as if it had never been killed
    night(root, nights.inbox)
    assert_same(content(root), nights.generations[-1])
    assert_accounted(root)
    named = {part.path for part in snapshot(root).manifest.parts}
    named |= {part.path for part in snapshot(root).manifest.replaced}
    found = {p.relative_to(root).as_posix() for p in root.rglob("*/*.parquet")}
    assert found <= named
    assert not list(root.glob(".partial*"))
    shutil.rmtree(root)


def test_the_unbroken_night_makes_several_commits(nights: Nights) -> None:
    assert len(nights.commits) == 4
    assert nights.commits[-1] - nights.commits[0] > 50
    for before, after in zip(nights.generations, nights.generations[1:], strict=False):
        assert not before["ingested_files"].equals(after["ingested_files"])


@pytest.mark.parametrize("eighth", range(8))
def test_killed_between_the_first_commit_and_the_last(
    nights: Nights, tmp_path: Path, eighth: int
) -> None:
    first, last = nights.commits[0], nights.commits[-1]
    check(nights, tmp_path, first + 1 + (last - first - 1) * eighth // 7)


@pytest.mark.parametrize("quarter", range(4))
def test_killed_before_the_first_commit_or_after_the_last(
    nights: Nights, tmp_path: Path, quarter: int
) -> None:
    last = nights.commits[-1]
    points = (1, nights.commits[0], last + 1, len(nights.events))
    check(nights, tmp_path, points[quarter])


@pytest.mark.slow
def test_killed_anywhere(nights: Nights, tmp_path: Path) -> None:
    for strike in range(1, len(nights.events) + 1):
        check(nights, tmp_path, strike)
