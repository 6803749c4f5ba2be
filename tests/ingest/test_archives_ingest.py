"""Archives from the inbox to the lake: nothing twice, nothing left behind."""

import gzip
import os
from pathlib import Path

import pytest

from ingest import planning
from ingest._archive_store import UNPACKED
from ingest.archives import unpacked
from ingest.discovery import Options, discover
from ingest.lake import known_files, open_writer, snapshot
from ingest.planning import Plan
from ingest.staging import stage
from ingest.tables import RejectedRows, StepTimings
from tests.ingest.archive_builder import tar, zipped

pytestmark = pytest.mark.thorough

HEADER = "step,rank,start_ns,duration_ns\n"


def steps(count: int, rank: int = 0) -> bytes:
    start = 1_700_000_000
    rows = (f"{n},{rank},{start + n}000000000,900\n" for n in range(count))
    return (HEADER + "".join(rows)).encode()


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def ingest(root: Path, *paths: Path, options: Options | None = None) -> Plan:
    said = options or Options()
    found = discover(paths, said, root)
    with open_writer(root) as writer, unpacked(found, said, root) as inside:
        todo = planning.plan(inside.found, known_files(root))
        for batch in todo.batches():
            writer.commit([stage(root, batch)])
    return todo


def paths(root: Path) -> dict[str, int]:
    """Return the accepted rows of files of the lake by the end of their path."""
    rows = known_files(root).select("path", "rows_accepted")
    return {path.partition("/in/")[2]: count for path, count in rows.iter_rows()}


def test_an_archive_is_read_once(root: Path, tmp_path: Path) -> None:
    inbox = tmp_path / "in"
    put(inbox, "x.tar.gz", gzip.compress(tar(("a/s.csv", steps(5)), ("e.log", b""))))
    assert len(ingest(root, inbox).candidates) == 2
    again = ingest(root, inbox)
    assert again.candidates == ()
    assert (len(again.known), again.empty) == (2, 1)
    assert paths(root) == {"x.tar.gz!/a/s.csv": 5, "x.tar.gz!/e.log": 0}


def test_an_archive_and_its_files_beside_it_are_the_same(
    root: Path, tmp_path: Path
) -> None:
    # GIVEN files, also in an archive and in another
    inbox = tmp_path / "in"
    files = {"s.csv": steps(5), "run.toml": b"run_id = 'r'"}
    for name, data in files.items():
        put(inbox / "run", name, data)
    put(inbox, "x.zip", zipped({f"run/{name}": data for name, data in files.items()}))
    put(inbox, "y.tar", tar(*((f"run/{name}", data) for name, data in files.items())))
    # WHEN they come, in any order
    ingest(root, inbox / "y.tar")
    assert len(ingest(root, inbox).candidates) == 0
    # THEN their rows are there once
    assert snapshot(root).scan(StepTimings).collect().height == 5


def test_a_member_that_grew_takes_the_place_of_what_it_was(
    root: Path, tmp_path: Path
) -> None:
    inbox = tmp_path / "in"
    for count in (3, 8):
        put(inbox, "x.tar", tar(("s.csv", steps(count))))
        ingest(root, inbox)
    assert paths(root) == {"x.tar!/s.csv": 8}


def test_rows_before_a_cut_are_kept_until_the_whole_comes(
    root: Path, tmp_path: Path
) -> None:
    # GIVEN an archive that is still being copied
    inbox = tmp_path / "in"
    whole = tar(("a.csv", steps(5)), ("b.csv", steps(900, rank=1)))
    put(inbox, "x.tar", whole[:12_000])
    ingest(root, inbox)
    before = paths(root)
    assert before["x.tar!/a.csv"] == 5
    assert 100 < before["x.tar!/b.csv"] < 900
    refused = snapshot(root).scan(RejectedRows).collect()
    assert "truncated" in refused["rule"].to_list()
    # WHEN all of it is there
    put(inbox, "x.tar", whole)
    ingest(root, inbox)
    # THEN so are all rows, and no refusal
    assert paths(root) == {"x.tar!/a.csv": 5, "x.tar!/b.csv": 900}
    assert snapshot(root).scan(RejectedRows).collect().is_empty()


def test_rows_of_an_archive_stay_while_it_stands(root: Path, tmp_path: Path) -> None:
    # GIVEN a run in an archive
    put(tmp_path / "in", "x.tar", tar(("s.csv", steps(5))))
    ingest(root, tmp_path / "in" / "x.tar", options=Options(run_id="one"))
    # WHEN its file comes from elsewhere as another run
    copy = put(tmp_path / "elsewhere", "s.csv", steps(5))
    ingest(root, copy, options=Options(run_id="two"))
    # THEN both are there
    runs = snapshot(root).scan(StepTimings).collect()["run_id"]
    assert sorted(runs.unique()) == ["one", "two"]
    # AND the first leaves with its archive
    (tmp_path / "in" / "x.tar").unlink()
    os.utime(copy)
    ingest(root, copy, options=Options(run_id="three"))
    runs = snapshot(root).scan(StepTimings).collect()["run_id"]
    assert "one" not in runs.unique().to_list()


def test_what_a_killed_process_left_is_deleted(root: Path, tmp_path: Path) -> None:
    put(root / f"{UNPACKED}abc", "1", b"left")
    mine = put(root / ".unpacked", "keep", b"of somebody else")
    put(tmp_path / "in", "s.csv", steps(5))
    ingest(root, tmp_path / "in")
    assert not (root / f"{UNPACKED}abc").exists()
    assert mine.exists()
