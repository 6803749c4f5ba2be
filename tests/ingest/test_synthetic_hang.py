"""The hanging sample run: one seed, one set of dumps; small; one rank to blame."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from ingest.synthetic.hang16 import hang16, write_hang16

#: Seed of the committed sample.
SEED = 16


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hang16")
    write_hang16(folder, SEED)
    return folder


def loaded(folder: Path) -> dict[str, Any]:
    """Dumps by name; how a pickle is packed may differ between versions of Python."""
    paths = sorted((folder / "hang16").glob("nccl_trace_rank_*"))
    return {path.name: pickle.loads(path.read_bytes()) for path in paths}


def test_the_committed_sample_is_what_its_seed_gives(
    written: Path, project: Path
) -> None:
    committed = project / "sample_traces"
    for name in ("hang16/run.toml", "hang16-truth.json"):
        assert (written / name).read_bytes() == (committed / name).read_bytes()
    assert loaded(written) == loaded(committed)


def test_it_is_small_and_each_rank_left_a_dump(written: Path) -> None:
    truth = json.loads((written / "hang16-truth.json").read_text())
    assert len(loaded(written)) == truth["dumps"] == truth["ranks"] == 16
    sizes = [path.stat().st_size for path in (written / "hang16").iterdir()]
    assert sum(sizes) < 60_000


def test_the_rank_to_blame_asked_for_least(written: Path) -> None:
    (blamed,) = hang16(SEED).blamed
    asked = {
        name: len(dump["entries"]) for name, dump in sorted(loaded(written).items())
    }
    assert min(asked, key=lambda name: asked[name]) == f"nccl_trace_rank_{blamed}"
