"""Fixtures that every package's tests use."""

import os
import sys
import tempfile
from pathlib import Path

import hypothesis
import pytest

from tests.examples import examples

# each worker has a core of its own: threads of its own would only wait for each other
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("POLARS_MAX_THREADS", "1")

# where nothing may be compiled beside the code, each process would compile all of it
if sys.dont_write_bytecode:
    BYTECODE = str(Path(tempfile.gettempdir()) / f"gpuledger-bytecode-{os.getuid()}")
    sys.dont_write_bytecode, sys.pycache_prefix = False, BYTECODE
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = BYTECODE

# the same examples every time, and no verdict on the speed of the machine
hypothesis.settings.register_profile(
    "suite", derandomize=True, deadline=None, max_examples=examples(100)
)
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
