"""Prices of a report, and where each came from."""

import re
from pathlib import Path

import pytest

from pipeline.cli import run_tokens

STEPS = "step,rank,start_ns,duration_ns\n" + "".join(
    f"{step},{rank},{1_700_000_000 * 10**9 + step * 10**12},{10**12}\n"
    for step in range(9)
    for rank in range(4)
)


def page(folder: Path, card: str, *options: str) -> str:
    """The text of a report on nine steps of four ranks: ten GPU-hours."""
    inbox = folder / "inbox"
    inbox.mkdir()
    (inbox / "steps.csv").write_text(STEPS)
    if card:
        (inbox / "run.toml").write_text(card)
    lake = str(folder / "lake")
    assert run_tokens(["run", str(inbox), "--lake", lake, "--quiet", *options]) == 0
    html = (folder / "lake" / "report.html").read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def test_without_a_card_the_price_is_a_default_and_says_so(tmp_path: Path) -> None:
    text = page(tmp_path, "")
    assert re.search(r"10(\.0+)? GPU-hours, 20(\.0+)? USD", text)
    assert "(default)" in text
    assert "zone not given" in text


@pytest.mark.thorough
def test_the_setting_is_used_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPULEDGER_USD_PER_GPU_HOUR", "3")
    text = page(tmp_path, "")
    assert re.search(r"10(\.0+)? GPU-hours, 30(\.0+)? USD", text)
    assert "(setting)" in text


@pytest.mark.thorough
def test_the_card_wins_over_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPULEDGER_USD_PER_GPU_HOUR", "3")
    text = page(tmp_path, "run_id = 'r'\n[price]\nusd_per_gpu_hour = 1.5")
    assert re.search(r"10(\.0+)? GPU-hours, 15(\.0+)? USD", text)
    assert "(run card)" in text


@pytest.mark.thorough
def test_owned_gpus_cost_their_capital(tmp_path: Path) -> None:
    card = "run_id = 'r'\n[price]\nmode = 'owned'\ncapex_usd_per_gpu_hour = 1.0"
    assert re.search(r"10(\.0+)? GPU-hours, 10(\.0+)? USD", page(tmp_path, card))


@pytest.mark.thorough
def test_an_unknown_run_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page(tmp_path, "run_id = 'r'")
    lake = str(tmp_path / "lake")
    assert run_tokens(["report", "--run-id", "q", "--lake", lake]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[-1] == "gpuledger: --run-id 'q': no such run in the lake; runs: r"
