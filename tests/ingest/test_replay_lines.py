"""Ends of lines, whatever piece of a file they are in."""

from pathlib import Path

import numpy as np
import pytest

from ingest import _replay_lines


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
