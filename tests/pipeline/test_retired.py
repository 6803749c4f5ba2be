"""A run of three days, answered from rollups alone as it was from its raw rows."""

from pathlib import Path

import polars as pl
import pytest

from analysis import QUESTIONS
from analysis.attempts import Attempts
from analysis.energy import Energy
from analysis.goodput import Goodput
from analysis.gpus import Gpus
from analysis.lost_time import LostTime
from analysis.stragglers import StragglerRanks
from ingest.lake import known_files, snapshot
from ingest.tables import PowerSamples, StepTimings
from pipeline.cli import run_tokens
from tests.pipeline.rehearsal import DAYS, write_run

pytestmark = pytest.mark.thorough

#: What the run must have an answer to, for the test to be about anything.
ANSWERED = (Attempts, Gpus, StragglerRanks, LostTime, Goodput, Energy)


def results(root: Path) -> dict[str, pl.DataFrame]:
    lake = snapshot(root)
    tables = [table for question in QUESTIONS for table in question.outputs]
    frames = {t.sql_name(): lake.scan(t).collect() for t in tables}
    return {name: rows.sort(pl.all()) for name, rows in frames.items() if rows.height}


@pytest.fixture
def lake(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GPULEDGER_BY_DAY_ROWS", "0")
    monkeypatch.setenv("GPULEDGER_LAKE", str(tmp_path / "lake"))
    hosts = project / "sample_traces" / "pod16" / "hosts.csv"
    run = write_run(tmp_path / "run", hosts)
    assert run_tokens(["run", str(run), "--report", "before.html", "--quiet"]) == 0
    return tmp_path / "lake"


def headline(page: Path) -> str:
    return page.read_text("utf-8").split("</h1>")[0].rsplit("<h1", 1)[1]


def test_answers_outlive_their_raw_rows(
    lake: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # GIVEN results of a run of which every day is condensed
    before = results(lake)
    assert {table.sql_name() for table in ANSWERED} <= before.keys()
    rows = {
        t: snapshot(lake).scan(t).collect().height for t in (StepTimings, PowerSamples)
    }
    # WHEN the raw rows of all days but the last leave
    assert run_tokens(["compact", "--keep-raw", "0d", "--quiet"]) == 0
    left = {t: snapshot(lake).scan(t).collect().height for t in rows}
    assert all(left[table] < rows[table] / (DAYS - 1) for table in rows)
    # THEN results are the same, of those rows that are left and of rollups
    monkeypatch.setattr("pipeline.analyzing._is_current", lambda *_: False)
    run_tokens(["analyze", "--quiet"])
    assert "goodput" in capsys.readouterr().out.partition("; unchanged")[0]
    after = results(lake)
    assert after.keys() == before.keys()
    for name, expected in before.items():
        assert expected.equals(after[name]), name
    # AND each file says what became of its rows
    files = known_files(lake)
    assert files["rows_retired"].sum() == sum(rows.values()) - sum(left.values())
    told = files["rows_accepted"] + files["rows_rejected"] + files["rows_retired"]
    assert (told == files["rows_read"]).all()
    # AND so do the pages
    assert run_tokens(["report", "-o", "after.html", "--quiet"]) == 0
    assert headline(tmp_path / "after.html") == headline(tmp_path / "before.html")
