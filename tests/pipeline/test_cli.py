"""The command line: one line for what goes wrong, and the code that goes with it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.lake import open_writer
from pipeline.cli import run_tokens

STEPS = "step,rank,start_ns,duration_ns\n0,0,1700000000000000000,900\n"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GPULEDGER_LAKE", raising=False)


@pytest.fixture
def steps(tmp_path: Path) -> str:
    """A step log with one row."""
    path = tmp_path / "inbox" / "steps.csv"
    path.parent.mkdir()
    path.write_text(STEPS)
    return str(path)


def fails(capsys: pytest.CaptureFixture[str], code: int, *tokens: str) -> str:
    """Run a command that must fail; return its one line."""
    assert run_tokens(tokens) == code
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("gpuledger: ")
    return line


@pytest.mark.parametrize(
    "tokens",
    [
        ["nothing"],
        ["run"],
        ["ingest", "--zone"],
        ["ingest", "x", "--colour", "red"],
        ["sql"],
        ["sql", "SELECT 1", "--format", "xml"],
        ["ingest", "x", "--jobs", "many"],
        ["nightly", ".", "--once", "--cron", "0 2 * * *"],
    ],
)
def test_wrong_usage_is_2(
    capsys: pytest.CaptureFixture[str], tokens: list[str]
) -> None:
    assert re.search(r"; see gpuledger( \w+)? --help$", fails(capsys, 2, *tokens))
    assert not Path("lake").exists()


@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        (["ingest", "missing"], "missing: no such file or folder"),
        (["run", "missing"], "missing: no such file or folder"),
        (["ingest", "inbox", "--zone", "Mars"], "zone: Value error, expected an IANA"),
        (["ingest", "inbox", "--jobs", "0"], "jobs: Input should be greater"),
        (["ingest", "inbox", "--run", "none.toml"], "none.toml: No such file"),
        (["sql", "SELECT 1"], "expected a lake"),
        (["tables", "kernel"], "kernel: no such table"),
        (["nightly", "missing"], "missing: no such folder"),
        (["analyze"], "lake: no lake there; ingest something first"),
        (["report"], "lake: no lake there; ingest something first"),
        (["report", "-o", "inbox"], "inbox: expected the name of a file, not a folder"),
        (["report", "-o", ""], "expected the name of a file"),
        (["report", "-o", "/dev/null"], "/dev/null: expected the name of a file"),
    ],
)
def test_what_cannot_be_used_is_1(
    capsys: pytest.CaptureFixture[str], steps: str, tokens: list[str], says: str
) -> None:
    assert steps
    assert says in fails(capsys, 1, *tokens)


@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        (["analyze", "--since", "yesterday"], "--since 'yesterday': expected a day"),
        (["analyze", "--run-id", "x"], "--run-id 'x': no such run in the lake"),
        (["report", "--run-id", "x"], "--run-id 'x': no such run in the lake"),
    ],
)
def test_what_the_lake_does_not_have_is_1(
    capsys: pytest.CaptureFixture[str], steps: str, tokens: list[str], says: str
) -> None:
    assert run_tokens(["ingest", steps, "--quiet"]) == 0
    capsys.readouterr()
    assert says in fails(capsys, 1, *tokens)


@pytest.mark.thorough
def test_a_wrong_layout_stops_nothing_but_itself(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    # GIVEN a run whose telemetry tells of a rank that its layout has not, and another
    for run, rank in (("good", 0), ("bad", 9)):
        (tmp_path / run).mkdir()
        card = f"run_id = '{run}'\n[layout]\ntp = 2\n"
        (tmp_path / run / "run.toml").write_text(card)
        (tmp_path / run / "steps.csv").write_text(STEPS.replace("0,0,", f"0,{rank},"))
    # WHEN both are run
    assert run_tokens(["run", "good", "bad"]) == 3
    # THEN the layout is refused with both numbers, and everything else is answered
    refused = "layout refused: tp*cp*pp*dp gives 2 ranks, telemetry tells of rank 9"
    assert f"run 'bad': {refused}" in capsys.readouterr().err
    query = "SELECT run_id, tp FROM runs ORDER BY 1"
    assert run_tokens(["sql", query, "--format", "csv"]) == 0
    assert capsys.readouterr().out.split() == ["run_id,tp", "bad,", "good,2"]
    # AND a corrected card is taken
    card = "run_id = 'bad'\n[layout]\ntp = 16\n"
    (tmp_path / "bad" / "run.toml").write_text(card)
    assert run_tokens(["run", "bad", "--quiet"]) == 0


def test_a_refused_row_is_3_and_named(
    capsys: pytest.CaptureFixture[str], steps: str
) -> None:
    with Path(steps).open("a", encoding="utf-8") as file:
        file.write("1,0,1700000001000000000,-5\n")
    (Path(steps).parent / "x.bin").write_bytes(bytes(range(256)))
    assert run_tokens(["ingest", "inbox"]) == 3
    said = capsys.readouterr()
    assert said.out == (
        "2 new files (0 known): 3 rows read = 1 accepted + 2 rejected + 0 retired\n"
    )
    assert f"{steps}: 1 of 2 rows refused, first duration_ns|min at line 3" in said.err
    assert "x.bin: refused: looks like binary data" in said.err


def test_names_print_as_they_are(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "[bold]\x1b[31m"
    folder.mkdir()
    (folder / "<b>.bin").write_bytes(b"\0\1\2")
    assert run_tokens(["ingest", str(folder)]) == 3
    said = capsys.readouterr().err
    assert "[bold]" in said
    assert "<b>.bin" in said
    assert "\x1b" not in said


def test_quiet_says_nothing_but_the_answer(
    capsys: pytest.CaptureFixture[str], steps: str
) -> None:
    assert run_tokens(["run", steps, "--quiet", "--run-id", "r"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out == f"{Path('lake/report.html').resolve()}\n"


@pytest.mark.thorough
def test_a_locked_lake_says_who_holds_it(
    capsys: pytest.CaptureFixture[str], steps: str
) -> None:
    with open_writer(Path("lake")):
        done = subprocess.run(
            command("ingest", steps), capture_output=True, text=True, check=False
        )
    assert done.returncode == 1
    assert f"is locked by process {os.getpid()}" in done.stderr
    assert done.stderr.startswith("gpuledger: lake")
    assert capsys.readouterr().out == ""


def command(*tokens: str) -> list[str]:
    """The command that runs gpuledger with this interpreter."""
    return [sys.executable, "-c", "from pipeline.cli import main; main()", *tokens]


@pytest.mark.thorough
def test_a_closed_pipe_is_silent(steps: str) -> None:
    assert run_tokens(["ingest", steps, "--quiet"]) == 0
    query = "SELECT * FROM range(1000000)"
    with subprocess.Popen(
        command("sql", query), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_an_edited_card_replaces_the_old_and_reads_nothing_else(
    capsys: pytest.CaptureFixture[str], steps: str
) -> None:
    card = Path(steps).with_name("run.toml")
    card.write_text("run_id = 'r'\n[price]\nusd_per_gpu_hour = 1.0\n")
    assert run_tokens(["ingest", "inbox", "--quiet"]) == 0
    card.write_text("run_id = 'r'\n[price]\nusd_per_gpu_hour = 3.0\n")
    capsys.readouterr()
    assert run_tokens(["ingest", "inbox", "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("1 new files (1 known): 1 rows read")
    assert run_tokens(["sql", "SELECT usd_per_gpu_hour FROM run_cards"]) == 0
    assert capsys.readouterr().out.split()[-1] == "3.0"


@pytest.mark.thorough
def test_another_run_id_moves_the_rows(
    capsys: pytest.CaptureFixture[str], steps: str
) -> None:
    assert run_tokens(["ingest", steps, "--run-id", "a", "--quiet"]) == 0
    assert run_tokens(["ingest", steps, "--run-id", "b", "--quiet"]) == 0
    capsys.readouterr()
    assert run_tokens(["sql", "SELECT run_id FROM step_timings"]) == 0
    assert capsys.readouterr().out.split() == ["run_id", "------", "b"]


@pytest.mark.thorough
def test_a_log_that_grew_takes_the_place_of_what_it_was(
    capsys: pytest.CaptureFixture[str], steps: str
) -> None:
    assert run_tokens(["ingest", steps, "--quiet"]) == 0
    with Path(steps).open("a", encoding="utf-8") as file:
        file.write("1,0,1700000001000000000,900\n")
    assert run_tokens(["ingest", steps, "--quiet"]) == 0
    capsys.readouterr()
    query = "SELECT (SELECT count(*) FROM ingested_files), count(*) FROM step_timings"
    assert run_tokens(["sql", query, "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "1,2"


@pytest.mark.thorough
def test_analyze_of_one_run_leaves_the_others(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        rows = f"{STEPS}{'1,0,1700000001000000000,900' if name == 'b' else ''}\n"
        (tmp_path / name / "steps.csv").write_text(rows)
    assert run_tokens(["run", "a", "b", "--quiet"]) == 0
    assert run_tokens(["analyze", "--run-id", "a", "--quiet"]) == 0
    capsys.readouterr()
    query = "SELECT run_id FROM runs ORDER BY 1"
    assert run_tokens(["sql", query]) == 0
    assert capsys.readouterr().out.split()[2:] == ["a", "b"]
    # what was filled for one run is not taken for the whole
    assert run_tokens(["analyze", "--quiet"]) == 0
    assert "unchanged: 0" in capsys.readouterr().out
    assert run_tokens(["analyze", "--quiet"]) == 0
    assert "analyses computed: none" in capsys.readouterr().out


def test_an_empty_folder_has_no_files(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    assert run_tokens(["ingest", str(folder), "--quiet"]) == 0
    assert capsys.readouterr().out == "no files found\n"
    os.mkfifo(folder / "pipe")
    assert run_tokens(["ingest", str(folder)]) == 3
    said = capsys.readouterr()
    assert said.out == "no files read\n"
    assert f"{folder / 'pipe'}: not opened: not a regular file" in said.err
