"""The sample run, put through the main job once."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipeline import querying
from pipeline.cli import run_tokens


@dataclass(frozen=True)
class Sample:
    """The sample run as it came out, and the truth that was put in."""

    code: int
    lake: Path
    truth: dict[str, Any]

    def sql(self, query: str) -> pl.DataFrame:
        """Rows of a query over the lake."""
        return querying.rows_of(self.lake, query)


@pytest.fixture(scope="session")
def sample(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """The sample run's lake."""
    lake = tmp_path_factory.mktemp("sample") / "lake"
    code = run_tokens(["demo", "--lake", str(lake), "--quiet"])
    truth = json.loads((project / "sample_traces" / "truth.json").read_text())
    return Sample(code, lake, truth)
