"""Fixtures that every package's tests use."""

import os
from pathlib import Path

import pytest

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
