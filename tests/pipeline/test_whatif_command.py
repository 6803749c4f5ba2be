"""`gpuledger whatif`: its answers, its messages, its exit codes."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipeline.cli import run_tokens

pytestmark = pytest.mark.thorough

S = 10**9
START = 1_700_000_000 * S

#: Own work of six ranks in three steps; rank 4 is slow. [s]
WORK = [[10, 10, 10, 10, 20, 10]] * 3


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of one run: three steps of six ranks."""
    folder = tmp_path_factory.mktemp("whatif")
    inbox = folder / "inbox"
    inbox.mkdir()
    (inbox / "steps.csv").write_text(log())
    (inbox / "run.toml").write_text('run_id = "one"\n[price]\nusd_per_gpu_hour = 3.0\n')
    root = folder / "lake"
    assert run_tokens(["ingest", str(inbox), "--lake", str(root), "--quiet"]) == 0
    assert run_tokens(["analyze", "--lake", str(root), "--quiet"]) == 0
    return root


def log() -> str:
    lines = ["step,rank,start_ns,duration_ns,wait_ns"]
    for step, work in enumerate(WORK):
        for rank, own in enumerate(work):
            start = START + step * 20 * S
            lines.append(f"{step},{rank},{start},{20 * S},{(20 - own) * S}")
    return "\n".join(lines) + "\n"


def ask(lake: Path, *tokens: str) -> int:
    return run_tokens(["whatif", "--lake", str(lake), *tokens])


def fails(
    capsys: pytest.CaptureFixture[str], code: int, lake: Path, *tokens: str
) -> str:
    capsys.readouterr()
    assert ask(lake, *tokens) == code
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("gpuledger: ")
    return line


