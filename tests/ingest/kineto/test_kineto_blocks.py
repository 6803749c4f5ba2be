"""Events come out whole, wherever the file is cut into blocks."""

import io
import json
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources._kineto_blocks import Blocks
from ingest.sources._kineto_losses import Losses
from ingest.sources._kineto_window import Window

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


@dataclass
class Read:
    names: list[str]
    rules: list[str]
    places: list[str]
    raws: list[str]
    repairs: int
    closed: bool
    rest: bytes


def read(text: bytes, block_bytes: int, *, in_object: bool = True) -> Read:
    """Read what follows the bracket that opens the events."""
    losses = Losses()
    window = Window(io.BytesIO(text), block_bytes)
    blocks = Blocks(window, losses, in_object=in_object)
    names = [event.name for block in blocks for event in block.events]
    while not window.ended:
        window.fill()
    return Read(
        names,
        [one.rule for one in losses.refused],
        [one.place for one in losses.refused],
        [one.raw for one in losses.refused],
        losses.repairs,
        blocks.closed,
        bytes(window.data[window.start : window.end]),
    )


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
def test_any_events_in_any_blocks(
    items: list[dict[str, object]], gap: str, inner: str, block_bytes: int, plain: bool
) -> None:
    # GIVEN events in any layout, with lists of objects and awkward strings inside
    written = [
        json.dumps(one, ensure_ascii=plain, separators=(f",{inner}", f":{inner}"))
        for one in items
    ]
    text = gap + f"{gap},{gap}".join(written) + gap + "]"
    tail = ',"deviceProperties":[{"id":0},{"id":1}]}'
    # WHEN they are read in blocks of any size
    found = read(f"{text}{tail}".encode(), block_bytes)
    # THEN each is there once, in order, and nothing needed a repair
    assert found.names == [one["name"] for one in items]
    assert (found.rules, found.repairs, found.closed) == ([], 0, True)
    assert found.rest == tail.encode()


@settings(deadline=None)
@given(st.integers(1, 20), st.integers(0, 600), st.integers(16, 200))
def test_a_truncated_file_keeps_its_whole_events(
    count: int, cut: int, block_bytes: int
) -> None:
    text = events(count)[:cut]
    found = read(text, block_bytes)
    whole = text.count(b"}")
    assert found.names == [str(one) for one in range(whole)]
    assert found.rules == ["truncated"]
    assert not found.closed


@settings(deadline=None)
@given(st.binary(max_size=300), st.integers(8, 100))
def test_any_bytes_end(garbage: bytes, block_bytes: int) -> None:
    found = read(events(3) + b"," + garbage, block_bytes)
    assert found.names[:2] == ["0", "1"]


@settings(deadline=None)
@given(
    st.integers(0, 400),
    st.binary(min_size=1, max_size=3),
    st.integers(16, 500),
)
def test_damage_costs_only_what_it_touches(
    at: int, damage: bytes, block_bytes: int
) -> None:
    # GIVEN 20 events of 29 or 30 bytes, and up to 3 bytes of garbage over them
    text = bytearray(events(20) + b"]}")
    text[at : at + len(damage)] = damage
    # WHEN they are read
    found = read(bytes(text), block_bytes)
    # THEN at most the two records it touches, and the one behind, are not as they were
    lost = {str(one) for one in range(20)} - set(found.names)
    assert len(lost) <= 3


@pytest.mark.parametrize("block_bytes", [16, 40, 64, 5_000])
@pytest.mark.parametrize(
    ("bad", "name"),
    [
        (
            rb'{"ph":"X","name":"torch\cuda\__init__.py","ts":7}',
            r"torch\cuda\__init__.py",
        ),
        (rb'{"ph":"X","name":"\udead","ts":7}', "\ufffd"),
        (b'{"ph":"X","name":"b\xff","ts":7}', "b\ufffd"),
        (b'{"ph":"X","name":"b\nc\x01","ts":7}', "b c "),
        (b'{"ph":"X","name":"L("_x", "I")","ts":7}', 'L("_x", "I")'),
        (b'{"ph":"X","ts":NaN,"name":"c"}', "c"),
        (b'{"ph":"X","x":[-Infinity, N/A],"name":"c"}', "c"),
        (b'{"ph":"X","x":1,"name":"NaN,}",}', "NaN,}"),
        (rb'{"ph":"X","args":{"l":[{"name":1},{"name":2}]},"name":"a\c"}', r"a\c"),
    ],
)
def test_what_profilers_break_is_mended(
    bad: bytes, name: str, block_bytes: int
) -> None:
    middle = read(events(3) + b"," + bad + b"," + events(2) + b"]}", block_bytes)
    last = read(events(3) + b"," + bad + b'], "x": 1}', block_bytes)
    assert middle.names == ["0", "1", "2", name, "0", "1"]
    assert last.names == ["0", "1", "2", name]
    assert (middle.repairs, last.repairs) == (1, 1)
    assert (middle.rules, last.rules) == ([], [])
    assert middle.closed
    assert last.closed


@pytest.mark.parametrize("block_bytes", [16, 64, 5_000])
@pytest.mark.parametrize("bad", [b'{"ph":"X","name":"d,"ts":1}', b'{"ph":X:}', b"{}}"])
def test_what_stays_broken_is_refused_with_its_place(
    bad: bytes, block_bytes: int
) -> None:
    found = read(events(3) + b"," + bad + b"," + events(2) + b"]}", block_bytes)
    assert found.names == ["0", "1", "2", "0", "1"]
    assert found.rules == ["malformed"]
    assert found.places == [f"byte {len(events(3)) + 1}"]
    assert found.raws == [bad.decode()]
    assert found.closed


def test_a_comma_too_many_is_one_repair() -> None:
    found = read(events(2) + b" ,\n ]}", 64)
    assert (found.names, found.repairs, found.closed) == (["0", "1"], 1, True)


def test_nesting_without_end_is_refused() -> None:
    deep = b'{"ph":"X","name":"d","args":' + b"[" * 3_000 + b"]" * 3_000 + b"}"
    found = read(events(2) + b"," + deep + b"," + events(2) + b"]}", 64)
    assert found.names == ["0", "1", "0", "1"]
    assert found.rules == ["malformed"]


def test_items_that_are_no_events_count_as_records() -> None:
    found = read(events(1) + b',1,null,"x",[],{"ph":"X","name":7}]}', 1_000)
    assert found.names == ["0", "", "", "", "", ""]
    assert found.rules == []


def test_a_list_may_lack_its_end() -> None:
    # Source: the JSON Array Format of Chrome's traces, in which `]` is optional.
    assert read(events(3), 64, in_object=False).rules == []
    assert read(events(3)[:-4], 64, in_object=False).rules == ["truncated"]


def test_a_record_without_end_does_not_take_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ingest.sources._kineto_blocks.RECORD_BYTES", 10_000)
    endless = b'{"ph":"X","name":"' + b"x" * 100_000 + b'"}'
    found = read(events(2) + b"," + endless + b"," + events(2) + b"]}", 1_000)
    assert found.names == ["0", "1", "0", "1"]
    assert set(found.rules) <= {"record_too_long", "malformed"}
    assert "record_too_long" in found.rules
