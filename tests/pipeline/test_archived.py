"""Archives and empty files through the command line: the summary and the exit code."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ingest._archive_store import UNPACKED
from pipeline import querying
from pipeline.cli import run_tokens
from tests.ingest.archive_builder import tar, zipped

pytestmark = pytest.mark.thorough

HEADER = b"step,rank,start_ns,duration_ns\n"


def steps(rank: int) -> bytes:
    rows = (f"{n},{rank},{1_700_000_000 + n}000000000,900\n" for n in range(10))
    return HEADER + "".join(rows).encode()


@pytest.fixture
def inbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which archives land."""
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "in"
    made.mkdir()
    card = b"run_id = 'r'"
    (made / "x.tar").write_bytes(tar(("run.toml", card), ("0.csv", steps(0))))
    (made / "y.zip").write_bytes(zipped({"1.csv": steps(1), "2.csv": steps(2)}))
    (made / "empty.log").write_bytes(b"")
    return made


def ingest(inbox: Path) -> int:
    return run_tokens(["ingest", str(inbox), "--lake", "lake", "--run-id", "r"])


def test_archives_are_read_once(
    inbox: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ingest(inbox) == 0
    said = capsys.readouterr()
    assert said.out.startswith("5 new files (0 known): 31 rows read = 31 accepted")
    assert "1 empty file\n" in said.err
    assert ingest(inbox) == 0
    said = capsys.readouterr()
    assert said.out == "nothing new: 5 files are in the lake already\n"
    assert "1 empty file\n" in said.err
    paths = querying.rows_of(
        Path("lake"), "SELECT path FROM ingested_files WHERE rows_accepted = 10"
    )["path"]
    assert sorted(paths) == [
        f"{inbox}/x.tar!/0.csv",
        f"{inbox}/y.zip!/1.csv",
        f"{inbox}/y.zip!/2.csv",
    ]
    assert not list(Path("lake").glob(f"{UNPACKED}*"))


def test_what_is_too_much_is_named_with_the_setting(
    inbox: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GPULEDGER_ARCHIVE_ENTRIES", "1")
    assert ingest(inbox) == 3
    err = capsys.readouterr().err
    reason = "not opened: more than 1 files; raise archive_entries"
    assert f"{inbox}/x.tar: {reason}" in err
    assert f"{inbox}/y.zip: {reason}" in err


def test_a_bad_card_in_an_archive_is_one_line(
    inbox: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (inbox / "z.tar").write_bytes(tar(("run.toml", b"run_id = 7")))
    assert ingest(inbox) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{inbox}/z.tar!/run.toml: not a run card" in line
    assert not list(Path("lake").glob(f"{UNPACKED}*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_an_ingest_that_was_stopped(
    inbox: Path, number: signal.Signals
) -> None:
    # GIVEN an ingest that waits while its archives are unpacked
    lake = Path("lake").absolute()
    code = (
        "import sys, time\n"
        "from ingest import planning\n"
        "planning.plan = lambda *_: time.sleep(60)\n"
        "from pipeline.cli import run_tokens\n"
        "sys.exit(run_tokens(sys.argv[1:]))\n"
    )
    root = Path(__file__).parents[2]
    words = [sys.executable, "-c", code, "ingest", str(inbox), "--lake", str(lake)]
    environment = os.environ | {"PYTHONPATH": str(root)}
    process = subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not list(lake.glob(f"{UNPACKED}*/3")) and time.monotonic() < until:
        time.sleep(0.05)
    assert list(lake.glob(f"{UNPACKED}*/3"))
    # WHEN it is stopped
    process.send_signal(number)
    process.wait(timeout=60)
    # THEN nothing is left, at the latest after the next
    if number is signal.SIGKILL:
        assert ingest(inbox) == 0
    assert not list(lake.glob(f"{UNPACKED}*"))
