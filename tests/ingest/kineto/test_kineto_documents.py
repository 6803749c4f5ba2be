"""Ranks, heads and ends of traces, and how they are recognized."""

from collections.abc import Callable
from typing import Any

import pytest

from ingest.errors import UnreadableFileError
from ingest.sources import Head
from ingest.sources.kineto import SOURCE, recognizes

pytestmark = pytest.mark.thorough

ReadTrace = Callable[..., Any]

#: A base that Kineto makes: a multiple of 7,889,238 s. [ns]
BASE_NS = 1_767_189_312_000_000_000


@pytest.mark.parametrize(
    ("told", "name", "rank"),
    [
        ({"rank": 5}, "rank3.json", 5),
        ({"rank": "5"}, "trace.json", 5),
        ({"rank": -1}, "rank3.json", 3),
        ({"backend": "nccl"}, "worker3_step_12.1694.pt.trace.json", 3),
        (None, "rank-0.Apr_03_18_51_38.1102.pt.trace.json", 0),
        (None, "mtia_rank_12.json", 12),
        (None, "RANK0.json", 0),
        ("broken", "frank3.json", None),
        (None, "host_1234.json", None),
    ],
)
@pytest.mark.parametrize("at_end", [False, True])
def test_rank_is_told_or_named(  # noqa: PLR0917 - a table of cases
    read_trace: ReadTrace,
    write: Any,
    told: object,
    name: str,
    rank: int,
    at_end: bool,
) -> None:
    events = {"traceEvents": [write.kernel(5, 1), write.step(1, 0, 9)]}
    facts = {} if told is None else {"distributedInfo": told}
    rows = read_trace(events | facts if at_end else facts | events, name=name)
    assert rows.kernels["rank"].to_list() == [rank]
    assert rows.steps["rank"].to_list() == [rank]


@pytest.mark.parametrize(
    "trace",
    [
        b'{"schemaVersion": 1, "deviceProperties": [{"id": 0}]}',
        b'{"schemaVersion": 1, "traceEvents": null}',
        b'{"schemaVersion": 1, "traceEvents": []}',
        b"[]",
        b'{"traceEvents": [{"ph": "M", "name": "process_name"}]}',
    ],
)
def test_a_trace_without_work_is_sound(read_trace: ReadTrace, trace: bytes) -> None:
    rows = read_trace(trace)
    assert rows.kernels.is_empty()
    assert rows.refused == []


@pytest.mark.parametrize("trace", [b"", b"  ", b"kernel", b'"traceEvents"', b"\x00"])
def test_what_is_no_json_cannot_be_read(read_trace: ReadTrace, trace: bytes) -> None:
    with pytest.raises(UnreadableFileError, match=r"trace\.json: byte 0: expected"):
        read_trace(trace)


@pytest.mark.parametrize(
    ("trace", "rule", "kernels"),
    [
        (b'{"schemaVersion": 1, "deviceProp', "truncated", 0),
        (b'{"traceEvents": [%b', "truncated", 1),
        (b'{"traceEvents": [%b], "traceName": "x', "truncated", 1),
        (b'{"traceEvents": [%b]} {"traceEvents": []}', "trailing_data", 1),
        (b'{"traceEvents": [%b], "x": }', "malformed", 1),
        (b'{"x": }', "malformed", 0),
    ],
)
def test_a_broken_end_is_refused_once(
    read_trace: ReadTrace, trace: bytes, rule: str, kernels: int
) -> None:
    one = b'{"cat":"kernel","pid":0,"ts":1,"dur":1,"args":{"stream":7}}'
    rows = read_trace(trace.replace(b"%b", one))
    assert rows.rules == [rule]
    assert len(rows.kernels) == kernels
    assert rows.refused[0].place.startswith("byte ")


ONE = b'{"cat":"kernel","pid":0,"ts":1,"dur":1,"args":{"stream":7,"x":"y"}}'


