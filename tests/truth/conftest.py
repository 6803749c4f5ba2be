"""The sample runs, put through the main job once."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from filelock import FileLock

from pipeline import querying
from pipeline.cli import run_tokens

#: Sample runs of the demonstration, each with the name of its truth.
TRUTHS = {"pod16": "truth", "pipe8": "pipe8-truth", "hang16": "hang16-truth"}


@dataclass(frozen=True)
class Sample:
    """The sample run as it came out, and the truth that was put in."""

    code: int
    lake: Path
    truth: dict[str, Any]

    def sql(self, query: str) -> pl.DataFrame:
        """Rows of a query over the lake."""
        return querying.rows_of(self.lake, query)


@dataclass(frozen=True)
class Demo(Sample):
    """All sample runs in one lake; `truths` by sample, `truth` that of pod16."""

    truths: dict[str, dict[str, Any]] = field(default_factory=dict)


Once = Callable[..., tuple[int, Path]]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Makes a lake by a command once, whichever worker asks for it first."""
    base = tmp_path_factory.getbasetemp()
    root = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base

    def made(name: str, *tokens: str) -> tuple[int, Path]:
        lake, done = root / name / "lake", root / name / "code"
        with FileLock(root / f"{name}.lock"):
            if not done.exists():
                code = run_tokens([*tokens, "--lake", str(lake), "--quiet"])
                done.write_text(str(code))
        return int(done.read_text()), lake

    return made


@pytest.fixture(scope="session")
def truths(project: Path) -> dict[str, dict[str, Any]]:
    """What was put into each sample run."""
    folder = project / "sample_traces"
    return {
        name: json.loads((folder / f"{truth}.json").read_text())
        for name, truth in TRUTHS.items()
    }


@pytest.fixture(scope="session")
def sample(project: Path, once: Once, truths: dict[str, dict[str, Any]]) -> Sample:
    """The lake of pod16 alone."""
    folder = project / "sample_traces" / "pod16"
    return Sample(*once("sample", "run", str(folder)), truths["pod16"])


@pytest.fixture(scope="session")
def demo(once: Once, truths: dict[str, dict[str, Any]]) -> Demo:
    """The lake of the demonstration."""
    return Demo(*once("demo", "demo"), truths["pod16"], truths)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A working folder with no settings but those that the test writes."""
    monkeypatch.chdir(tmp_path)
