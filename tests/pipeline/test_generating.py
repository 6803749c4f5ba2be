"""`gpuledger generate`: files that are taken whole, and the truth beside them."""

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import polars as pl
import pytest

from ingest.errors import SettingError
from ingest.synthetic.cluster import write_raw
from ingest.synthetic.cluster.cluster import cluster_of
from ingest.synthetic.cluster.scenario import (
    Fault,
    Fleet,
    Layout,
    Scenario,
    load_scenario,
)
from ingest.synthetic.cluster.volume import volume_of
from ingest.synthetic.cluster.write_raw import RawOptions
from pipeline import _pace
from pipeline._making import making
from pipeline.cli import run_tokens
from pipeline.commands._shared import INTERRUPTED, MISUSED
from pipeline.generating import Format, Request, generate, span_of
from pipeline.logs import silence
from pipeline.querying import rows_of

if TYPE_CHECKING:
    from ingest.synthetic.cluster.write_steps import Kind

SMALL = Scenario(run_id="small", fleet=Fleet(hosts=2), layout=Layout(tp=8, dp=2))


@pytest.mark.parametrize("form", ["raw", "parquet"])
def test_what_is_generated_is_ingested_whole(tmp_path: Path, form: Format) -> None:
    written = generate(SMALL, tmp_path, Request(form, hours=0.5, traces=1), silence)
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert truth["fleet"]["ranks"] == 16
    begun = SMALL.begun_ns
    until = begun + 1_800 * 10**9
    assert truth["files"] == {
        "from_ns": begun,
        "to_ns": until,
        "rows_from_ns": begun,
    }
    lake = tmp_path / "lake"
    tokens = ["ingest", str(tmp_path / "small"), "--lake", str(lake), "--quiet"]
    assert run_tokens(tokens) == 0
    counts = rows_of(
        lake,
        "SELECT (SELECT count(*) FROM rejected_rows) AS refused,"
        " (SELECT count(*) FROM step_timings WHERE start_ns IS NOT NULL) AS steps,"
        " (SELECT count(*) FROM power_samples) AS power,"
        " (SELECT count(*) FROM checkpoints) AS saves",
    ).row(0, named=True)
    assert counts["refused"] == 0
    assert counts["steps"] >= written.steps > 0
    assert counts["power"] == written.power > 0
    assert counts["saves"] == written.checkpoints > 0


