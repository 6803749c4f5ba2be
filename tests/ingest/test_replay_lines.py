"""Ends of lines, whatever piece of a file they are in."""

from pathlib import Path

import numpy as np
import pytest

from ingest import _replay_lines
from ingest._replay_told import in_order


def ends_of(content: bytes) -> list[int]:
    """Ends of lines, as Python splits them."""
    lines = content.split(b"\n")
    whole = [line + b"\n" for line in lines[:-1]] + [lines[-1]] * bool(lines[-1])
    return np.cumsum([len(line) for line in whole]).tolist() if whole else []


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1_000])
@pytest.mark.parametrize(
    "content", [b"", b"a", b"a\n", b"\n\nab\n\nc", b"abcdef\ngh\n" * 5 + b"x"]
)
def test_ends_do_not_depend_on_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, piece: int
) -> None:
    monkeypatch.setattr(_replay_lines, "_PIECE", piece)
    path = tmp_path / "x"
    path.write_bytes(content)
    expected = ends_of(content)
    assert _replay_lines.count_of(path) == len(expected)
    # every line, the place before the first, and one that is not there
    asked = np.arange(len(expected) + 2)
    assert _replay_lines.ends_of(path, asked).tolist() == [0, *expected]
    some = asked[1::2]
    found = _replay_lines.ends_of(path, some).tolist()
    assert found == [expected[n - 1] for n in some if n <= len(expected)]


def test_cuts_are_ends_some_bytes_apart(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a\nbb\nccc\ndddd\ne")
    # ends are 2, 5, 9, 14 and 15
    assert list(_replay_lines.cuts_of(path, 0, 1)) == [2, 5, 9, 14, 15]
    assert list(_replay_lines.cuts_of(path, 0, 4)) == [5, 9, 14, 15]
    assert list(_replay_lines.cuts_of(path, 5, 9)) == [14, 15]
    assert list(_replay_lines.cuts_of(path, 15, 1)) == []


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([], []),
        # a little out of order: no earlier than those before
        ([1, 3, 2, 4], [1, 3, 3, 4]),
        # one far ahead holds nothing back, and comes with the next
        ([1, 2, 9_000, 3, 4], [1, 2, 3, 3, 4]),
        # one far behind is late, and brings nothing forward
        ([1, 2, -9_000, 3, 4], [1, 2, 2, 3, 4]),
        # the last may be right: nothing contradicts it
        ([1, 2, 3, 9_000], [1, 2, 3, 9_000]),
        # nor is a clock that was set once and for all
        ([1, 2, 9_000, 9_001], [1, 2, 9_000, 9_001]),
        ([1, 9_000, 2, 9_000, 3, 2, 4], [1, 2, 2, 2, 2, 2, 4]),
    ],
)
def test_a_stamp_far_ahead_puts_off_no_line(
    told: list[int], expected: list[int]
) -> None:
    hour = 3_600 * 10**9
    times = np.array(told, np.int64) * hour
    assert (in_order(times) // hour).tolist() == expected
