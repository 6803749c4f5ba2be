"""Lakes of the tests."""

import shutil
from pathlib import Path

import pytest

from ingest.catalog import publish
from ingest.tables import TABLES
from tests.ingest.tiny import DAY, candidate, ingest, put


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of a lake that is still to be made."""
    return tmp_path / "lake"


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with two days of steps."""
    folder = tmp_path_factory.mktemp("made")
    lines = ["m 1 5 1", f"m 2 {DAY} 2", "m 3 7 3", "s 1 0 5 7", "?"]
    ingest(folder / "lake", [candidate(put(folder, "log", lines))])
    publish(folder / "lake", TABLES)
    return folder / "lake"


@pytest.fixture
def published(made: Path, tmp_path: Path) -> Path:
    """A copy of the lake in a folder whose name has all that may need a quote."""
    return shutil.copytree(made, tmp_path / "a 'lake' [1]* of \"mine\"")
