"""`gpuledger plan`: its answers without a lake and with one, its messages."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import run_tokens

S = 10**9

CARD = """
run_id = "one"
[hardware]
gpus = 4
[training]
planned_steps = 1000
step_s = 16
[price]
usd_per_gpu_hour = 3.0
"""


@pytest.fixture
def card(tmp_path: Path) -> Path:
    path = tmp_path / "inbox" / "run.toml"
    path.parent.mkdir()
    path.write_text(CARD)
    return path


def ask(card: Path, *tokens: str) -> int:
    lake = card.parent.parent / "lake"
    return run_tokens(["plan", str(card), "--lake", str(lake), *tokens])


def rows_of(text: str) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(text)}


def test_a_card_alone_is_enough(card: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(card, "--format", "json") == 0
    said = capsys.readouterr()
    rows = rows_of(said.out)
    # 4 GPUs, 3 USD an hour, 1000 steps of 16 s
    assert rows["hour"]["usd"] == 12.0
    assert rows["run"]["usd"] == pytest.approx(4 * 16_000 / 3600 * 3)
    assert (
        rows["run"]["inputs"]
        == "gpus 4 (card hardware.gpus); run_time 16000 (this plan)"
    )
    assert rows["state_bytes"]["note"] == "not told: training.parameters"
    assert all(row["measured"] is None for row in rows.values())
    assert "3.0 USD per GPU-hour (run card)" in said.err
    assert "nothing of run 'one'" in said.err


def test_what_the_lake_has_stands_beside_it(
    card: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["step,rank,start_ns,duration_ns"]
    lines += [
        f"{step},{rank},{1_700_000_000 * S + step * 20 * S},{20 * S}"
        for step in range(3)
        for rank in range(4)
    ]
    (card.parent / "steps.csv").write_text("\n".join(lines) + "\n")
    lake = str(card.parent.parent / "lake")
    inbox = str(card.parent)
    assert run_tokens(["ingest", inbox, "--lake", lake, "--quiet"]) == 0
    capsys.readouterr()
    assert ask(card, "--format", "json") == 0
    said = capsys.readouterr()
    step = rows_of(said.out)["step_time"]
    assert (step["value"], step["measured"]) == (16.0, 20.0)
    assert step["difference_ratio"] == pytest.approx(0.25)
    assert "lines were measured, too" in said.err
    assert ask(card) == 0
    table = capsys.readouterr().out.splitlines()
    (line,) = [one for one in table if one.startswith("step_time ")]
    assert "16.0 s" in line
    assert "20.0 s" in line
    assert "+25.0 %" in line
    assert max(map(len, table)) <= 100
    assert table[0].split() == ["name", "value", "measured", "formula"]
    (formula,) = [one for one in table if one.startswith("run ")]
    assert "run_time" in formula
    assert any(one.startswith("run_time ") for one in table)


@pytest.mark.slow
def test_the_table_of_the_lake_is_the_same_plan(
    card: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = str(card.parent.parent / "lake")
    assert run_tokens(["run", str(card.parent), "--lake", lake, "--quiet"]) == 0
    query = "SELECT name, value, inputs FROM plans WHERE run_id = 'one'"
    capsys.readouterr()
    assert run_tokens(["sql", query, "--lake", lake, "--format", "json"]) == 0
    stored = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert ask(card, "--format", "json", "--quiet") == 0
    said = capsys.readouterr()
    assert said.err == ""
    told = rows_of(said.out)
    assert stored.keys() == told.keys()
    for name, row in stored.items():
        assert (row["value"], row["inputs"]) == (
            told[name]["value"],
            told[name]["inputs"],
        )


def test_csv_has_every_line(card: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(card, "--format", "csv", "--quiet") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) > 100
    assert {"section", "formula", "inputs", "unit", "usd"} <= rows[0].keys()


def test_a_default_price_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.toml"
    path.write_text("[hardware]\ngpus = 2\n")
    assert ask(path) == 0
    assert "(default)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        ("not toml", "not a run card"),
        ("[hardware]\ngpus = 0", "$.hardware.gpus"),
        ("[hardware]\ngpus = 8\n[layout]\ntp = 16", "needs 16 ranks, but"),
        ("[training]\nstep_s = inf", "$.training.step_s"),
        (f"[training]\nstep_s = 1e{'9' * 400}", "run.toml"),
    ],
)
def test_what_is_no_card_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, says: str
) -> None:
    path = tmp_path / "run.toml"
    if content is not None:
        path.write_text(content)
    assert ask(path) == 1
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert says in line


def test_a_folder_is_no_card(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(tmp_path) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "give a run card" in line


@pytest.mark.parametrize(
    "ends",
    [("1e308", "1e9", "31622400", "1e6"), ("5e-324", "1e-6", "1e-9", "5e-324")],
)
def test_absurd_numbers_give_reasons_not_infinities(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    ends: tuple[str, str, str, str],
) -> None:
    value, gbs, step_s, usd = ends
    path = tmp_path / "run.toml"
    whole = 2**63 - 1
    path.write_text(
        f"[hardware]\ngpus = {whole}\nnvlink_gbs = {gbs}\nnetwork_gbs = {gbs}\n"
        f"tdp_w = {value}\n[layout]\ndp = {whole}\n[training]\nparameters = {value}\n"
        f"step_s = {step_s}\nplanned_steps = {whole}\n"
        f"[price]\nusd_per_gpu_hour = {usd}\n"
        f"[fabric]\npairs = {whole}\npaths = {whole}\nfibre_m = {value}\n"
        f"[checkpoints]\nstore_gbs = {gbs}\ninterval_s = {step_s}\n"
    )
    for form in ("table", "json"):
        assert ask(path, "--format", form, "--quiet") == 0
        said = capsys.readouterr()
        words = said.out.lower().replace("infinite", "").split()
        assert not {"inf", "nan", "infinity", "inf;"} & set(words)
        assert said.err == ""
