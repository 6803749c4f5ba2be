"""Laws that hold for every power tool's output, whatever its bytes are."""

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import UnreadableFileError
from ingest.sources import (
    SOURCES,
    Batch,
    Head,
    Source,
    amd_smi,
    codecarbon,
    dcgmi_dmon,
    ipmitool,
    nvidia_smi,
    nvidia_smi_dmon,
    nvidia_smi_stats,
    nvidia_smi_text,
    nvidia_smi_xml,
    redfish,
    rocm_smi,
    zeus,
)
from ingest.tables import PowerSamples
from tests.ingest.readings import held, reading, records, refused

pytestmark = pytest.mark.thorough

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces" / "formats"

TOOLS: list[Source] = [
    module.SOURCE
    for module in (
        amd_smi,
        codecarbon,
        dcgmi_dmon,
        ipmitool,
        nvidia_smi,
        nvidia_smi_dmon,
        nvidia_smi_stats,
        nvidia_smi_text,
        nvidia_smi_xml,
        redfish,
        rocm_smi,
        zeus,
    )
]

SAMPLE_OF = {
    source: path
    for source in TOOLS
    for path in sorted((SAMPLES / source.name).iterdir())[:1]
}


def read(source: Source, data: bytes, **told: object) -> list[Batch]:
    try:
        return held(source.read(io.BytesIO(data), reading(**told)))
    except UnreadableFileError:
        return []


def count(batches: list[Batch]) -> int:
    return sum(frame.height for batch in batches for frame in batch.rows.values())


by_tool = pytest.mark.parametrize("source", TOOLS, ids=lambda source: source.name)


@by_tool
def test_a_sample_is_claimed_by_its_source_alone(source: Source) -> None:
    for path in (SAMPLES / source.name).iterdir():
        head = Head(path.name, path.read_bytes()[:65_536])
        claims = [one.name for one in SOURCES if one.recognizes(head)]
        assert claims[0] == source.name
        assert {one.name for one in TOOLS if one.recognizes(head)} == {source.name}


@by_tool
def test_the_host_is_in_the_name_of_the_file(source: Source) -> None:
    for path in (SAMPLES / source.name).iterdir():
        batches = read(source, path.read_bytes(), name=path.name)
        assert refused(batches) == []
        hosts = {
            host
            for batch in batches
            for frame in batch.rows.values()
            for host in frame["host"]
        }
        assert all(host.startswith("node-") for host in hosts)


@by_tool
@settings(deadline=None, max_examples=12)
@given(data=st.data())
def test_damage_never_stops_a_reader(source: Source, data: st.DataObject) -> None:
    content = bytearray(SAMPLE_OF[source].read_bytes())
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 40))] = data.draw(
            st.binary(max_size=6)
        )
    cut = bytes(content[: data.draw(st.integers(0, len(content)))])
    batches = read(source, cut)
    # a window and a GPU with its module make several rows of one record
    assert records(batches) >= len(refused(batches))


@by_tool
@settings(deadline=None, max_examples=8)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_read(source: Source, data: bytes) -> None:
    first = SAMPLE_OF[source].read_bytes().partition(b"\n")[0]
    for content in (data, first + b"\n" + data):
        batches = read(source, content)
        assert records(batches) >= len(refused(batches))


@by_tool
@pytest.mark.parametrize("data", [b"", b"\n", b"\0\0\0", b"\xef\xbb\xbf", b"[" * 9_999])
def test_files_of_nothing(source: Source, data: bytes) -> None:
    assert count(read(source, data)) == 0


@by_tool
def test_line_ends_and_a_mark_change_nothing(source: Source) -> None:
    data = SAMPLE_OF[source].read_bytes()
    crlf = b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")
    assert count(read(source, crlf)) == count(read(source, data)) > 0
    assert source.recognizes(Head("any", crlf[:65_536]))


@by_tool
def test_bad_bytes_are_counted(source: Source) -> None:
    data = SAMPLE_OF[source].read_bytes() + b"\xff\xfe\n"
    assert sum(batch.repairs for batch in read(source, data)) == 1


def test_levels_are_told_apart() -> None:
    levels = {}
    for source in TOOLS:
        batches = read(source, SAMPLE_OF[source].read_bytes())
        levels[source.name] = {
            level
            for batch in batches
            if PowerSamples in batch.rows
            for level in batch.rows[PowerSamples]["level"]
        }
    assert levels.pop("ipmitool") == levels.pop("redfish") == {"node_ac"}
    assert levels.pop("nvidia-smi-xml") == {"gpu_board", "module"}
    assert levels.pop("zeus") == levels.pop("codecarbon") == set()
    assert set.union(*levels.values()) == {"gpu_board"}


@by_tool
@pytest.mark.parametrize(
    "unit", [b"\n", b" ", b"{}", b"<?xml", b"IPMI timestamp:  ", b"="]
)
def test_long_files_of_one_thing_are_quick(source: Source, unit: bytes) -> None:
    """What is quadratic in a line or in the head would take minutes here."""
    data = unit * (200_000 // len(unit))
    assert not source.recognizes(Head("any", data[:65_536]))
    assert count(read(source, data + b"\n")) == 0