def test_a_repair_in_time_gpu_time_and_dollars(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(lake, "--fix", "rank=4", "--format", "json") == 0
    said = capsys.readouterr()
    (row,) = json.loads(said.out)
    assert (row["step_actual_ns"], row["step_repaired_ns"]) == (20 * S, 10 * S)
    assert (row["saved_step_ns"], row["saved_ns"]) == (10 * S, 30 * S)
    assert row["saved_gpu_ns"] == 180 * S
    assert row["saved_usd"] == pytest.approx(180 / 3600 * 3.0)
    assert row["usd_per_gpu_hour"] == 3.0
    assert "3.0" in said.err
    assert "(run card)" in said.err
    assert "a step ends when its slowest rank ends" in said.err


def test_several_repairs_are_answered_alone_and_together(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = ["--fix", "rank=4", "--fix", "everything", "--fix", "rank=4"]
    assert ask(lake, *tokens, "--format", "csv", "--quiet") == 0
    said = capsys.readouterr()
    assert said.err == ""
    rows = list(csv.DictReader(io.StringIO(said.out)))
    repairs = [row["repair"] for row in rows]
    assert repairs == ["rank=4", "everything", "rank=4 + everything"]
    assert [row["is_joint"] for row in rows] == ["false", "false", "true"]


def test_the_table_is_for_people(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(lake, "--fix", "rank=4") == 0
    head, rule, row = capsys.readouterr().out.splitlines()
    assert head.split("  ")[0] == "repair"
    assert set(rule) == {"-", " "}
    for said in (
        "20.0 s",
        "10.0 s",
        "30.0 s",
        "180 GPU-s",
        "0.150 USD",
        "not found slow",
    ):
        assert said in row


def test_parquet_has_the_rows(
    lake: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert ask(lake, "--fix", "rank=4", "--format", "parquet") == 0
    rows = pl.read_parquet(io.BytesIO(capsysbinary.readouterr().out))
    assert rows["repair"].to_list() == ["rank=4"]


def test_the_ranking_of_what_was_analysed(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(lake, "--format", "json", "--run-id", "one") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["repair"] == "everything"
    assert not row["is_bound"]
    assert row["saved_gpu_ns"] == 180 * S


def test_equal_repairs_are_one_and_too_many_are_refused(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = [f"--fix=rank={'0' * (place % 9)}4" for place in range(10_000)]
    assert ask(lake, *same, "--format", "csv", "--quiet") == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert row["repair"] == "rank=4"
    many = [f"--fix=rank={place}" for place in range(101)]
    line = fails(capsys, 2, lake, *many)
    assert "101 different repairs, and at most 100" in line
    words = [word for place in range(5_000) for word in ("--fix", f"rank={place}")]
    assert "5000 different repairs" in fails(capsys, 2, lake, *words)


def test_everything_is_called_no_bound(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(lake, "--fix", "everything", "--format", "json") == 0
    said = capsys.readouterr()
    (row,) = json.loads(said.out)
    assert not row["is_bound"]
    assert "a single repair can save more" in said.err
    assert ask(lake) == 0
    said = capsys.readouterr()
    assert "bound" not in said.out + said.err


@pytest.mark.parametrize(
    ("fix", "says"),
    [
        ("rank=99", "--fix 'rank=99': the run has ranks 0-5"),
        ("rank=0..123456789012345678", "the run has ranks 0-5"),
        ("host=node-9", "no hosts are known"),
        ("stage=last", "no stages are known"),
        ("gc", "only a trace of operations tells"),
        ("link=0-1", "only a trace of operations tells"),
        ("clocks", "power telemetry by GPU tells them"),
        ("data", "no time that steps were blocked on input"),
        ("host=x' OR 1=1; DROP TABLE step_timings; --", "no hosts are known"),
        ("host=\u202eevil\x00", "no hosts are known"),
        ("kind=\N{GREEK SMALL LETTER ALPHA}" + "x" * 500, "only a trace of operations"),
    ],
)
def test_what_the_lake_cannot_tell_is_1(
    lake: Path, capsys: pytest.CaptureFixture[str], fix: str, says: str
) -> None:
    line = fails(capsys, 1, lake, "--fix", fix)
    assert says in line
    assert len(line) < 400
    assert line.isprintable()


@pytest.mark.parametrize(
    "fix",
    [
        "",
        "=",
        "rank",
        "rank=",
        "rank=-1",
        "rank=a",
        "rank=5..3",
        "rank=1,,2",
        "rank=\N{ARABIC-INDIC DIGIT THREE}",
        "rank=" + "9" * 400,
        "stage=first",
        "replica=x",
        "workers=fastest",
        "communication=",
        "communication=fast",
        "clocks=2",
        "checkpoint=0",
        "checkpoint=every day",
        "hosts=a",
        "everything else",
        "'; DROP TABLE runs; --",
        "\N{PILE OF POO}",
        "[1]",
        "{}",
    ],
)
def test_what_is_no_repair_is_2(
    lake: Path, capsys: pytest.CaptureFixture[str], fix: str
) -> None:
    line = fails(capsys, 2, lake, f"--fix={fix}")
    assert "--fix" in line
    assert line.endswith("; see gpuledger whatif --help")
    assert len(line) < 700


def test_a_run_that_is_not_there(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = fails(capsys, 1, lake, "--run-id", "two", "--fix", "rank=0")
    assert "--run-id 'two': no such run in the lake; runs: one" in line


def test_of_several_runs_one_must_be_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for run in ("a", "b"):
        (tmp_path / run).mkdir()
        (tmp_path / run / "steps.csv").write_text(log())
        (tmp_path / run / "run.toml").write_text(f'run_id = "{run}"\n')
    root = tmp_path / "lake"
    inboxes = [str(tmp_path / run) for run in ("a", "b")]
    assert run_tokens(["ingest", *inboxes, "--lake", str(root), "--quiet"]) == 0
    assert "no run was analysed yet" in fails(capsys, 1, root, "--fix", "rank=0")
    assert "run gpuledger analyze first" in fails(capsys, 1, root)
    assert run_tokens(["analyze", "--lake", str(root), "--quiet"]) == 0
    line = fails(capsys, 1, root, "--fix", "rank=0")
    assert "choose one, the lake has several runs: a, b" in line
    capsys.readouterr()
    assert ask(root, "--fix", "rank=4", "--run-id", "b", "--format", "json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out)[0]["run_id"] == "b"
    assert "2.0" in said.err
    assert "(default)" in said.err
    assert ask(root, "--format", "json") == 0
    runs = [row["run_id"] for row in json.loads(capsys.readouterr().out)]
    assert runs == ["a", "b"]


def test_no_lake_is_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = fails(capsys, 1, tmp_path / "none", "--fix", "rank=0")
    assert "no lake there; ingest something first" in line


def test_a_run_without_waits_says_what_would_tell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "steps.csv").write_text(
        f"step,rank,start_ns,duration_ns\n0,0,{START},900\n0,1,{START},900\n"
    )
    root = tmp_path / "lake"
    tokens = ["ingest", str(tmp_path), "--run-id", "x", "--lake", str(root), "--quiet"]
    assert run_tokens(tokens) == 0
    line = fails(capsys, 1, root, "--run-id", "x", "--fix", "rank=0")
    assert "a step log with waits, or traces of all ranks, tell them" in line


def test_traces_without_step_marks_say_what_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for rank in range(2):
        name = tmp_path / f"rank{rank}.pt.trace.json"
        name.write_text(json.dumps(trace(rank)))
    root = tmp_path / "lake"
    tokens = ["ingest", str(tmp_path), "--run-id", "k", "--lake", str(root), "--quiet"]
    assert run_tokens(tokens) == 0
    line = fails(capsys, 1, root, "--run-id", "k", "--fix", "rank=0")
    assert "its traces mark no steps" in line


def trace(rank: int) -> dict[str, Any]:
    """Return a trace of one kernel, outside every step."""
    kernel = {
        "ph": "X",
        "cat": "kernel",
        "name": "gemm",
        "pid": 0,
        "tid": 7,
        "ts": 1.0,
        "dur": 10.0,
        "args": {"device": 0, "stream": 7, "correlation": 1, "External id": 1},
    }
    return {
        "schemaVersion": 1,
        "baseTimeNanoseconds": START,
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2},
        "traceEvents": [kernel],
    }


def test_a_lake_without_runs_is_told_from_one_not_analysed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "power.csv").write_text(
        "timestamp, index, uuid, power.draw [W]\n"
        "2025/01/01 00:00:00.000, 0, GPU-1, 300.00 W\n"
    )
    root = tmp_path / "lake"
    tokens = [str(tmp_path), "--lake", str(root), "--quiet"]
    assert run_tokens(["ingest", *tokens]) == 0
    assert "run gpuledger analyze first" in fails(capsys, 1, root)
    assert run_tokens(["analyze", "--lake", str(root), "--quiet"]) == 0
    line = fails(capsys, 1, root)
    assert "analysed, and nothing in it to repair: no steps of ranks" in line
    assert "analyze first" not in line
    assert "nothing in it to repair" in fails(capsys, 1, root, "--fix", "rank=0")


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from pipeline.cli import run_tokens;"
        " run_tokens(['whatif', '--help']);"
        " print(sorted({'polars', 'numpy', 'analysis', 'duckdb'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
