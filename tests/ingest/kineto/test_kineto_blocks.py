"""Events come out whole, wherever the file is cut into blocks."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ReadBlocks = Callable[..., Any]

#: Characters that make a string look like the end of a record.
AWKWARD = st.text(st.sampled_from('a},{[]": \\\n\té\ud7ff'), max_size=12)

NAMES = st.one_of(AWKWARD, st.just("aten::add"))

EVENTS = st.fixed_dictionaries(
    {"ph": st.just("X"), "name": NAMES},
    optional={
        "ts": st.integers(0, 10**9),
        "args": st.dictionaries(
            AWKWARD,
            st.one_of(
                AWKWARD,
                st.lists(st.dictionaries(AWKWARD, st.integers(), max_size=2)),
            ),
            max_size=3,
        ),
    },
)

GAPS = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t"])


def events(count: int) -> bytes:
    return b",".join(b'{"ph":"X","name":"%d","ts":1}' % one for one in range(count))


@settings(deadline=None)
@given(
    st.lists(EVENTS, max_size=12),
    GAPS,
    GAPS,
    st.integers(8, 400),
    st.booleans(),
)
def test_any_events_in_any_blocks(  # noqa: PLR0917 - drawn together
    read_blocks: ReadBlocks,
    items: list[dict[str, object]],
    gap: str,
    inner: str,
    block_bytes: int,
    plain: bool,
) -> None:
    # GIVEN events in any layout, with lists of objects and awkward strings inside
    written = [
        json.dumps(one, ensure_ascii=plain, separators=(f",{inner}", f":{inner}"))
        for one in items
    ]
    text = gap + f"{gap},{gap}".join(written) + gap + "]"
    tail = ',"deviceProperties":[{"id":0},{"id":1}]}'
    # WHEN they are read in blocks of any size
    found = read_blocks(f"{text}{tail}".encode(), block_bytes)
    # THEN each is there once, in order, and nothing needed a repair
    assert found.names == [one["name"] for one in items]
    assert (found.rules, found.repairs, found.closed) == ([], 0, True)
    assert found.rest == tail.encode()


@settings(deadline=None)
@given(st.integers(1, 20), st.integers(0, 600), st.integers(16, 200))
def test_a_truncated_file_keeps_its_whole_events(
    read_blocks: ReadBlocks, count: int, cut: int, block_bytes: int
) -> None:
    text = events(count)[:cut]
    found = read_blocks(text, block_bytes)
    whole = text.count(b"}")
    assert found.names == [str(one) for one in range(whole)]
    assert found.rules == ["truncated"]
    assert not found.closed


@settings(deadline=None)
@given(st.binary(max_size=300), st.integers(8, 100))
def test_any_bytes_end(
    read_blocks: ReadBlocks, garbage: bytes, block_bytes: int
) -> None:
    found = read_blocks(events(3) + b"," + garbage, block_bytes)
    assert found.names[:2] == ["0", "1"]


@settings(deadline=None)
@given(
    st.integers(0, 400),
    st.binary(min_size=1, max_size=3),
    st.integers(16, 500),
)
def test_damage_costs_only_what_it_touches(
    read_blocks: ReadBlocks, at: int, damage: bytes, block_bytes: int
) -> None:
    # GIVEN 20 events of 29 or 30 bytes, and up to 3 bytes of garbage over them
    text = bytearray(events(20) + b"]}")
    text[at : at + len(damage)] = damage
    # WHEN they are read
    found = read_blocks(bytes(text), block_bytes)
    # THEN at most the two records it touches, and the one behind, are not as they were
    lost = {str(one) for one in range(20)} - set(found.names)
    assert len(lost) <= 3


def test_items_that_are_no_events_count_as_records(read_blocks: ReadBlocks) -> None:
    found = read_blocks(events(1) + b',1,null,"x",[],{"ph":"X","name":7}]}', 1_000)
    assert found.names == ["0", "", "", "", "", ""]
    assert found.rules == []


def test_a_list_may_lack_its_end(read_blocks: ReadBlocks) -> None:
    # Source: the JSON Array Format of Chrome's traces, in which `]` is optional.
    assert read_blocks(events(3), 64, in_object=False).rules == []
    assert read_blocks(events(3)[:-4], 64, in_object=False).rules == ["truncated"]


def test_a_record_without_end_does_not_take_the_memory(
    read_blocks: ReadBlocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.sources._kineto.blocks.RECORD_BYTES", 10_000)
    endless = b'{"ph":"X","name":"' + b"x" * 100_000 + b'"}'
    found = read_blocks(events(2) + b"," + endless + b"," + events(2) + b"]}", 1_000)
    assert found.names == ["0", "1", "0", "1"]
    assert set(found.rules) <= {"record_too_long", "malformed"}
    assert "record_too_long" in found.rules