@pytest.mark.parametrize(
    ("trace", "rules"),
    [
        (b'{"traceEvents": [%b], "traceName": "x"}', []),
        (b'{"traceEvents": [%b]', ["truncated"]),
        (b'{"traceEvents": [%b', ["truncated"]),
        (b'{"traceEvents": [%b]} {}', ["trailing_data"]),
        (b"[%b]", []),
        (b"[%b", []),
    ],
)
@pytest.mark.parametrize("tail", [b"\0", b"\n" + b"\0" * 2_000_000 + b"\n"])
def test_nul_bytes_at_the_end_are_a_repair(
    read_trace: ReadTrace, trace: bytes, rules: list[str], tail: bytes
) -> None:
    rows = read_trace(trace.replace(b"%b", ONE) + tail)
    assert (rows.rules, rows.repairs, len(rows.kernels)) == (rules, 1, 1)


@pytest.mark.parametrize(
    ("old", "new", "repairs"),
    [
        (b'"y"', b'"\xff"', 1),
        (b'"y"', b'"\xff \xff"', 1),
        (b'"stream"', b'"stream\xff"', 1),
        (b'"x":"y"', b'"x":"\xff"},"name":"\xff","b":{', 1),
        (b'"y"', '"\ufffd"'.encode(), 0),
    ],
)
def test_bytes_that_are_no_text_are_counted_once_a_record(
    read_trace: ReadTrace, old: bytes, new: bytes, repairs: int
) -> None:
    events = b",".join([ONE, ONE.replace(old, new), ONE])
    rows = read_trace(b'{"traceEvents": [' + events + b"]}")
    assert (rows.rules, rows.repairs, len(rows.kernels)) == ([], repairs, 3)


@pytest.mark.parametrize("at", [b'"before"', b'"after"'])
def test_bytes_that_are_no_text_around_the_events(
    read_trace: ReadTrace, at: bytes
) -> None:
    trace = b'{"a": "before", "traceEvents": [' + ONE + b'], "b": "after"}'
    rows = read_trace(trace.replace(at, b'"\xff"'))
    assert (rows.rules, rows.repairs, len(rows.kernels)) == ([], 1, 1)


def test_facts_are_found_in_a_broken_end(read_trace: ReadTrace, write: Any) -> None:
    trace = (
        b'{"distributedInfo": {"rank": 4}, "x": }, "traceEvents": ['
        b'{"cat":"kernel","pid":0,"ts":1,"dur":1}],'
        b' "baseTimeNanoseconds": 1767189312000000000, "traceName": "cut o'
    )
    rows = read_trace(trace).kernels
    assert rows.select("rank", "start_ns").rows() == [(4, BASE_NS + 1_000)]


def test_a_head_is_mended(read_trace: ReadTrace) -> None:
    rows = read_trace(
        b'\xef\xbb\xbf{"deviceProperties": [{"name": "A100", "numSms": NaN}],'
        b' "distributedInfo": {"rank": 2},'
        b' "traceEvents": [{"cat":"kernel","pid":0,"ts":1,"dur":1}]}'
    )
    assert rows.kernels["rank"].to_list() == [2]
    assert rows.repairs == 1


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"schemaVersion":1,"traceEvents":[', True),
        (b'\xef\xbb\xbf\n {"traceEvents": [', True),
        (b'{"schemaVersion": 1, "deviceProperties": [', True),
        (b'{"distributedInfo": {"rank": 0}', True),
        (b'{"metadata": {"x": "' + b"y" * 65_536, True),
        (b'{"metadata": {"x": "y"}}', False),
        (b'[{"ph": "X", "cat": "kernel", "name": "a"}]', True),
        (b'[\n {"name": "a", "cat": "cpu_op", "ph": "X"}', True),
        (b'[{"name": "iteration begin", "ph": "i", "ts": 0}]', False),
        (b'{"status": "success", "data": {}}', False),
        (b"[1, 2]", False),
        (b"timestamp, name", False),
        (b"", False),
    ],
)
def test_recognizes_by_content(data: bytes, expected: bool) -> None:
    assert recognizes(Head("whatever.txt", data[:65_536])) is expected


def test_the_source_says_what_changes_its_rows() -> None:
    assert SOURCE.options == {"run_id", "name"}
