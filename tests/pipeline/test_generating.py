"""`gpuledger generate`: files that are taken whole, and the truth beside them."""

import json
from pathlib import Path

import pytest

from ingest.errors import SettingError
from ingest.synthetic.cluster import write_raw
from ingest.synthetic.cluster.scenario import Fleet, Layout, Scenario
from pipeline.cli import run_tokens
from pipeline.commands._shared import INTERRUPTED
from pipeline.generating import Format, Request, generate
from pipeline.logs import silence
from pipeline.querying import rows_of

SMALL = Scenario(run_id="small", fleet=Fleet(hosts=2), layout=Layout(tp=8, dp=2))


@pytest.mark.parametrize("form", ["raw", "parquet"])
def test_what_is_generated_is_ingested_whole(tmp_path: Path, form: Format) -> None:
    written = generate(SMALL, tmp_path, Request(form, hours=0.5, traces=1), silence)
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert truth["fleet"]["ranks"] == 16
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


def test_one_that_was_stopped_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(write_raw, "book_steps", stopped)
    tokens = ["generate", "sample", "-o", str(tmp_path), "--format", "lake"]
    assert run_tokens([*tokens, "--hours", "0.4"]) == INTERRUPTED
    assert not [*(tmp_path / "sample").glob(".power-*")]
    monkeypatch.undo()
    capsys.readouterr()
    assert run_tokens([*tokens, "--hours", "0.4"]) == 1
    assert "not made to its end" in capsys.readouterr().err


def test_a_folder_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "any").touch()
    (tmp_path / "truth.json").touch()
    with pytest.raises(SettingError, match="there already"):
        generate(SMALL, tmp_path, Request(hours=0.1), silence)


def test_hours_are_above_nothing(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="--hours"):
        generate(SMALL, tmp_path, Request(hours=0), silence)
