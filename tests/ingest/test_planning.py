"""What is read, what is known, and whose rows leave for it."""

import gzip
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from ingest import planning
from ingest.discovery import Options, discover
from ingest.lake import known_files, open_writer, snapshot
from ingest.planning import Plan
from ingest.staging import stage
from ingest.tables import RunCards, StepTimings

HEADER = "step,rank,start_ns,duration_ns\n"


def steps(count: int, first: int = 0) -> str:
    """A step log: one row a step, so that a longer one begins with a shorter one."""
    start = 1_700_000_000
    numbers = range(first, first + count)
    return HEADER + "".join(f"{n},0,{start + n}000000000,900\n" for n in numbers)


def put(path: Path, text: str) -> Path:
    """Write a file, and its folder where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def plan(root: Path, *paths: Path, options: Options | None = None) -> Plan:
    """Tell what an ingest would do."""
    found = discover(paths, options or Options(), root)
    return planning.plan(found, known_files(root))


def ingest(root: Path, *paths: Path, options: Options | None = None) -> list[str]:
    """Ingest paths; return the names of the files that were read."""
    with open_writer(root) as writer:
        todo = plan(root, *paths, options=options)
        for batch in todo.batches():
            writer.commit([stage(root, batch)])
    return [candidate.path.name for candidate in todo.candidates]


def runs(root: Path) -> dict[str, int]:
    """Return how many steps each run has in the lake."""
    rows = snapshot(root).scan(StepTimings).collect()
    counts = rows.group_by(StepTimings.run_id.name).len().sort("run_id")
    return dict(counts.iter_rows())


def names(paths: Sequence[Path]) -> list[str]:
    """Return the names of paths."""
    return [path.name for path in paths]


def test_a_longer_log_of_another_run_takes_nothing_away(
    root: Path, tmp_path: Path
) -> None:
    # GIVEN two runs whose logs begin alike
    for run, count in (("r1", 5), ("r2", 10)):
        put(tmp_path / run / "run.toml", f"run_id = '{run}'")
        put(tmp_path / run / "s.csv", steps(count))
    # WHEN they come one after the other, and then both together
    ingest(root, tmp_path / "r1")
    ingest(root, tmp_path / "r2")
    # THEN each has its own rows
    assert runs(root) == {"r1": 5, "r2": 10}
    assert ingest(root, tmp_path / "r1", tmp_path / "r2") == []


def test_a_copy_as_another_run_leaves_the_first_where_it_was_moved(
    root: Path, tmp_path: Path
) -> None:
    # GIVEN a run whose folder was moved after it was read
    put(tmp_path / "r1" / "run.toml", "run_id = 'one'")
    put(tmp_path / "r1" / "s.csv", steps(5))
    ingest(root, tmp_path / "r1")
    (tmp_path / "r1").rename(tmp_path / "r9")
    assert ingest(root, tmp_path / "r9") == []
    # WHEN its copy comes as another run, where the first was or elsewhere
    for folder in ("r10", "r1"):
        shutil.copytree(tmp_path / "r9", tmp_path / folder)
        put(tmp_path / folder / "run.toml", f"run_id = 'as {folder}'")
        ingest(root, tmp_path / "r9", tmp_path / folder)
    # THEN all three are there
    assert runs(root) == {"one": 5, "as r10": 5, "as r1": 5}


def test_a_moved_run_with_another_name_has_one_name(root: Path, tmp_path: Path) -> None:
    put(tmp_path / "a" / "s.csv", steps(5))
    ingest(root, tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    ingest(root, tmp_path / "b")
    assert runs(root) == {"b": 5}


def test_a_log_that_grew_while_its_run_was_renamed_leaves_no_ghost(
    root: Path, tmp_path: Path
) -> None:
    card = put(tmp_path / "in" / "run.toml", "run_id = 'old'")
    log = put(tmp_path / "in" / "s.csv", steps(5))
    ingest(root, log)
    put(card, "run_id = 'new'")
    put(log, steps(10))
    ingest(root, log)
    assert runs(root) == {"new": 10}


@pytest.mark.parametrize("order", [["log.1"], ["log"], ["log.1", "log"]])
def test_an_old_copy_beside_the_grown_log_is_known(
    root: Path, tmp_path: Path, order: list[str]
) -> None:
    # GIVEN a log and what it was before, of which some came first
    inbox = tmp_path / "in"
    put(inbox / "log.1", steps(5))
    put(inbox / "log", steps(10))
    put(inbox / "log.2", steps(3))
    put(inbox / "same", steps(10))
    put(inbox / "empty", "")
    options = Options(run_id="r")
    ingest(root, *(inbox / name for name in order), options=options)
    # WHEN the folder comes, again and again
    ingest(root, inbox, options=options)
    # THEN only the longest is in the lake, and nothing is read a second time
    again = plan(root, inbox, options=options)
    assert again.candidates == ()
    assert names(again.known) == ["empty", "log", "log.1", "log.2", "same"]
    assert runs(root) == {"r": 10}
    read = known_files(root).filter(pl.col("rows_accepted") > 0)
    assert read["rows_accepted"].to_list() == [10]


def test_of_a_log_and_its_beginning_only_the_longer_is_read(
    root: Path, tmp_path: Path
) -> None:
    # more than a head, so that sizes are those on disk
    put(tmp_path / "in" / "a", steps(9_000))
    put(tmp_path / "in" / "b", steps(8_000))
    put(tmp_path / "in" / "other", steps(9, first=1))
    todo = plan(root, tmp_path / "in")
    assert names([c.path for c in todo.candidates]) == ["a", "other"]
    assert names(todo.known) == ["b"]


def test_a_packed_beginning_is_read_but_once(root: Path, tmp_path: Path) -> None:
    put(tmp_path / "in" / "log", steps(10))
    (tmp_path / "in" / "log.1.gz").write_bytes(gzip.compress(steps(5).encode()))
    ingest(root, tmp_path / "in")
    assert ingest(root, tmp_path / "in") == []
    assert runs(root) == {"in": 10}


def test_another_run_id_in_a_card_leaves_no_ghost(root: Path, tmp_path: Path) -> None:
    # GIVEN a run with a host map
    card = put(tmp_path / "in" / "run.toml", "run_id = 'a'\nhosts.map = 'h.csv'")
    put(tmp_path / "in" / "h.csv", "rank,host,local_rank\n0,n,0\n")
    ingest(root, tmp_path / "in")
    # WHEN its card names it otherwise, and its map changes too
    put(card, "run_id = 'b'\nhosts.map = 'h.csv'")
    put(tmp_path / "in" / "h.csv", "rank,host,local_rank\n0,m,0\n")
    assert sorted(ingest(root, tmp_path / "in")) == ["h.csv", "run.toml"]
    # THEN the lake has the one run
    assert snapshot(root).scan(RunCards).collect()["run_id"].to_list() == ["b"]
    assert known_files(root)["run_id"].to_list() == ["b", "b"]


def test_names_without_an_encoding_are_escaped(root: Path, tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/und\xff"))
    put(folder / os.fsdecode(b"s\xfe.csv"), steps(5))
    ingest(root, folder)
    assert runs(root) == {"und\\xff": 5}
    (row,) = known_files(root).iter_rows(named=True)
    assert row["path"].endswith("/und\\xff/s\\xfe.csv")
    ingest(root, folder, options=Options(run_id=os.fsdecode(b"\xfd")))
    assert runs(root) == {"\\xfd": 5}


def test_what_is_no_file_is_named_and_not_opened(root: Path, tmp_path: Path) -> None:
    # GIVEN a pipe that nobody writes to, and links that lead nowhere
    inbox = tmp_path / "in"
    put(inbox / "s.csv", steps(5))
    os.mkfifo(inbox / "pipe")
    (inbox / "gone").symlink_to(tmp_path / "none")
    (inbox / "loop").symlink_to(inbox / "loop")
    # WHEN they are given, in their folder or by name
    whole = plan(root, inbox)
    named = plan(root, inbox / "pipe", inbox / "gone")
    # THEN each is named
    reasons = {
        "gone": "a link that leads to no file",
        "loop": "Too many levels of symbolic links",
        "pipe": "not a regular file",
    }
    said = [(str(inbox / name), reason) for name, reason in reasons.items()]
    assert whole.unreadable == tuple(said)
    assert names([c.path for c in whole.candidates]) == ["s.csv"]
    assert named.unreadable == (said[0], said[2])


@pytest.mark.parametrize(
    ("files", "size", "least", "most"),
    [
        (32, 1_000, 1, 1),
        (32, 4 << 20, 4, planning.FEW_BATCHES),
        (5_000, 1_000, 2, planning.MOST_BATCHES),
        (1_000, 1 << 30, 50, planning.MOST_BATCHES),
    ],
)
def test_batches_are_enough_for_all_cores_and_few_enough_for_tasks(
    tmp_path: Path, files: int, size: int, least: int, most: int
) -> None:
    todo = plan(tmp_path / "lake", put(tmp_path / "log", steps(2)))
    one = replace(todo.candidates[0], size=size)
    batches = list(replace(todo, candidates=(one,) * files).batches())
    assert sum(map(len, batches)) == files
    assert least <= len(batches) <= most
