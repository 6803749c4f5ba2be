"""Sources with people's own words in their lines answer odd lines as the others do."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.sources import Batch, Source, kernel_log, sacct
from ingest.sources._lines import BLOCK_BYTES, TOO_LONG, blocks
from ingest.sources._lines_frames import line_frames
from ingest.tables import Failures, Jobs
from tests.ingest.readings import held, reading, records, refused, repairs, rows

XID = b"NVRM: Xid (PCI:0000:5D:00): 79, pid=1, name=python"
JOB = b"1|a|FAILED"
HEADER = b"JobID|JobName|State"


def batches_of(source: Source, *lines: bytes) -> list[Batch]:
    return held(source.read(io.BytesIO(b"".join(lines)), reading()))


SOURCES = pytest.mark.parametrize(
    ("source", "first", "line"),
    [(kernel_log.SOURCE, b"boot", XID), (sacct.SOURCE, HEADER, JOB)],
    ids=["kernel-log", "sacct"],
)


@pytest.mark.thorough
@SOURCES
@pytest.mark.parametrize(
    ("ends", "mended"),
    [
        ((b"", b""), 0),
        ((b"", b"\r"), 0),
        ((b"\0\0", b""), 1),
        ((b"", b"\0\0\r"), 1),
        ((b" \t", b" "), 0),
        ((b"", b"\xff"), 1),
    ],
)
def test_a_line_is_read_whatever_its_ends(
    source: Source, first: bytes, line: bytes, ends: tuple[bytes, bytes], mended: int
) -> None:
    odd = line.join(ends) + b"\n"
    batches = batches_of(source, b"\xef\xbb\xbf", first, b"\n\n", odd)
    (row,) = rows(batches, source.tables[0])
    assert row["place"] == "line 3"
    assert (refused(batches), repairs(batches)) == ([], mended)


@SOURCES
def test_a_line_that_is_too_long_is_refused(
    source: Source, first: bytes, line: bytes
) -> None:
    long = line + b"x" * (2 * BLOCK_BYTES)
    batches = batches_of(source, first, b"\n", long, b"\n", line, b"\n")
    (row,) = rows(batches, source.tables[0])
    assert row["place"] == "line 3"
    assert refused(batches) == [("line 2", TOO_LONG)]


def test_a_record_does_not_go_on_behind_a_line_that_is_too_long() -> None:
    # GIVEN a record whose second line is too long, and a third that would complete it
    long = b"y" * (2 * BLOCK_BYTES)
    batches = batches_of(sacct.SOURCE, HEADER, b"\n1|a\n", long, b"\n|FAILED\n")

    # THEN none is made of what is left
    assert rows(batches, Jobs) == []
    assert refused(batches) == [
        ("line 2", "field_count"),
        ("line 3", TOO_LONG),
        ("line 4", "field_count"),
    ]
    assert records(batches) == 3


@given(st.binary(max_size=200), st.integers(1, 40))
def test_every_line_that_is_not_blank_is_there_or_refused(
    data: bytes, size: int
) -> None:
    whole = [
        number
        for block in blocks(io.BytesIO(data), size=size, longest=50)
        for number, _ in block.lines()
    ]
    told = []
    for lines in line_frames(io.BytesIO(data), Failures, size, longest=50):
        told += [int(refusal.place.removeprefix("line ")) for refusal in lines.refused]
        told += lines.frame["number"].to_list()
    assert told == whole
