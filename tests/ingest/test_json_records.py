"""Objects of a JSON text: lines, lists, documents one after the other, damaged ones."""

import io
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import _json_split
from ingest.sources._json_records import json_records
from ingest.tables import Failures
from tests.examples import examples

OBJECTS: list[dict[str, Any]] = [
    {"a": 1, "text": 'brackets ]}{[ and a quote " and a \\'},
    {"items": 7, "deep": [{"items": [{"x": []}]}, []]},
    {"a": "ü\u2028"},
]


def read(data: bytes, *lists: str) -> tuple[list[Any], list[tuple[str, str]], int]:
    found, refused, repairs = [], [], 0
    for records in json_records(io.BytesIO(data), Failures, frozenset(lists)):
        found += [record.value for record in records.found]
        refused += [(one.place, one.rule) for one in records.refused]
        repairs += records.repairs
    return found, refused, repairs


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        (b'{"items": [{"a": "\xff"}, {"a": "\xff"}]}', 2),
        (b'{"items": [{"a": 1},\xff {"a": 2}]}', 1),
        (b'{"x": "\xff", "items": [{"a": 1}], "y": "\xff"}', 1),
        (b'{"items": [{"a": "\xff"}], "y": "\xff"}\0\0', 3),
        (b'{"items": [{"a": 1}]}\n\0\0\n', 1),
    ],
)
@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_repairs_in_a_document(
    text: bytes, repairs: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_json_split, "CHUNK_BYTES", chunk)
    _, refused, counted = read(text, "items")
    assert (refused, counted) == ([], repairs)


def lines() -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in OBJECTS)


SHAPES = {
    "lines": lines(),
    "marks": b"".join(b"\x1e" + line + b"\n" for line in lines().splitlines()),
    "bom": b"\xef\xbb\xbf" + lines(),
    "crlf": lines().replace(b"\n", b"\r\n"),
    "nul tail": lines() + bytes(5000),
    "list": json.dumps(OBJECTS).encode(),
    "pretty list": json.dumps(OBJECTS, indent=2).encode(),
    "pretty objects": b"\n".join(json.dumps(o, indent=4).encode() for o in OBJECTS),
    "lists": b"".join(json.dumps([o]).encode() for o in OBJECTS),
}


@pytest.mark.parametrize("data", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_every_shape_gives_the_same_objects(
    data: bytes, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_json_split, "CHUNK_BYTES", chunk)
    found, refused, _ = read(data)
    assert (found, refused) == (OBJECTS, [])


@pytest.mark.parametrize("chunk", [1, 5, 1 << 20])
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("times", [1, 2])
def test_objects_around_a_list(
    chunk: int, indent: int | None, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_json_split, "CHUNK_BYTES", chunk)
    around = {"kind": "List", "meta": {"items": [{"no": 1}]}, "items": OBJECTS, "z": []}
    data = json.dumps(around, indent=indent).encode() * times
    assert read(data, "items") == (OBJECTS * times, [], 0)
    # without the key the document itself is the record
    assert read(data)[0] == [around] * times


def test_a_long_list_on_one_line_is_read_in_pieces() -> None:
    many = [{"n": n, "pad": "x" * 100} for n in range(5_000)]
    found, refused, _ = read(json.dumps({"items": many}).encode(), "items")
    assert (len(found), refused) == (5_000, [])


def test_damage_costs_what_is_damaged() -> None:
    assert read(b'{"a": 1}\n{"a": NaN}\n{"b": 2}\n[1]\n') == (
        [{"a": 1}, {"b": 2}],
        [("line 2", "json"), ("line 4", "type")],
        0,
    )
    assert read(b'[{"a": 1}, {"a": NaN}, {"b": 2},]')[1] == [("entry 2", "json")]
    assert read(b'{"a": 1}\n{"b": 2}\n{"c": ')[1] == [("line 3", "truncated_line")]
    found, refused, _ = read(b'{"items": [{"a": 1}, {"b": "', "items")
    assert (found, refused) == ([{"a": 1}], [("entry 2", "truncated")])
    found, refused, _ = read(b'{"items": [{"a": 1}', "items")
    assert (found, refused) == ([{"a": 1}], [("entry 2", "truncated")])
    assert read(b'{"a": "\xff"}\n{"b": 1}\n')[2] == 1
    assert read(b'[{"a": "\xff"}]')[2] == 1
    assert read(b"[" * 100_000)[1] == [("entry 1", "truncated")]
    assert read(b'{"a":' * 3_000 + b"1" + b"}" * 3_000)[1] == [("entry 1", "json")]
    assert read(b"") == ([], [], 0)


def test_an_endless_object_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_json_split, "CHUNK_BYTES", 100)
    monkeypatch.setattr(_json_split, "OBJECT_BYTES", 1_000)
    data = b'[{"a": 1}, {"b": "' + b"x" * 200_000
    found, refused, _ = read(data)
    assert (found, refused) == ([{"a": 1}], [("entry 2", "record_too_long")])


@settings(max_examples=examples(60))
@given(st.binary(max_size=300))
def test_any_bytes_are_answered(data: bytes) -> None:
    read(data, "items")


@settings(max_examples=examples(60))
@given(st.sampled_from(sorted(SHAPES)), st.data())
def test_damaged_shapes_are_answered(shape: str, data: st.DataObject) -> None:
    whole = SHAPES[shape]
    at = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255))
    read(whole[:at] + bytes([byte]) + whole[at + 1 :], "items")
    found, _, _ = read(whole[:at], "items")
    assert len(found) <= len(OBJECTS)


@pytest.mark.parametrize("junk", [b"AAA", b",,,", b"]", b'"x" ', b"{}A{}"])
@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_what_else_stands_around_documents_is_a_repair(
    junk: bytes, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_json_split, "CHUNK_BYTES", chunk)
    whole = json.dumps(OBJECTS, indent=1).encode()
    assert read(whole + b"\n \0\n")[2] == 1
    assert read(whole + b"\n")[2] == 0
    found, _, repairs = read(whole + junk)
    assert found[:3] == OBJECTS
    assert repairs == 1


def test_a_string_without_an_end_is_scanned_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_json_split, "CHUNK_BYTES", 4096)
    text = b"[{}" + b'"' + b"x\\\\" * 2_000_000
    begin = time.process_time()
    assert read(text)[0] == [{}]
    assert time.process_time() - begin < 5
