"""Damaged copies of the samples of Slurm's formats: rows, refusals, never an error."""

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import UnreadableFileError
from ingest.sources import (
    Source,
    interruption_list,
    sacct,
    sacct_json,
    scontrol,
    sinfo,
    slurmctld,
    squeue,
    torchelastic,
)
from ingest.sources._source import Batch, Head
from tests.ingest.readings import held, reading, records, refused

pytestmark = pytest.mark.thorough

SAMPLES = Path(__file__).resolve().parents[3] / "sample_traces" / "formats"

READERS = [
    module.SOURCE
    for module in (
        interruption_list,
        sacct,
        sacct_json,
        scontrol,
        sinfo,
        slurmctld,
        squeue,
        torchelastic,
    )
]
FILES = [
    (source, path)
    for source in READERS
    for path in sorted((SAMPLES / source.name).iterdir())
]

#: Damages of each file: reading one takes some hundredths of a second.
EXAMPLES = 8

#: Bytes that mean something to one of the formats.
BYTES = st.sampled_from([*b'\0\r\n\t |#,;+*"\\{}[]()=:-T0159Z', 0xFF, 0xC3])


def read(source: Source, data: bytes) -> list[Batch]:
    try:
        return held(source.read(io.BytesIO(data), reading(name="x.log")))
    except UnreadableFileError:
        return []


def held_up(batches: list[Batch]) -> None:
    """Every refused record is a record, and says where it is and why."""
    assert records(batches) >= 0
    assert all(place and rule for place, rule in refused(batches))


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """Cut, flip, repeat or shuffle some of a file."""
    at = draw(st.integers(0, len(data)))
    to = draw(st.integers(at, min(len(data), at + 200)))
    piece = bytes(draw(st.lists(BYTES, max_size=4)))
    lines = data.split(b"\n")
    return draw(
        st.sampled_from(
            [
                data[:at],
                data[at:],
                data[:at] + piece + data[to:],
                data[:at] + data[at:to] * 2 + data[to:],
                b"\n".join(lines[::-1]),
                b"\n".join(lines + lines[1:]),
                b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n") + b"\0" * 64,
            ]
        )
    )


@pytest.mark.parametrize(
    ("source", "path"), FILES, ids=[f"{s.name}-{p.name}" for s, p in FILES]
)
@settings(max_examples=EXAMPLES)
@given(choice=st.data())
def test_a_damaged_file_makes_no_error(
    source: Source, path: Path, choice: st.DataObject
) -> None:
    data = choice.draw(damaged(path.read_bytes()))
    source.recognizes(Head(path.name, data[:65_536]))
    held_up(read(source, data))


@pytest.mark.parametrize("source", READERS, ids=[s.name for s in READERS])
@settings(max_examples=EXAMPLES)
@given(data=st.binary(max_size=200))
def test_any_bytes_make_no_error(source: Source, data: bytes) -> None:
    source.recognizes(Head("any", data))
    held_up(read(source, data))


@pytest.mark.parametrize(
    ("source", "path"), FILES, ids=[f"{s.name}-{p.name}" for s, p in FILES]
)
def test_a_sample_is_of_its_source_alone(source: Source, path: Path) -> None:
    head = Head(path.name, path.read_bytes()[:65_536])
    assert [one for one in READERS if one.recognizes(head)] == [source]
