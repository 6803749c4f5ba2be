"""Three days replayed with a night at each midnight end as one run over everything.

What differs is named: the list of files and of refused records (files are others after
a rotation), the file that each row came from, and when a file was read.
"""

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from analysis import RESULTS
from ingest.lake import known_files, snapshot
from ingest.replay import Replay
from ingest.tables import TABLES, IngestedFiles, RejectedRows
from pipeline.cli import run_tokens
from tests.pipeline.rehearsal import DAY_NS, DAYS, FIRST_NS, write_run

pytestmark = pytest.mark.slow

#: A night that dies when its manifest is about to take the place of the last.
DIES = """
import os, signal, sys
def hear(event, args):
    if event == "os.rename" and str(args[1]).endswith("manifest.parquet"):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hear)
from pipeline.cli import run_tokens
run_tokens(sys.argv[1:])
"""


def night(inbox: Path, lake: Path) -> list[str]:
    return ["nightly", str(inbox), "--once", "--lake", str(lake), "--quiet"]


def shown(root: Path) -> dict[str, pl.DataFrame]:
    """Rows of every table, but for what tells of files."""
    lake = snapshot(root)
    tables = [t for t in (*TABLES, *RESULTS) if t not in {IngestedFiles, RejectedRows}]
    frames = {t.sql_name(): lake.scan(t).collect() for t in tables}
    plain = {name: rows.drop("file_id", strict=False) for name, rows in frames.items()}
    return {name: rows.sort(pl.all()) for name, rows in plain.items()}


def assert_same(one: Path, other: Path) -> None:
    found, expected = shown(one), shown(other)
    for name, rows in expected.items():
        assert found[name].equals(rows), f"{name}:\n{found[name]}\n{rows}"


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("keep_raw", [None, "1d"])
def test_three_nights_end_as_one_run(
    tmp_path: Path, project: Path, keep_raw: str | None
) -> None:
    # GIVEN three days, and what one run over all of them shows
    run = write_run(tmp_path / "run", project / "sample_traces" / "pod16" / "hosts.csv")
    whole = tmp_path / "whole"
    assert run_tokens(["run", str(run), "--lake", str(whole), "--quiet"]) == 0
    if keep_raw:
        (tmp_path / "gpuledger.toml").write_text(f'keep_raw = "{keep_raw}"\n')
        tokens = ["compact", "--keep-raw", keep_raw, "--lake", str(whole), "--quiet"]
        assert run_tokens(tokens) == 0
    # WHEN they are replayed, every log rotated within a line at each midnight
    inbox = tmp_path / "inbox"
    lake = rehearsed(run, inbox, project)
    assert len(list(inbox.glob("*.jsonl.1"))) == 2
    # THEN the lake shows what it would have, had all of it come at once
    assert_same(lake, whole)
    # AND no half of a line is left refused
    assert known_files(lake)["rows_rejected"].sum() == 0


def test_three_generated_nights_end_as_one_run(tmp_path: Path, project: Path) -> None:
    # GIVEN the made cluster that is meant for it, with a fault of each kind
    made, whole = tmp_path / "made", tmp_path / "whole"
    assert run_tokens(["generate", "sample", "-o", str(made), "--quiet"]) == 0
    run = made / "sample"
    assert run_tokens(["run", str(run), "--lake", str(whole), "--quiet"]) == 0
    # WHEN it is replayed
    lake = rehearsed(run, tmp_path / "inbox", project)
    # THEN the lake shows what it would have, had all of it come at once
    assert_same(lake, whole)
    assert known_files(lake)["rows_rejected"].sum() == 0


def rehearsed(run: Path, inbox: Path, project: Path) -> Path:
    """Replay three days hour by hour, with a night at each midnight; one is killed.

    Returns:
        The lake that the nights have filled.
    """
    lake = inbox.with_name("lake")
    replay, parted = Replay(run, inbox, rotate_ns=DAY_NS), 0
    for day in range(1, DAYS + 1):
        for hour in range(1, 25):
            replay.advance(FIRST_NS + (day - 1) * DAY_NS + hour * DAY_NS // 24)
        old = [path.read_bytes() for path in inbox.rglob("*.1")]
        parted += sum(not data.endswith(b"\n") for data in old)
        if day == 2:
            # in the middle of its commit, and run again
            dead = subprocess.run(
                [sys.executable, "-c", DIES, *night(inbox, lake)],
                env=os.environ | {"PYTHONPATH": str(project)},
                check=False,
            )
            assert dead.returncode == -9
        assert run_tokens(night(inbox, lake)) in {0, 3}
    replay.advance(replay.last_ns)
    assert replay.is_done
    # some logs were rotated in the middle of a line
    assert parted
    assert run_tokens(night(inbox, lake)) == 0
    files = known_files(lake)
    told = files["rows_accepted"] + files["rows_rejected"] + files["rows_retired"]
    assert (told == files["rows_read"]).all()
    return lake