@pytest.mark.parametrize("named", [["-o"], ["--output"], []])
def test_the_command_writes_what_the_lake_reads(
    tmp_path: Path, named: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = ["generate", "sample", *named, str(tmp_path / "made"), "--format", "lake"]
    assert run_tokens([*tokens, "--hours", "0.4", "--interval", "60"]) == 0
    made = tmp_path / "made" / "sample"
    for name in ("steps", "power"):
        assert {path.suffix for path in (made / name).iterdir()} == {".parquet"}
    assert {path.name for path in made.iterdir()} >= {"run.toml", "hosts.csv", "slurm"}
    assert (tmp_path / "made" / "truth.json").is_file()
    capsys.readouterr()
    assert run_tokens(tokens) == 1
    said = capsys.readouterr().err
    assert "there already; name another folder" in said
    assert said.count("\n") == 1


def test_one_that_is_stopped_leaves_nothing_and_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(write_raw, "book_steps", stopped)
    folder = tmp_path / "not" / "there"
    tokens = ["generate", "sample", "-o", str(folder), "--hours", "0.4"]
    assert run_tokens(tokens) == INTERRUPTED
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == (
        "gpuledger: stopped; nothing of it stays, run it again to begin anew"
    )
    assert not [*tmp_path.iterdir()]
    monkeypatch.undo()
    assert run_tokens(tokens) == 0


def test_what_a_kill_leaves_is_no_run_and_goes_when_it_is_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "made"
    killed = (
        "import os, signal\n"
        "from ingest.synthetic.cluster import write_raw\n"
        "from pipeline.cli import run_tokens\n"
        "write_raw.book_steps = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"run_tokens(['generate', 'sample', '-o', {str(folder)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", killed], check=False)
    assert done.returncode == -signal.SIGKILL
    (hidden,) = folder.iterdir()
    assert hidden.name == ".sample.making"
    assert (hidden / "sample" / "run.toml").is_file()
    assert run_tokens(["ingest", str(folder), "--lake", str(tmp_path / "lake")]) == 0
    assert capsys.readouterr().out == "no files found\n"
    assert run_tokens(["generate", "sample", "-o", str(folder), "--hours", "0.4"]) == 0
    assert {one.name for one in folder.iterdir()} == {"sample", "truth.json"}


def test_it_is_said_how_fast_and_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_pace, "EVERY_S", 0)
    tokens = ["generate", "sample", "-o", str(tmp_path), "--format", "lake"]
    assert run_tokens([*tokens, "--hours", "20", "--interval", "0"]) == 0
    said = capsys.readouterr()
    rows = said.out.split(" rows")[0].rpartition(" ")[2]
    lines = said.err.splitlines()
    assert re.fullmatch(
        rf"{rows} rows of steps and 0 samples of power are to be written,"
        r" about 0\.[0-9]+ GB",
        lines.pop(0),
    )
    assert len(lines) > 10
    for line in lines:
        assert re.fullmatch(
            rf"[0-9,]+ of {rows} rows \([0-9.]+ M rows/s\), \d+ (?:s|min) left", line
        )
    assert lines[-1].startswith(f"{rows} of {rows} rows")


def test_two_do_not_make_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = ["generate", "sample", "-o", str(tmp_path), "--hours", "0.4"]
    with making(tmp_path, "sample"):
        assert run_tokens(tokens) == 1
    assert "another process makes it" in capsys.readouterr().err


def test_a_disk_that_is_too_small_is_refused_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=5_000_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    folder = tmp_path / "not" / "there"
    tokens = ["generate", "pod", "-o", str(folder)]
    assert run_tokens(tokens) == 1
    said = capsys.readouterr().err
    # 14.7 M steps at 290 B, 6 M samples of 1,040 GPUs at 1,950 B
    assert re.fullmatch(
        rf"gpuledger: {folder}: about 15\.\d GB are to be written, and the disk has"
        r" 5 GB free; name another disk, fewer --hours, or --format lake\n",
        said,
    )
    assert not folder.exists()


@pytest.mark.parametrize("form", ["raw", "csv", "parquet"])
def test_about_as_much_is_written_as_was_said(tmp_path: Path, form: Format) -> None:
    """Never more, and half of it at least."""
    span = span_of(SMALL, 3)
    cluster = cluster_of(SMALL, span[1])
    kind: Kind = "jsonl" if form == "raw" else form
    said = volume_of(cluster, span, RawOptions(steps=kind, traces=2))
    written = generate(SMALL, tmp_path, Request(form, hours=3, traces=2), silence)
    files = [one for one in (tmp_path / "small").rglob("*") if one.is_file()]
    size = sum(one.stat().st_size for one in files)
    assert written.steps == said.steps
    assert written.power <= said.power <= written.power * 1.1
    assert size <= said.bytes <= 2 * size


def test_a_disk_that_fills_up_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        message = "parquet: underlying IO error: No space left on device"
        raise pl.exceptions.ComputeError(message)

    monkeypatch.setattr(write_raw, "book_steps", full)
    tokens = ["generate", "sample", "-o", str(tmp_path), "--hours", "0.4"]
    assert run_tokens([*tokens, "--quiet"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "sample: No space left on device; check" in said
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("tokens", "told"),
    [
        (["--seed", "-1"], "--seed: -1: expected a whole number of 0 to"),
        (["--seed", str(2**63)], "expected a whole number of 0 to 9223372036854775807"),
        (["--days", "0"], "--days: 0: expected a whole number of 1 to 731"),
        (["--days", "732"], "--days: 732: expected a whole number of 1 to 731"),
        (["--hours", "nan"], "--hours nan: expected hours, above 0"),
        (["--hours", "-1"], "--hours -1.0: expected hours, above 0"),
        (["--interval", "nan"], "--interval nan: expected 0, or seconds of 0.1"),
        (["--interval", "-1"], "--interval -1.0: expected 0, or seconds of 0.1"),
        (["--interval", "1e-9"], "--interval 1e-09: expected 0, or seconds"),
        (["--traces", "-1"], "--traces -1: expected 0 to 16 ranks"),
        (["--traces", "17"], "--traces 17: expected 0 to 16 ranks"),
        (["--trace", __file__], "--trace: there are no traces to make of it"),
        (
            ["--traces", "1", "--trace", __file__],
            "test_generating.py: no trace with events; name a trace",
        ),
        (["--traces", "1", "--trace", "/nowhere"], "No such file or directory"),
    ],
)
def test_options_that_cannot_be_met_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tokens: list[str], told: str
) -> None:
    folder = tmp_path / "made"
    assert run_tokens(["generate", "sample", "-o", str(folder), *tokens]) == 1
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1
    assert not folder.exists()


def test_what_a_lake_keeps_needs_a_lake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = ["generate", "sample", "-o", str(tmp_path / "made"), "--keep-raw", "3d"]
    assert run_tokens(tokens) == 2
    assert "give --into, too; see gpuledger generate --help" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("tokens", "told"),
    [
        (["-o", ""], "Invalid value for -o: expected the name of a folder"),
        (["-o", "made", "--into", ""], "for --into: expected the name of a folder"),
        ([], "--output: expected a folder for what is made; or give --print"),
        (["-o", "made", "--lake", "other"], "--lake: nothing is read of a lake"),
        (
            ["-o", "made", "--into", "lake", "--format", "csv"],
            "--format: a lake is filled from Parquet alone; leave it out",
        ),
        (
            ["-o", "made", "--print", "--hours", "3"],
            "--print writes the scenario alone; leave out --hours, --output",
        ),
    ],
)
def test_options_that_mean_nothing_together_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tokens: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_tokens(["generate", "sample", *tokens]) == MISUSED
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1
    assert not [*tmp_path.iterdir()]


def test_a_scenario_is_printed_with_all_of_its_keys_and_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_tokens(["generate", "sample", "--print", "--seed", "7"]) == 0
    text = capsys.readouterr().out
    (tmp_path / "mine.toml").write_text(text)
    assert load_scenario(str(tmp_path / "mine.toml")) == load_scenario("sample", seed=7)
    assert run_tokens(["generate", str(tmp_path / "mine.toml"), "--print"]) == 0
    assert capsys.readouterr().out == text


def test_an_endless_time_is_the_calendar() -> None:
    assert span_of(SMALL, 1e300) == span_of(SMALL, None)


def test_the_truth_is_of_the_hours_that_are_written(tmp_path: Path) -> None:
    generate(SMALL, tmp_path, Request(hours=1.5, interval_s=0), silence)
    truth = json.loads((tmp_path / "truth.json").read_text())
    until = SMALL.begun_ns + 5_400 * 10**9
    (attempt,) = truth["attempts"]
    assert attempt["end_ns"] == truth["files"]["to_ns"] == until
    accounts = truth["accounts_gpu_ns"]["run"]
    assert sum(accounts.values()) == truth["paid_gpu_ns"]
    assert truth["paid_gpu_ns"] == (until - attempt["start_ns"]) * 16


def test_hours_beyond_the_calendar_are_said_to_be_none(tmp_path: Path) -> None:
    said: list[str] = []
    generate(SMALL, tmp_path, Request("parquet", 25, interval_s=0), said.append)
    assert said[0] == (
        "--hours 25: the calendar has 24 hours, all of which are written; more come"
        " with --days"
    )


def test_faults_without_time_to_happen_are_said(tmp_path: Path) -> None:
    lemon = Fault(kind="lemon_node", host=1, from_s=9, length_s=9, severity=1_000)
    many = msgspec.structs.replace(SMALL, faults=(lemon,))
    said: list[str] = []
    generate(many, tmp_path, Request("parquet", 1, interval_s=0), said.append)
    truth = json.loads((tmp_path / "truth.json").read_text())
    left = 1_000 - len(truth["faults"])
    assert truth["faults_missed"] == {"stop": left}
    assert said[0] == (
        f"{left:,} of 1,000 faults never happen, as the run stands still for others or"
        f" is too short for them: {left:,} stop"
    )


def test_a_time_in_which_no_run_starts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="the run does not start by then"):
        generate(SMALL, tmp_path, Request(hours=0.01), silence)


def test_a_truth_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generate(SMALL, tmp_path, Request(hours=0.1, interval_s=0), silence)
    truth = (tmp_path / "truth.json").read_bytes()
    tokens = ["generate", "sample", "-o", str(tmp_path), "--hours", "0.1"]
    assert run_tokens(tokens) == 1
    assert "truth.json: the truth of another run" in capsys.readouterr().err
    assert (tmp_path / "truth.json").read_bytes() == truth


def test_a_run_without_its_truth_is_said_to_be_half_made(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "any").touch()
    with pytest.raises(SettingError, match="not made to its end"):
        generate(SMALL, tmp_path, Request(hours=0.1), silence)


def test_a_file_is_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    tokens = ["generate", "sample", "-o", str(tmp_path / "file"), "--hours", "0.1"]
    assert run_tokens(tokens) == 1
    assert "Not a directory" in capsys.readouterr().err


def test_a_folder_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "any").touch()
    (tmp_path / "truth.json").touch()
    with pytest.raises(SettingError, match="there already"):
        generate(SMALL, tmp_path, Request(hours=0.1), silence)


def test_hours_are_above_nothing(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="--hours"):
        generate(SMALL, tmp_path, Request(hours=0), silence)
