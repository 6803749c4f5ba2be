"""Bytes that are not UTF-8 and NUL bytes at the end are told, however they come."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.sources._json_whole import NotJsonError, decode_whole
from ingest.sources._utf8 import Pieces, count_broken, is_utf8

texts = st.lists(
    st.sampled_from([b"a", b" ", b"\0", "é".encode(), "😀".encode(), b"\xff", b"\xe2"])
).map(b"".join)


def told(text: bytes, size: int) -> Pieces:
    pieces = Pieces()
    for start in range(0, len(text), size):
        pieces.add(text[start : start + size])
    return pieces


@given(text=texts, size=st.integers(1, 9))
def test_pieces_tell_what_the_whole_does(text: bytes, size: int) -> None:
    pieces = told(text, size)
    assert pieces.broken() == count_broken(text)
    assert pieces.has_nul_tail == text.rstrip(b" \t\r\n").endswith(b"\0")
    assert is_utf8(text) == (count_broken(text) == 0)


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("\ufffd".encode(), 0),
        (b"\xff", 1),
        (b"\xff\xff", 2),
        ("\ufffd".encode() + b"\xff", 1),
        ("é".encode()[:1], 1),
        (b"\xe2\x82", 1),
    ],
)
def test_a_mark_that_stood_there_before_is_text(text: bytes, broken: int) -> None:
    assert count_broken(text) == broken


@pytest.mark.parametrize(
    ("text", "inside", "repairs"),
    [
        (b"{}", 0, 0),
        (b"{}\0\0", 0, 1),
        (b"{}\0\n\0 \n", 0, 1),
        (b"\xff{}", 0, 1),
        (b"{\xff}", 1, 0),
        (b"{\xff}\xff\0", 1, 2),
    ],
)
def test_repairs_around_records(text: bytes, inside: int, repairs: int) -> None:
    assert told(text, 2).repairs(inside) == repairs


@pytest.mark.parametrize(
    ("text", "value", "repairs"),
    [
        (b'{"a":"b"}', "b", 0),
        (b'\xef\xbb\xbf{"a":"b"}\r\n', "b", 0),
        (b'{"a":"b"}\n\0\0\n', "b", 1),
        (b'{"a":"\xff"}', "\ufffd", 1),
        (b'\0{"a":"\xff"}\0', "\ufffd", 2),
    ],
)
def test_a_document_is_decoded_whole(text: bytes, value: str, repairs: int) -> None:
    assert decode_whole(text, dict[str, str]) == ({"a": value}, repairs)


@pytest.mark.parametrize(
    ("text", "rule", "repairs"),
    [
        (b'{"a":', "truncated", 0),
        (b'{"a":\0\0', "truncated", 1),
        (b"\0\0", "truncated", 1),
        (b"[\xff]", "json", 1),
        (b'["a"]', "json", 0),
    ],
)
def test_what_is_no_document_says_why(text: bytes, rule: str, repairs: int) -> None:
    with pytest.raises(NotJsonError) as caught:
        decode_whole(text, dict[str, str])
    assert (caught.value.rule, caught.value.repairs) == (rule, repairs)
