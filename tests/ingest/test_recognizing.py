"""Recognizing: any bytes are answered, and no two sources claim one format."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import files
from ingest.sources import SOURCES, Head
from tests.examples import examples
from tests.mutation.mutants import mutants

#: Words that readers look for, and some that parsers stumble over.
WORDS = (
    *("JobID", "State", "rank", "step", "timestamp", "gpu", "data", "time"),
    *("a", "0", "-1.5e9", "null", "traceEvents", "message", "start", "cause"),
)

#: Sources of which the first is the more particular one, and is tried first.
ORDERED = {
    ("dcgm-exporter", "prometheus-text"),
    ("rocprof", "kineto"),
    ("checkpoint-table", "step-table"),
}

SAMPLES = sorted(
    path
    for path in (Path(__file__).parents[2] / "sample_traces" / "formats").rglob("*")
    if path.is_file()
)


def claims(head: Head) -> list[str]:
    return [source.name for source in SOURCES if source.recognizes(head)]


@settings(max_examples=examples(200))
@given(st.binary(max_size=400), st.binary(max_size=100))
def test_any_bytes_are_answered(data: bytes, tail: bytes) -> None:
    claims(Head("any", data, (), tail))


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.sampled_from([*'{}[]",:\r\n\t;|<> \x1e\0\ufeff', *WORDS]),
        max_size=40,
    )
)
def test_any_scrap_of_text_is_answered(words: list[str]) -> None:
    claims(Head("any", "".join(words).encode()))


@pytest.mark.thorough
@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_one_source_claims_a_sample(path: Path) -> None:
    head = files.head_of(path)
    found = claims(head)
    assert len(found) == 1 or tuple(found) in ORDERED
    for _, damaged in mutants(path.read_bytes(), path.name, 40):
        claims(Head(path.name, damaged[:65_536]))
