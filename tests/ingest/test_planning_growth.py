"""Files that hold nothing yet, and what they are when they have grown."""

import gzip
import os
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest

from ingest import _hashing, files, planning, staging
from ingest.discovery import Options, discover
from ingest.files import Fingerprint, fingerprint
from ingest.lake import known_files, open_writer
from ingest.planning import Plan
from ingest.staging import stage
from ingest.tables import RejectedRows
from tests.ingest.tiny import content

pytestmark = pytest.mark.thorough

HEADER = "step,rank,start_ns,duration_ns\n"
ROW = "{0},0,170000000{0}000000000,900\n"


def steps(count: int) -> bytes:
    return (HEADER + "".join(ROW.format(n) for n in range(count))).encode()


def put(folder: Path, name: str, data: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(data)
    return path


def plan(root: Path, *paths: Path) -> Plan:
    found = discover(paths, Options(run_id="r"), root)
    return planning.plan(found, known_files(root))


def ingest(root: Path, *paths: Path) -> Plan:
    with open_writer(root) as writer:
        todo = plan(root, *paths)
        for batch in todo.batches():
            writer.commit([stage(root, batch)])
    return todo


def told(root: Path) -> list[tuple[str, int, int]]:
    """Return source, accepted and rejected rows of each file of the lake."""
    known = known_files(root).sort("source", "path")
    return known.select("source", "rows_accepted", "rows_rejected").rows()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b" \r\n\t\n",
        bytes(70_000),
        b"\xef\xbb\xbf\r\n",
        b"\xff\xfe",
        gzip.compress(b"", mtime=0),
        b"\n" * 2_000_000,
    ],
)
def test_a_file_of_nothing_is_empty_and_not_refused(
    root: Path, tmp_path: Path, data: bytes
) -> None:
    put(tmp_path / "in", "log", data)
    assert ingest(root, tmp_path / "in").empty == 1
    assert told(root) == [("empty", 0, 0)]
    again = ingest(root, tmp_path / "in")
    assert (again.candidates, again.empty) == ((), 1)


@pytest.mark.parametrize(
    "data", [b"\n" * 2_000_000 + b"x", bytes(65_536) + b"x\n", b"\x1f\x8b"]
)
def test_what_has_something_in_it_is_not_empty(
    root: Path, tmp_path: Path, data: bytes
) -> None:
    put(tmp_path / "in", "log", data)
    assert ingest(root, tmp_path / "in").empty == 0


@pytest.mark.parametrize("blank", [b"", b"\n", bytes(100)])
def test_an_empty_file_that_grew_is_read(
    root: Path, tmp_path: Path, blank: bytes
) -> None:
    # GIVEN two files without content
    log = put(tmp_path / "in", "log", blank)
    put(tmp_path / "in", "other", blank)
    assert ingest(root, tmp_path / "in").empty == 2
    # WHEN one gets some
    log.write_bytes(blank.replace(b"\0", b"") + steps(3))
    # THEN it is read, and the other is what it was
    assert ingest(root, tmp_path / "in").empty == 1
    assert told(root) == [("empty", 0, 0), ("step-table", 3, 0)]
    # AND when that one has content too, nothing is left of empty files
    (tmp_path / "in" / "other").write_bytes(steps(2).replace(b",0,", b",1,"))
    ingest(root, tmp_path / "in")
    assert [row[0] for row in told(root)][-2:] == ["step-table", "step-table"]


def test_what_nobody_knew_while_it_was_short_leaves_when_it_is_known(
    root: Path, tmp_path: Path
) -> None:
    # GIVEN a log whose first bytes tell nothing
    log = put(tmp_path / "in", "log", steps(3)[:9])
    ingest(root, tmp_path / "in")
    assert told(root) == [("unrecognized", 0, 1)]
    # WHEN it has grown
    log.write_bytes(steps(3))
    ingest(root, tmp_path / "in")
    # THEN nothing is left of the refusal
    assert told(root) == [("step-table", 3, 0)]
    assert content(root)[RejectedRows.sql_name()].is_empty()


def test_what_nobody_knows_is_listed_once_however_it_grows(
    root: Path, tmp_path: Path
) -> None:
    for size in (10, 20, 40):
        put(tmp_path / "in", "log", b"who knows\n" * size)
        ingest(root, tmp_path / "in")
    assert told(root) == [("unrecognized", 0, 1)]


