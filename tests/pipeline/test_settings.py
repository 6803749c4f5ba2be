"""Settings: their order, and one line for what cannot be used."""

from decimal import Decimal
from pathlib import Path

import pytest

from ingest.errors import SettingError
from pipeline import settings


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("LAKE", "ZONE", "JOBS", "USD_PER_GPU_HOUR"):
        monkeypatch.delenv(f"GPULEDGER_{name}", raising=False)


def test_defaults() -> None:
    found = settings.load()
    assert found.lake == Path("lake")
    assert found.usd_per_gpu_hour == Decimal("2.0")
    assert "usd_per_gpu_hour" not in found.model_fields_set


def test_option_over_variable_over_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("gpuledger.toml").write_text('lake = "f"\njobs = 3\nusd_per_gpu_hour = 2.35')
    assert settings.load().lake == Path("f")
    monkeypatch.setenv("GPULEDGER_LAKE", "v")
    assert settings.load().lake == Path("v")
    found = settings.load(lake=Path("o"), jobs=None)
    assert (found.lake, found.jobs) == (Path("o"), 3)
    assert found.usd_per_gpu_hour == Decimal("2.35")
    assert "usd_per_gpu_hour" in found.model_fields_set


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("colour = 1", "colour: unknown setting"),
        ("jobs = 0", "jobs: Input should be greater than or equal to 1, found 0"),
        ("jobs = 'many'", "jobs:"),
        ("usd_per_gpu_hour = -1", "usd_per_gpu_hour:"),
        ("usd_per_gpu_hour = 1e300", "less than or equal to 1000000"),
        ("jobs = = 3", "gpuledger.toml"),
        ("thresholds = { a = 'b' }", "thresholds.a:"),
    ],
)
def test_bad_file_is_one_line(text: str, says: str) -> None:
    Path("gpuledger.toml").write_text(text)
    with pytest.raises(SettingError) as error:
        settings.load()
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_unknown_variable_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULEDGER_LAKES", "x")
    with pytest.raises(SettingError, match="GPULEDGER_LAKES: unknown setting"):
        settings.load()


def test_bad_variable_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULEDGER_JOBS", "many")
    with pytest.raises(SettingError, match="GPULEDGER_JOBS"):
        settings.load()
    monkeypatch.delenv("GPULEDGER_JOBS")
    monkeypatch.setenv("GPULEDGER_THRESHOLDS", "{")
    with pytest.raises(SettingError):
        settings.load()
