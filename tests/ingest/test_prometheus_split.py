"""Samples are split in bulk as patterns split them."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import prometheus_text
from ingest.sources._lines import Block, blocks
from ingest.sources._prometheus import lines as lines_
from ingest.sources._prometheus.split import split
from ingest.sources._source import Batch
from ingest.tables import PowerSamples
from tests.examples import examples
from tests.ingest.readings import reading, rows

GPU = 'DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-1",Hostname="n1"}'


def block_of(data: bytes) -> Block:
    return next(blocks(io.BytesIO(data)))


def test_lines_with_labels_are_split_at_once() -> None:
    data = b'# HELP a b\na{b="c d"} 5 1700000000000\na{} 1e3\nplain 7\n\na{} 1 2 3\n'
    found = split(block_of(data))
    assert found is not None
    assert found.parts.rows() == [
        (2, 'a{b="c d"}', "5", "1700000000000"),
        (3, "a{}", "1e3", None),
        (6, "a{}", None, None),
    ]
    assert found.odd.to_list() == [4, 5]


@pytest.mark.parametrize("data", [b"a{b} 5\ra{b} 6\n", b"a{b}\t5\n", b"a{b}}\n"])
def test_an_odd_block_is_not_split(data: bytes) -> None:
    assert split(block_of(data)) is None


TEXT = "a { } # {} 5 1.5e3 NaN +Inf 1700000000 1700000000000 x=y , é"
WORDS = tuple(TEXT.split())
BLANKS = (" ", "  ", "\t", "\r", "\x0b", "\x1c", " # {", '"')
LINE = st.lists(st.sampled_from((GPU, *WORDS, *BLANKS)), max_size=7).map("".join)
USUAL = st.sampled_from(
    [f"{GPU} 5 1700000000000", f"{GPU} 5.5", "# TYPE a gauge", "up 1", "", f" {GPU} 7 "]
)


@given(
    lines=st.lists(LINE | USUAL, max_size=12), end=st.sampled_from(["", "\n", "\r\n"])
)
@settings(max_examples=examples(300), deadline=None)
def test_a_text_gives_the_same_at_once_and_by_patterns(
    lines: list[str], end: str
) -> None:
    data = (("\r\n" if end == "\r\n" else "\n").join(lines) + end).encode()
    at_once = told(read(data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_, "split", lambda _: None)
        assert at_once == told(read(data))


def read(data: bytes) -> list[Batch]:
    return list(prometheus_text.read(io.BytesIO(data), reading()))


def told(batches: list[Batch]) -> object:
    frames = [frame.rows(named=True) for b in batches for frame in b.rows.values()]
    return frames, [(b.refused, b.records, b.repairs) for b in batches]


def test_a_refused_line_is_told_as_it_was() -> None:
    data = f"{GPU} 5\n  {GPU}  x  \n{GPU} 5 6 7\n".encode()
    batches = read(data)
    assert [row["power_average_w"] for row in rows(batches, PowerSamples)] == [5.0]
    assert [(r.place, r.raw) for batch in batches for r in batch.refused] == [
        ("line 2", f"{GPU}  x"),
        ("line 3", f"{GPU} 5 6 7"),
    ]
