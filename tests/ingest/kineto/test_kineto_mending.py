"""Records that profilers break are mended, or refused with their place."""

from collections.abc import Callable
from typing import Any

import pytest

ReadBlocks = Callable[..., Any]


def events(count: int) -> bytes:
    return b",".join(b'{"ph":"X","name":"%d","ts":1}' % one for one in range(count))


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
    read_blocks: ReadBlocks, bad: bytes, name: str, block_bytes: int
) -> None:
    middle = read_blocks(events(3) + b"," + bad + b"," + events(2) + b"]}", block_bytes)
    last = read_blocks(events(3) + b"," + bad + b'], "x": 1}', block_bytes)
    assert middle.names == ["0", "1", "2", name, "0", "1"]
    assert last.names == ["0", "1", "2", name]
    assert (middle.repairs, last.repairs) == (1, 1)
    assert (middle.rules, last.rules) == ([], [])
    assert middle.closed
    assert last.closed


@pytest.mark.parametrize("block_bytes", [16, 64, 5_000])
@pytest.mark.parametrize(
    "bad",
    [
        b'{"ph":"X","name":"d,"ts":1}',
        b'{"ph":"X","cat":"kernel",,"name":"d"}',
        b'{"ph":X:}',
        b"{}}",
    ],
)
def test_what_stays_broken_is_refused_with_its_place(
    read_blocks: ReadBlocks, bad: bytes, block_bytes: int
) -> None:
    found = read_blocks(events(3) + b"," + bad + b"," + events(2) + b"]}", block_bytes)
    assert found.names == ["0", "1", "2", "0", "1"]
    assert found.rules == ["malformed"]
    assert [one.place for one in found.refused] == [f"byte {len(events(3)) + 1}"]
    assert [one.raw for one in found.refused] == [bad.decode()]
    assert found.closed


def test_a_comma_too_many_is_one_repair(read_blocks: ReadBlocks) -> None:
    found = read_blocks(events(2) + b" ,\n ]}", 64)
    assert (found.names, found.repairs, found.closed) == (["0", "1"], 1, True)


def test_records_may_begin_with_any_key(read_blocks: ReadBlocks) -> None:
    # GIVEN more records than are searched for a familiar one
    one = b'{"cname":"grey","ph":"X","name":"a"}'
    bad = b'{"cname":"grey","ph":X,"name":"b"}'
    count = (3 << 20) // len(one)
    found = read_blocks(b",".join([one, bad, *[one] * count]) + b"]}", 1 << 19)
    assert len(found.names) == count + 1
    assert found.rules == ["malformed"]


def test_nesting_without_end_is_refused(read_blocks: ReadBlocks) -> None:
    deep = b'{"ph":"X","name":"d","args":' + b"[" * 3_000 + b"]" * 3_000 + b"}"
    found = read_blocks(events(2) + b"," + deep + b"," + events(2) + b"]}", 64)
    assert found.names == ["0", "1", "0", "1"]
    assert found.rules == ["malformed"]
