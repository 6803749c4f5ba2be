"""The truth about made telemetry is known by its content, and nothing else is."""

import json
from pathlib import Path

import pytest

from ingest._made_truth import MADE_TRUTH
from ingest.sources import SOURCES, Head
from ingest.synthetic.cluster.cluster import cluster_of
from ingest.synthetic.cluster.scenario import load_scenario
from ingest.synthetic.cluster.truth import truth_of


def head(text: str) -> Head:
    return Head("x", text.encode()[:65_536])


def test_the_truth_about_a_cluster_is_known_however_it_is_written() -> None:
    made = {
        "files": {"from_ns": 1},
        **truth_of(cluster_of(load_scenario("sample")), []),
    }
    for text in (
        json.dumps(made),
        json.dumps(made, indent=2),
        f"\n {json.dumps(made)}",
    ):
        assert MADE_TRUTH.recognizes(head(text))
    assert not any(source.recognizes(head(json.dumps(made))) for source in SOURCES)


@pytest.mark.parametrize("name", ["truth", "pipe8-truth", "hang16-truth"])
def test_so_is_that_of_a_sample_run(project: Path, name: str) -> None:
    text = (project / "sample_traces" / f"{name}.json").read_text("utf-8")
    assert MADE_TRUTH.recognizes(head(text))


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1, "run_id": "r", "lr": 0.1},
        {"files": {"a": 1}, "format": 1},
        {"files": ["a"], "format": 1, "scenario": {}},
        {"run_id": "r", "attempts": 3},
        {"run_id": "r", "seed": 1, "ranks": 8},
        [{"seed": 1, "run_id": "r", "ranks": 8}],
    ],
)
def test_what_begins_in_another_way_is_none(other: object) -> None:
    assert not MADE_TRUTH.recognizes(head(json.dumps(other)))
