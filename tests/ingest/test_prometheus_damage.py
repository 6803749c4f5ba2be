"""Answers of the HTTP API that are cut, damaged or longer than memory."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import UnreadableFileError
from ingest.sources import prometheus_api
from ingest.sources._prometheus import documents
from tests.examples import examples
from tests.ingest.prometheus_answers import (
    AT,
    labels,
    matrix,
    of,
    power,
    vector,
)
from tests.ingest.readings import records, refused, repairs

pytestmark = pytest.mark.thorough

SAMPLE = (
    Path(__file__).resolve().parents[2]
    / "sample_traces/formats/prometheus-api/range.json"
)


def test_of_a_cut_answer_the_whole_series_are_read() -> None:
    text = vector(*((labels(gpu=f"GPU-{n}"), "5") for n in range(3)))
    for at in range(text.index('"GPU-1"'), len(text) - 3, 7):
        batches = of(text[:at])
        told = refused(batches)
        assert 1 <= len(power(batches)) <= 3
        assert len(told) == 1
        assert told[0][1] == "truncated"
        assert len(power(batches)) < 3 or told[0][0] == "end"


def test_bytes_that_are_no_text_are_replaced() -> None:
    text = vector((labels(pod="x-y"), "5")).encode().replace(b"x-y", b"x\xffy")
    batches = of(b"\xef\xbb\xbf" + text)
    assert len(power(batches)) == 1
    assert (repairs(batches), refused(batches)) == (1, [])


def test_answers_are_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    text = matrix(
        *(
            (labels(gpu=f"GPU-{n}"), [(f"177311{k:04d}.5", f"{k}") for k in range(20)])
            for n in range(9)
        )
    )
    whole = power(of(text))
    assert len(whole) == 180
    monkeypatch.setattr(prometheus_api, "_LOT", 50)
    for size in (7, 64, 300, 1_000):
        monkeypatch.setattr(documents, "_BLOCK_BYTES", size)
        assert power(of(text)) == whole


def test_a_series_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_BLOCK_BYTES", 1_000)
    monkeypatch.setattr(documents, "_SERIES_BYTES", 70_000)
    long = '{"metric":{"a":"b"},"values":[' + "[1,2]," * 40_000
    good = f'{{"metric":{json.dumps(labels())},"value":[{AT},"5"]}}'
    batches = of(f"[{long}{good}]")
    assert refused(batches) == [("entry 1", "json")]
    assert len(power(batches)) == 1


@settings(deadline=None, max_examples=examples(50))
@given(st.binary(max_size=60), st.integers(0, 1_400))
def test_a_damaged_answer_keeps_the_law(noise: bytes, at: int) -> None:
    sample = SAMPLE.read_bytes()
    try:
        batches = of(sample[:at] + noise + sample[at + len(noise) :])
    except UnreadableFileError:
        return
    made = sum(frame.height for batch in batches for frame in batch.rows.values())
    assert made + len(refused(batches)) <= records(batches) + 1


@settings(deadline=None, max_examples=examples(50))
@given(st.text(st.sampled_from('{}[]":,metricvalus0159.e+- \\'), max_size=120))
def test_no_json_stops_the_reader(text: str) -> None:
    of('[{"metric":{"__name__":"up"},"values":' + text)
