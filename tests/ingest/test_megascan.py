"""MegaScan traces: operations paired from begin and end, and what has no partner."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import UnreadableFileError
from ingest.sources import SOURCES, Batch, Head, megascan
from ingest.sources._megascan_events import SCHEMA, edges_of
from ingest.sources._megascan_spans import Sequences, Spans
from ingest.sources._source import HEAD_BYTES
from ingest.tables import Operations
from tests.examples import examples
from tests.ingest.readings import held, reading, records, refused, rows

REAL = "OpenSQZ_MegatronApp/data-1-pipeline-4-tensor-1-pp-aggregated-iter10.json"


def edge(
    ph: str, ts: Any, name: str = "forward", pid: Any = 0, **args: Any
) -> dict[str, Any]:
    known = {"name": name, "cname": "thread_state_running", "ph": ph, "ts": ts}
    return known | {"pid": pid, "tid": 0, "args": {"iteration": 10} | args}


def end(ts: Any, microbatch: int = 0, **told: Any) -> dict[str, Any]:
    return edge("E", ts, microbatch=microbatch, model_chunk=0, pp_rank=2, **told)


def read(*events: object) -> list[Batch]:
    return held(megascan.read(io.BytesIO(json.dumps(events).encode()), reading()))


def operations(batches: list[Batch]) -> list[tuple[Any, ...]]:
    names = ("rank", "kind", "microbatch", "sequence", "offset_ns", "duration_ns")
    return [tuple(r[name] for name in names) for r in rows(batches, Operations)]


def test_an_operation_has_what_its_end_says() -> None:
    (row,) = rows(read(edge("B", 770, pid=3), end(5188, 7, pid=3)), Operations)
    assert row == {
        "run_id": "asked",
        "trace_id": "f" * 16,
        "step": 10,
        "rank": 3,
        "dp_rank": None,
        "pp_rank": 2,
        "tp_rank": None,
        "kind": "forward",
        "microbatch": 7,
        "chunk": 0,
        "sequence": 0,
        "offset_ns": 770_000,
        "duration_ns": 4_418_000,
        "place": "event 1",
    }


#   us       0    10   20   30   40   50
#   rank 0   |-- forward --|
#                 |-- backward --|
#   rank 1        |-- forward -------|
def test_operations_of_ranks_and_kinds_overlap() -> None:
    batches = read(
        edge("B", 0),
        edge("B", 10, "backward"),
        edge("B", 10, pid=1),
        end(30),
        end(40, name="backward"),
        end(50, pid=1),
    )
    assert refused(batches) == []
    assert operations(batches) == [
        (0, "forward", 0, 0, 0, 30_000),
        (0, "backward", 0, 0, 10_000, 30_000),
        (1, "forward", 0, 0, 10_000, 40_000),
    ]


#   us   0    10   20   30   40
#        |------- outer -----|
#             |- inner -|
def test_equal_names_are_nested_like_brackets() -> None:
    batches = read(edge("B", 0), edge("B", 10), end(20, 1), end(40, 0))
    assert operations(batches) == [
        (0, "forward", 1, 0, 10_000, 10_000),
        (0, "forward", 0, 1, 0, 40_000),
    ]


def test_what_has_no_partner_is_refused() -> None:
    batches = read(end(5), edge("B", 10), edge("B", 20), end(30), end(1, pid=4))
    assert refused(batches) == [
        ("event 0", "no_begin"),
        ("event 4", "no_begin"),
        ("event 1", "no_end"),
    ]
    assert operations(batches) == [(0, "forward", 0, 0, 20_000, 10_000)]


def test_times_are_exact_whatever_their_size() -> None:
    text = (
        '[{"name":"forward","ph":"B","ts":1773114089943000.001,"pid":0,"tid":0,'
        '"args":{"iteration":1}},{"name":"forward","ph":"E",'
        '"ts":"1773114089943000.5","pid":"0","tid":0,"args":{"iteration":1}}]'
    )
    (row,) = rows(megascan.read(io.BytesIO(text.encode()), reading()), Operations)
    assert row["offset_ns"] == 1_773_114_089_943_000_001
    assert row["duration_ns"] == 499


def test_instants_and_what_is_no_event_make_no_row() -> None:
    batches = read(edge("i", 0, "iteration begin"), 5, None, "B", [edge("B", 1)])
    assert (records(batches), refused(batches)) == (5, [])
    assert rows(batches, Operations) == []


@pytest.mark.parametrize("bad", ["soon", None, [1], 1e300])
def test_a_time_that_is_none_is_left_to_the_rules(bad: Any) -> None:
    told = megascan.read(
        io.BytesIO(json.dumps([edge("B", bad), end(30)]).encode()), reading()
    )
    (row,) = rows(told, Operations)
    assert (row["offset_ns"], row["duration_ns"]) == (None, None)


def test_an_operation_may_end_in_a_later_block() -> None:
    spans, sequences = Spans(SCHEMA), Sequences()
    first = edges_of(json.dumps([edge("B", 1), edge("B", 2)]).encode(), 0)
    later = edges_of(json.dumps([end(3), end(4)]).encode(), 2)
    assert [len(frame) for frame in spans.close(first)] == [0, 0]
    ended, lost = spans.close(later)
    assert (ended["begin"].to_list(), len(lost)) == ([2_000, 1_000], 0)
    assert sequences.number(ended)["sequence"].to_list() == [0, 1]
    assert sequences.number(ended)["sequence"].to_list() == [2, 3]
    assert spans.open.is_empty()


def test_a_trace_cut_short_keeps_what_is_whole() -> None:
    text = json.dumps([edge("B", 1), end(2), edge("B", 3), end(4)])[:-30]
    batches = held(megascan.read(io.BytesIO(text.encode()), reading()))
    assert operations(batches) == [(0, "forward", 0, 0, 1_000, 1_000)]
    assert [rule for _, rule in refused(batches)] == ["truncated", "no_end"]
    assert {r.table for b in batches for r in b.refused} == {Operations}


@pytest.mark.parametrize("text", ["", "null", "ts,pid"])
def test_no_trace_at_all(text: str) -> None:
    with pytest.raises(UnreadableFileError, match="MegaScan"):
        list(megascan.read(io.BytesIO(text.encode()), reading()))


def test_only_its_own_traces_are_recognized() -> None:
    own = json.dumps([edge("B", 1), end(2)]).encode()
    assert megascan.recognizes(Head("a", own))
    assert megascan.recognizes(Head("a", b'{"traceEvents": ' + own + b"}"))
    for other in (
        own.replace(b'"name"', b'"cat": "kernel", "name"'),
        own.replace(b"iteration", b"External id"),
        own.replace(b'"ph": "B"', b'"ph": "X"').replace(b'"ph": "E"', b'"ph": "X"'),
        own[1:],
    ):
        assert not megascan.recognizes(Head("a", other))


def test_the_sample(project: Path) -> None:
    (file,) = (project / "sample_traces/formats/megascan").iterdir()
    data = file.read_bytes()
    claiming = [s.name for s in SOURCES if s.recognizes(Head("x", data))]
    assert claiming == ["megascan"]
    batches = held(megascan.read(io.BytesIO(data), reading()))
    assert refused(batches) == []
    assert len(rows(batches, Operations)) == 8
    assert {r["step"] for r in rows(batches, Operations)} == {20}


def test_a_real_pipeline_of_four_ranks(shared: Path) -> None:
    #   8 micro-batches, forward and backward, on 4 stages of 4 chunks each
    data = (shared / "data/nccl" / REAL).read_bytes()
    assert megascan.recognizes(Head("x", data[:HEAD_BYTES]))
    batches = held(megascan.read(io.BytesIO(data), reading()))
    assert refused(batches) == []
    assert records(batches) == 524
    found = rows(batches, Operations)
    assert len(found) == 8 * 2 * 4 * 4
    assert {(r["rank"], r["pp_rank"]) for r in found} == {(n, n) for n in range(4)}
    assert {r["microbatch"] for r in found} == set(range(8))
    assert {r["chunk"] for r in found} == set(range(4))
    assert {r["kind"] for r in found} == {"forward", "backward"}


SAMPLE = Path(__file__).parents[2] / "sample_traces/formats/megascan"


def test_bytes_that_are_no_text_cost_no_operation() -> None:
    text = json.dumps([edge("B", 1), end(2)]).replace('"tid": 0', '"tid": "x"')
    data = text.encode().replace(b'"x"', b'"\xff"')
    batches = held(megascan.read(io.BytesIO(data), reading()))
    assert len(rows(batches, Operations)) == 1


@given(
    at=st.integers(0, 4_000),
    fill=st.binary(max_size=20),
    cut=st.integers(1, 4_000),
)
@settings(max_examples=examples(50))
def test_a_damaged_trace_never_raises_anything_else(
    at: int, fill: bytes, cut: int
) -> None:
    (file,) = SAMPLE.iterdir()
    data = file.read_bytes()
    for damaged in (data[:at] + fill + data[at + len(fill) :], data[:cut] + fill):
        try:
            batches = list(megascan.read(io.BytesIO(damaged), reading()))
        except UnreadableFileError:
            continue
        rows(batches, Operations)
