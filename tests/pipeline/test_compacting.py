"""`compact` end to end: fewer parts, days as rollups only, the same results."""

from pathlib import Path

import polars as pl
import pytest

from analysis import QUESTIONS
from ingest.errors import SettingError
from ingest.lake import open_writer, snapshot
from ingest.tables import IngestedFiles, PowerSamples, StepTimings, Table
from pipeline import compacting, settings, steps
from pipeline.cli import run_tokens
from pipeline.compacting import Compacted
from pipeline.logs import silence

pytestmark = pytest.mark.thorough

DAY_NS = 86_400 * 10**9
FIRST_NS = 19_675 * DAY_NS
HEADER = "run_id,step,rank,start_ns,duration_ns,compute_ns,wait_ns\n"


def fill(inbox: Path, days: int = 4, ranks: int = 4, steps_a_day: int = 40) -> None:
    """A file of each rank and day: a step every half an hour of 20 hours."""
    inbox.mkdir(exist_ok=True)
    for day in range(days):
        for rank in range(ranks):
            lines = []
            for number in range(steps_a_day):
                step = day * steps_a_day + number
                start = FIRST_NS + day * DAY_NS + number * 1_800 * 10**9
                slow = 200_000_000 if rank == 2 else 0
                work = 900_000_000 + slow + 1_000 * (step * 7 % 11 + rank)
                times = f"{start},1200000000,{work},{1_200_000_000 - work}"
                lines.append(f"r,{step},{rank},{times}\n")
            (inbox / f"day{day}-rank{rank}.csv").write_text(HEADER + "".join(lines))


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    fill(tmp_path / "in")
    for day in range(4):
        files = [str(path) for path in sorted((tmp_path / "in").glob(f"day{day}*"))]
        tokens = ["ingest", *files, "--lake", str(tmp_path / "lake"), "--quiet"]
        assert run_tokens(tokens) == 0
    return tmp_path / "lake"


def results(root: Path) -> dict[str, pl.DataFrame]:
    lake = snapshot(root)
    tables = [table for question in QUESTIONS for table in question.outputs]
    found = {t.sql_name(): lake.scan(t).collect() for t in tables}
    return {name: rows.sort(pl.all()) for name, rows in found.items() if rows.height}


def generation(root: Path) -> int:
    return snapshot(root).generation


