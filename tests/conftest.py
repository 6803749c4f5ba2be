"""Fixtures that every package's tests use."""

import os
from pathlib import Path

import hypothesis
import pytest

# the same examples every time, and no verdict on the speed of the machine
hypothesis.settings.register_profile("suite", derandomize=True, deadline=None)
hypothesis.settings.load_profile("suite")

PROJECT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def project() -> Path:
    """The project's folder."""
    return PROJECT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real files and the values that they must give."""
    folder = Path(os.environ.get("GPULEDGER_SHARED", PROJECT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no real files at {folder}; set GPULEDGER_SHARED to their folder")
    return folder
