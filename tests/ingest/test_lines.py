"""Lines of a stream: whatever is wrong with one, the others stay as they are."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources._lines import TOO_LONG, Block, blocks
from ingest.sources._lines_csv import CELL_COUNT, cell, names_of, split

LONGEST = 50


def lines_of(data: bytes, size: int = 16, longest: int = LONGEST) -> list[Block]:
    return list(blocks(io.BytesIO(data), size=size, longest=longest))


def numbered(data: bytes, size: int = 16) -> list[tuple[int, bytes]]:
    return [line for block in lines_of(data, size) for line in block.lines()]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
def test_lines_keep_their_numbers_whatever_the_block(size: int) -> None:
    data = b"\xef\xbb\xbfone\r\n\r\ntwo \n\n\tthree"
    assert numbered(data, size) == [(1, b"one"), (3, b"two"), (5, b"three")]


def test_nul_bytes_at_the_ends_are_a_repair() -> None:
    found = lines_of(b"a\n\0\0b\0\r\nc\0d\n\0\0\0", size=1_000)
    lines = [line for block in found for line in block.lines()]
    assert lines == [(1, b"a"), (2, b"b"), (3, b"c\0d")]
    assert sum(block.repairs for block in found) == 3


def test_a_long_run_of_nul_bytes_is_short_work() -> None:
    data = b"a" + b"\0" * 3_000_000 + b"b\n"
    assert numbered(data, 10_000_000)[0][1].endswith(b"b")


def test_nul_bytes_before_a_line_may_be_longer_than_a_line() -> None:
    data = b"a\n" + b"\0" * 400 + b"b\nc\n"
    assert numbered(data) == [(1, b"a"), (2, b"b"), (3, b"c")]


def test_a_line_that_is_too_long_is_no_text() -> None:
    found = lines_of(b"a\n" + b"x" * 300 + b"\nb\n")
    rules = [row for block in found for row in block.table().rows()]
    assert [place for _, place, _ in rows_without(rules)] == ["line 1", "line 3"]
    assert [rule for _, _, rule in rules] == [None, TOO_LONG, None]


def rows_without(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [row for row in rows if row[2] is None]


@pytest.mark.parametrize(
    ("data", "cut_short"), [(b"a\nb", True), (b"a\nb\n", False), (b"a\n ", False)]
)
def test_a_last_line_without_its_end_shows(data: bytes, cut_short: bool) -> None:
    assert lines_of(data, size=100)[-1].cut_short is cut_short


TEXT = st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line))


@settings(deadline=None)
@given(TEXT, st.integers(1, 40))
def test_no_line_is_lost_or_moved(lines: list[bytes], size: int) -> None:
    data = b"\n".join(lines)
    white = b" \t\r\f\v"
    expected = {
        number: line.decode(errors="replace").encode().strip(b"\0").strip(white)
        for number, line in enumerate(
            data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1
        )
    }
    found = numbered(data, size)
    assert [number for number, _ in found] == sorted({number for number, _ in found})
    for number, line in found:
        assert line.strip(b"\0" + white) == expected[number].strip(b"\0" + white)
    lost = expected.keys() - {number for number, _ in found}
    assert all(not expected[number].strip(b"\0" + white) for number in lost)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_both_views_of_a_block_agree(data: bytes) -> None:
    for block in lines_of(data, size=100, longest=1_000):
        places = [f"line {number}" for number, _ in block.lines()]
        assert block.table()["place"].to_list() == places


def test_cells_of_lines() -> None:
    (block,) = lines_of(b'a, b ,c\n"x,1","say ""hi""",\n1,2\n1,2,3,4\n"a,b,c\n', 500)
    lines = split(block.table(), 3, quotes=True)
    assert lines["rule"].to_list() == [None, None, CELL_COUNT, CELL_COUNT, CELL_COUNT]
    texts = lines.head(2).select(cell(0).alias("0"), cell(1).alias("1"), cell(2))
    assert texts.rows() == [("a", "b", "c"), ("x,1", 'say "hi"', None)]


def test_quotes_mean_nothing_where_a_format_has_none() -> None:
    (block,) = lines_of(b'"a,b\n', 100)
    assert split(block.table(), 2, quotes=False)["rule"].to_list() == [None]


@settings(deadline=None)
@given(st.lists(st.text(st.characters(codec="ascii", min_codepoint=33)), min_size=1))
def test_a_header_gives_its_names(names: list[str]) -> None:
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    assert names_of(header) == names


def test_bytes_that_are_not_utf8_are_replaced_and_their_lines_counted() -> None:
    (block,) = lines_of(b"a\xffb\n\xc3\xa9\n\xff\xfe\n", size=1_000)
    assert [line.decode() for _, line in block.lines()] == [
        "a\ufffdb",
        "é",
        "\ufffd" * 2,
    ]
    assert block.repairs == 2