def test_what_another_source_took_while_it_was_short_leaves(
    root: Path, tmp_path: Path
) -> None:
    # GIVEN a log whose first line is that of a kernel, and then of a table
    line = b"[ 12.5] NVRM: Xid (PCI:0000:5d:00): 79, pid=1, GPU has fallen off\n"
    log = put(tmp_path / "in", "log", line)
    ingest(root, log)
    before = known_files(root).row(0, named=True)
    assert before["rows_accepted"] == 1
    # WHEN it is recognized as something else later
    found = discover([log], Options(run_id="r"), root)
    log.write_bytes(line * 2)
    known = known_files(root).with_columns(source=pl.lit("another"))
    todo = planning.plan(found, known)
    # THEN what the first took leaves
    assert todo.candidates[0].supersedes == (before["file_id"],)


def test_what_nobody_knows_takes_no_rows_away(root: Path, tmp_path: Path) -> None:
    put(tmp_path / "in", "log", b"who knows\n" * 20)
    ingest(root, tmp_path / "in")
    known = known_files(root).with_columns(source=pl.lit("steps"), bytes=10)
    (tmp_path / "in" / "log").write_bytes(b"who knows\n" * 30)
    todo = planning.plan(discover([tmp_path / "in"], Options(), root), known)
    assert todo.candidates[0].supersedes == ()


def test_a_file_that_grows_while_it_is_read_is_what_was_hashed(
    root: Path, tmp_path: Path
) -> None:
    # GIVEN a log that was hashed
    log = put(tmp_path / "in", "log", steps(5))
    todo = plan(root, log)
    # WHEN it grows before it is read
    log.write_bytes(steps(9))
    with open_writer(root) as writer:
        writer.commit([staging.stage(root, todo.candidates)])
    # THEN its rows are those of its hash, and the others come next time
    assert told(root) == [("step-table", 5, 0)]
    ingest(root, log)
    assert told(root) == [("step-table", 9, 0)]


def test_a_file_that_shrinks_while_it_is_read_says_so(
    root: Path, tmp_path: Path
) -> None:
    log = put(tmp_path / "in", "log", steps(5))
    todo = plan(root, log)
    log.write_bytes(steps(2))
    with open_writer(root) as writer:
        writer.commit([staging.stage(root, todo.candidates)])
    refused = content(root)[RejectedRows.sql_name()].row(0, named=True)
    assert (refused["rule"], refused["place"]) == ("changed", f"byte {len(steps(2))}")
    assert told(root) == [("step-table", 2, 1)]


def test_a_file_that_is_gone_after_it_was_listed_is_named(
    root: Path, tmp_path: Path
) -> None:
    put(tmp_path / "in", "log", steps(5))
    gone = put(tmp_path / "in", "moved", steps(4))
    found = discover([tmp_path / "in"], Options(), root)
    gone.unlink()
    todo = planning.plan(found, known_files(root))
    assert todo.unreadable == ((str(gone), "No such file or directory"),)
    assert len(todo.candidates) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(root: Path, tmp_path: Path) -> None:
    shut = put(tmp_path / "in", "log", steps(5))
    shut.chmod(0)
    assert plan(root, tmp_path / "in").unreadable == ((str(shut), "Permission denied"),)


def test_long_files_are_hashed_side_by_side_with_the_same_plan(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(8):
        put(tmp_path / "in", f"{n}.csv", steps(n % 5 + 1))
    gone = put(tmp_path / "in", "moved", steps(6))
    found = discover([tmp_path / "in"], Options(), root)
    gone.unlink()
    one_by_one = planning.plan(found, known_files(root))
    assert (len(one_by_one.candidates), len(one_by_one.again)) == (1, 7)
    monkeypatch.setattr(_hashing, "_LONG_BYTES", 1)
    assert planning.plan(found, known_files(root)) == one_by_one


def test_only_a_new_file_is_hashed_at_the_sizes_of_its_kin(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def log(n: int) -> bytes:
        return (HEADER + ROW.format(n) * (20 + n)).encode()

    for n in range(1, 9):
        put(tmp_path / "in", f"{n}.csv", log(n))
    ingest(root, tmp_path / "in")
    asked: list[int] = []

    def spied(path: Path, sizes: Iterable[int] = ()) -> Fingerprint:
        asked.append(len(set(sizes)))
        return fingerprint(path, sizes)

    monkeypatch.setattr(files, "fingerprint", spied)
    assert plan(root, tmp_path / "in").candidates == ()
    assert asked == [1] * 8
    asked.clear()
    put(tmp_path / "in", "5.csv", log(5) + ROW.format(6).encode())
    (grown,) = plan(root, tmp_path / "in").candidates
    assert len(grown.supersedes) == 1
    # its own size, which log 6 has too, and those of the five that are shorter
    assert sorted(asked) == [1] * 7 + [1, 6]
