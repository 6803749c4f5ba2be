"""Raw files are expanded, hashed once, and recognized by what they hold."""

import gzip
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ingest import files
from ingest.sources import Head, Source

TEXT = b"".join(b"line %d\n" % i for i in range(20_000))


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def read(path: Path) -> bytes:
    with files.open_expanded(path) as file:
        return file.read()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("name", ["a.log", "a.log.gz"])
def test_content_is_expanded_by_its_bytes_not_by_its_name(
    tmp_path: Path, name: str
) -> None:
    assert read(put(tmp_path, name, TEXT)) == TEXT
    assert read(put(tmp_path, name, gzip.compress(TEXT))) == TEXT
    assert read(put(tmp_path, name, b"")) == b""


def test_members_follow_one_another(tmp_path: Path) -> None:
    data = gzip.compress(TEXT) + gzip.compress(b"") + gzip.compress(b"the end\n")
    path = put(tmp_path, "log", data + bytes(100))
    with files.open_expanded(path) as file:
        assert file.read() == TEXT + b"the end\n"
        assert file.fault is None
        assert not file.is_plain


@pytest.mark.parametrize("missing", [1, 8, 9, 1_000])
def test_a_cut_gzip_file_gives_what_is_there_and_says_so(
    tmp_path: Path, missing: int
) -> None:
    packed = gzip.compress(TEXT, compresslevel=1)
    path = put(tmp_path, "log.gz", packed[:-missing])
    with files.open_expanded(path) as file:
        lines = file.readlines()
        fault = file.fault
    assert b"".join(lines) == TEXT[: sum(map(len, lines))]
    assert len(lines) > 10_000
    assert fault is not None
    assert fault.rule == "truncated"
    assert fault.place == f"byte {len(packed) - missing}"


def test_a_damaged_gzip_file_says_so(tmp_path: Path) -> None:
    packed = gzip.compress(TEXT)
    for data in (packed + b"then text", packed[:-8] + bytes(8), packed[:10] + TEXT):
        with files.open_expanded(put(tmp_path, "log", data)) as file:
            assert TEXT.startswith(file.read())
            assert file.fault is not None
            assert file.fault.rule == "damaged"


def test_two_bytes_of_gzip_are_a_cut_gzip_file(tmp_path: Path) -> None:
    with files.open_expanded(put(tmp_path, "log", b"\x1f\x8b")) as file:
        assert file.read() == b""
        assert file.fault is not None


@given(data=st.binary(max_size=300), step=st.integers(1, 40))
def test_reading_in_any_steps_gives_the_same(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, step: int
) -> None:
    path = put(tmp_path_factory.mktemp("steps"), "f", gzip.compress(data))
    with files.open_expanded(path) as file:
        assert b"".join(iter(lambda: file.read(step), b"")) == data


def test_a_missing_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        files.open_expanded(tmp_path / "none")


#: How gzip, zstd, bzip2, xz and UTF-16 begin: their content is hashed, not they.
ENVELOPES = (
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"BZh",
    b"\xfd7zXZ",
    b"\xff\xfe",
    b"\xfe\xff",
)


@given(data=st.binary(max_size=200), sizes=st.lists(st.integers(0, 250)))
def test_the_beginnings_of_a_file_are_hashed_on_the_way(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, sizes: list[int]
) -> None:
    assume(not data.startswith(ENVELOPES))
    path = put(tmp_path_factory.mktemp("hash"), "f", data)
    found = files.fingerprint(path, sizes)
    smaller = sorted({size for size in sizes if 0 < size < len(data)})
    assert found.sha256 == sha256(data)
    assert found.size == len(data)
    assert found.prefixes == tuple(sha256(data[:size]) for size in smaller)


def test_beginnings_are_found_across_chunks(tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    sizes = [1, 1 << 20, (1 << 20) + 1, 2_500_000, 3_000_000, 4_000_000]
    found = files.fingerprint(put(tmp_path, "f.gz", gzip.compress(data)), sizes)
    assert found.prefixes == tuple(sha256(data[:size]) for size in sizes[:4])


def test_a_file_id_is_of_all_that_changes_rows() -> None:
    base = files.file_id("a", "steps", 1, {"zone": "UTC", "run_id": None})
    assert len(base) == 32
    assert base == files.file_id("a", "steps", 1, {"run_id": None, "zone": "UTC"})
    others = {
        files.file_id("b", "steps", 1, {"zone": "UTC", "run_id": None}),
        files.file_id("a", "power", 1, {"zone": "UTC", "run_id": None}),
        files.file_id("a", "steps", 2, {"zone": "UTC", "run_id": None}),
        files.file_id("a", "steps", 1, {"zone": "UTC", "run_id": "None"}),
        files.file_id("a", "steps", 1, {"zone": "CET", "run_id": None}),
    }
    assert len(others | {base}) == 6


def test_the_head_is_expanded_and_named_without_its_envelope(tmp_path: Path) -> None:
    head = files.head_of(put(tmp_path, "trace.json.gz", gzip.compress(TEXT)))
    assert head == Head("trace.json", TEXT[:65_536])
    assert files.head_of(put(tmp_path, "plain.gz", b"text")).name == "plain.gz"


def test_the_first_source_that_claims_a_file_reads_it() -> None:
    def source(name: str, start: bytes) -> Source:
        return Source(
            name=name,
            version=1,
            describes=name,
            tables=(),
            options=frozenset(),
            recognizes=lambda head: head.data.startswith(start),
            read=lambda _stream, _reading: iter(()),
        )

    sources = (source("narrow", b"ab"), source("wide", b"a"))
    assert [
        found.name if (found := files.recognize(Head("f", data), sources)) else None
        for data in (b"abc", b"ax", b"b")
    ] == ["narrow", "wide", None]