def test_merging_changes_no_result_and_computes_none(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_tokens(["analyze", "--lake", str(lake), "--quiet"])
    before = results(lake)
    assert run_tokens(["compact", "--lake", str(lake), "--quiet"]) == 0
    assert "parts merged into" in capsys.readouterr().out.splitlines()[-1]
    run_tokens(["analyze", "--lake", str(lake), "--quiet"])
    said = capsys.readouterr().out
    assert said.startswith("analyses computed: none;")
    assert results(lake).keys() == before.keys()
    # AND what is compact stays as it is
    at = generation(lake)
    run_tokens(["compact", "--lake", str(lake), "--quiet"])
    assert capsys.readouterr().out.startswith("0 parts merged")
    assert generation(lake) == at


def test_old_days_become_rollups_and_results_stay(
    lake: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    # GIVEN results by day
    given = settings.load(lake=lake, by_day_rows=0)
    with open_writer(lake) as writer:
        steps.analyze(writer, given)
    before = results(lake)
    # WHEN all but the newest day and the one before are retired
    tokens = ["compact", "--keep-raw", "1d", "--lake", str(lake)]
    assert run_tokens(tokens) == 0
    said = capsys.readouterr()
    assert "320 raw rows of 2 days retired" in said.out
    assert "step_timings: retired 2023-11-14, 2023-11-15: rollups only" in said.err
    # THEN raw rows are of two days, every file says what became of its rows
    days = {part.day for part in snapshot(lake).parts(StepTimings)}
    assert days == {"2023-11-16", "2023-11-17"}
    files = snapshot(lake).scan(IngestedFiles).collect()
    told = files["rows_accepted"] + files["rows_rejected"] + files["rows_retired"]
    assert (told == files["rows_read"]).all()
    assert files["rows_retired"].sum() == 320
    # AND the results are what they were, also when they are computed again
    for again in range(2):
        after = results(lake)
        assert after.keys() == before.keys()
        for name, rows in before.items():
            assert rows.equals(after[name]), f"{name}, {again}"
        run_tokens(["analyze", "--lake", str(lake), "--quiet"])
    # AND the report says so
    report = tmp_path / "r.html"
    run_tokens(["report", "-o", str(report), "--lake", str(lake), "--quiet"])
    assert "2 days as rollups only (2023-11-14 to 2023-11-15)" in report.read_text()
    # AND again is nothing
    capsys.readouterr()
    assert run_tokens([*tokens, "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("0 parts merged into 0")


def test_a_day_that_no_rollup_covers_is_kept_and_said(
    lake: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pipeline.analyzing.analyze", lambda *_, **__: None)
    assert run_tokens(["compact", "--keep-raw", "0d", "--lake", str(lake)]) == 0
    said = capsys.readouterr()
    assert "0 raw rows of 0 days retired" in said.out
    for day in ("2023-11-14", "2023-11-15", "2023-11-16"):
        line = f"step_timings {day}: kept raw, no rollup covers r"
        assert line in said.err
    assert len({part.day for part in snapshot(lake).parts(StepTimings)}) == 4


@pytest.mark.parametrize("text", ["12h", "7", "d", "-1d", "1.5d", "7 d", "100000d"])
def test_only_whole_days_can_be_kept(text: str) -> None:
    said = r"expected whole UTC days, such as 7d \(.*, 99999d is the most\)"
    with pytest.raises(SettingError, match=said):
        compacting.days_of(text)


def test_whole_days() -> None:
    days = [compacting.days_of(text) for text in ("7d", "0d", "99999d", " 30d ")]
    assert days == [7, 0, 99_999, 30]


def test_no_lake_and_no_days_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_tokens(["compact", "--lake", str(tmp_path / "none")]) == 1
    tokens = ["compact", "--keep-raw", "12h", "--lake", str(tmp_path / "none")]
    assert run_tokens(tokens) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith("no lake there; ingest something first")
    assert second.startswith("gpuledger: keep_raw '12h': expected whole UTC days")


def test_a_day_counts_once_for_all_its_tables() -> None:
    retired: dict[type[Table], list[str]] = {
        StepTimings: ["2026-03-02"],
        PowerSamples: ["2026-03-02", "2026-03-03"],
    }
    head = Compacted(0, 0, retired, 9, ()).lines()[0]
    assert head.endswith("; 9 raw rows of 2 days retired")
    one = Compacted(0, 0, {StepTimings: ["2026-03-02"]}, 9, ()).lines()[0]
    assert one.endswith("; 9 raw rows of 1 day retired")


def test_only_its_option_retires_and_a_small_run_is_told_why(
    lake: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # GIVEN the setting of nights
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpuledger.toml").write_text('keep_raw = "1d"\n')
    # WHEN parts are merged by hand
    assert run_tokens(["compact", "--lake", str(lake)]) == 0
    said = capsys.readouterr()
    # THEN every day stays, and that is said
    assert "retired" not in said.out
    assert "'1d' of the settings is for nights: nothing is retired here" in said.err
    assert len({part.day for part in snapshot(lake).parts(StepTimings)}) == 4
    # AND with the option, the run is told why it is condensed, then and later
    for tokens in (["compact", "--keep-raw", "1d"], ["analyze"]):
        assert run_tokens([*tokens, "--lake", str(lake)]) == 0
        said = capsys.readouterr()
        assert (
            "step_timings of r: condensed by day, since old days of it are kept as"
            " rollups only\n"
        ) in said.err
        assert "by_day_rows" not in said.err


def test_a_night_does_it_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path / "in")
    (tmp_path / "gpuledger.toml").write_text('keep_raw = "1d"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    assert run_tokens(["nightly", "in", "--once"]) == 0
    assert "320 raw rows of 2 days retired" in capsys.readouterr().err
    # AND the next night brings nothing back
    assert run_tokens(["nightly", "in", "--once"]) == 0
    days = {part.day for part in snapshot(tmp_path / "lake").parts(StepTimings)}
    assert days == {"2023-11-16", "2023-11-17"}


def test_silence_is_kept(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_writer(lake) as writer:
        compacting.compact(writer, settings.load(lake=lake), silence)
    assert capsys.readouterr() == ("", "")
