"""Envelopes open by what they hold, twice, and give all that is before a fault."""

import bz2
import codecs
import gzip
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import _expanded, files
from ingest._expanded import ExpandedFile, Fault
from ingest.sources import Head
from tests.examples import examples

#: Lines that pack to a third, so that every envelope has several blocks.
TEXT = b"".join(b"line %d %x\n" % (i, i * i * 2654435761) for i in range(40_000))

Pack = Callable[[bytes], bytes]


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return packed


def nothing(data: bytes) -> bytes:
    return data


PACKS: dict[str, Pack] = {
    "gz": lambda data: gzip.compress(data, 1),
    "bz2": lambda data: bz2.compress(data, 1),
    "xz": lambda data: lzma.compress(data, preset=0),
    "zst": zstd,
}
ALL = pytest.mark.parametrize("ending", PACKS)


def put(folder: Path, data: bytes, name: str = "f") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def opened(path: Path, size: int | None = None) -> tuple[bytes, Fault | None]:
    with ExpandedFile(path, size) as file:
        return file.read(), file.fault


@ALL
def test_an_envelope_is_known_by_its_bytes(tmp_path: Path, ending: str) -> None:
    for data in (TEXT, b"", b"x"):
        packed = put(tmp_path, PACKS[ending](data), "run.log")
        assert opened(packed) == (data, None)


@ALL
def test_the_name_loses_the_ending_of_its_envelope(tmp_path: Path, ending: str) -> None:
    packed = put(tmp_path, PACKS[ending](TEXT), f"trace.json.{ending}")
    assert files.head_of(packed) == Head("trace.json", TEXT[:65_536])
    plain = put(tmp_path, TEXT, f"plain.{ending}")
    assert files.head_of(plain).name == f"plain.{ending}"


@ALL
def test_what_is_packed_is_what_it_holds(tmp_path: Path, ending: str) -> None:
    whole = files.fingerprint(put(tmp_path, TEXT), [5, 70_000])
    packed = put(tmp_path, PACKS[ending](TEXT), "g")
    assert files.fingerprint(packed, [5, 70_000]) == whole


@ALL
def test_members_and_frames_follow_one_another(tmp_path: Path, ending: str) -> None:
    pack = PACKS[ending]
    data = pack(TEXT) + pack(b"") + pack(b"the end\n")
    assert opened(put(tmp_path, data)) == (TEXT + b"the end\n", None)


def test_skippable_frames_of_zstd_are_skipped(tmp_path: Path) -> None:
    skipped = b"\x5d\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"
    data = skipped + zstd(TEXT) + skipped + zstd(b"the end\n")
    assert opened(put(tmp_path, data)) == (TEXT + b"the end\n", None)


@ALL
def test_zeros_after_the_last_member_are_no_content(
    tmp_path: Path, ending: str
) -> None:
    content, fault = opened(put(tmp_path, PACKS[ending](TEXT) + bytes(512)))
    # zstd has no such habit, and keeps nothing of the last of its chunks
    if ending == "zst":
        assert fault is not None
        assert TEXT.startswith(content)
        assert len(TEXT) - len(content) < 16_384
    else:
        assert (content, fault) == (TEXT, None)


@ALL
def test_a_cut_envelope_gives_its_beginning_and_says_so(
    tmp_path: Path, ending: str
) -> None:
    # GIVEN an envelope that is cut anywhere
    packed = PACKS[ending](TEXT)
    cuts = [11, 100, *range(1_000, len(packed), len(packed) // 12), len(packed) - 1]
    lengths = []
    for cut in cuts:
        # WHEN it is read
        content, fault = opened(put(tmp_path, packed[:cut]))
        # THEN what is whole is there, and the place of the cut is said
        assert TEXT.startswith(content)
        assert fault is not None
        assert (fault.rule, fault.place) == ("truncated", f"byte {cut}")
        lengths.append(len(content))
    assert lengths == sorted(lengths)
    assert lengths[-1] > len(TEXT) * 0.6


@ALL
def test_a_damaged_envelope_says_so(tmp_path: Path, ending: str) -> None:
    packed = PACKS[ending](TEXT)
    content, fault = opened(put(tmp_path, packed + b"then text"))
    assert TEXT.startswith(content)
    assert fault is not None
    assert fault.rule == "damaged"
    content, fault = opened(put(tmp_path, packed[:64] + TEXT))
    assert fault is not None


@settings(max_examples=examples(60), deadline=None)
@given(
    ending=st.sampled_from(sorted(PACKS)),
    place=st.floats(0, 1),
    noise=st.binary(min_size=1, max_size=20),
    keep=st.floats(0, 1),
)
def test_no_damage_raises(
    tmp_path_factory: pytest.TempPathFactory,
    ending: str,
    place: float,
    noise: bytes,
    keep: float,
) -> None:
    packed = bytearray(PACKS[ending](TEXT[:100_000]))
    at = int(place * len(packed))
    packed[at : at + len(noise)] = noise
    path = put(
        tmp_path_factory.mktemp("noise"), bytes(packed[: int(keep * len(packed))])
    )
    opened(path)
    files.head_of(path)


@settings(max_examples=examples(60), deadline=None)
@given(
    data=st.binary(max_size=400),
    packs=st.lists(st.sampled_from(sorted(PACKS)), max_size=2),
    steps=st.lists(st.integers(1, 50), min_size=1),
    size=st.none() | st.integers(0, 400),
)
def test_reads_of_any_size_give_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    data: bytes,
    packs: list[str],
    steps: list[int],
    size: int | None,
) -> None:
    data = b"." + data  # which no envelope starts with
    packed = data
    for ending in packs:
        packed = PACKS[ending](packed)
    path = put(tmp_path_factory.mktemp("steps"), packed)
    got = b""
    with ExpandedFile(path, size) as file:
        while True:
            step = steps[len(got) % len(steps)]
            if not (some := file.read(step)):
                break
            got += some
    assert got == data[:size]


@pytest.mark.thorough
@pytest.mark.parametrize("outer", PACKS)
@pytest.mark.parametrize("inner", PACKS)
def test_an_envelope_in_an_envelope_is_opened(
    tmp_path: Path, inner: str, outer: str
) -> None:
    packed = PACKS[outer](PACKS[inner](TEXT))
    path = put(tmp_path, packed, f"x.json.{inner}.{outer}")
    assert opened(path) == (TEXT, None)
    assert files.head_of(path).name == "x.json"
    _, fault = opened(put(tmp_path, packed[:-50]))
    assert fault is not None


@pytest.mark.thorough
def test_a_third_envelope_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(zstd(lzma.compress(TEXT)))
    content, fault = opened(put(tmp_path, packed))
    assert content == b""
    assert fault is not None
    assert fault.rule == "nested"
    assert fault.hint == (
        "expected at most 2 envelopes, one in the other; expand it before"
    )


@pytest.mark.thorough
def test_a_bomb_ends_at_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_expanded, "SMALL_BYTES", 1_000_000)
    bomb = gzip.compress(gzip.compress(bytes(64_000_000)))
    with ExpandedFile(put(tmp_path, bomb)) as file:
        size = sum(map(len, iter(lambda: file.read(100_000), b"")))
        fault = file.fault
    assert size <= 1_000_000
    assert fault is not None
    assert fault.rule == "expands_too_far"
    assert "at most 1000000 bytes" in fault.expected


def test_what_packs_well_is_no_bomb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_expanded, "SMALL_BYTES", 1_000)
    steady = b"same line over and over\n" * 100_000
    assert opened(put(tmp_path, gzip.compress(steady))) == (steady, None)


def test_an_xz_stream_that_asks_for_much_memory_is_refused(tmp_path: Path) -> None:
    wants = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29, "preset": 0}]
    packed = lzma.compress(b"x", filters=wants)
    content, fault = opened(put(tmp_path, packed))
    assert content == b""
    assert fault is not None


def test_text_that_only_starts_like_bzip2_is_text(tmp_path: Path) -> None:
    for data in (b"BZh9 is how bzip2 starts\n", b"BZ", b"(\xb5/", b"P*M\x17 and so on"):
        assert opened(put(tmp_path, data)) == (data, None)


@pytest.mark.parametrize("pack", [nothing, zstd])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_text_in_utf16_is_read_as_utf8(
    tmp_path: Path, encoding: str, pack: Pack
) -> None:
    text = "time,power [W]\r\n1,250 \u00b5 \U0001f600\n" * 20_000
    bom = codecs.BOM_UTF16_LE if encoding == "utf-16-le" else codecs.BOM_UTF16_BE
    path = put(tmp_path, pack(bom + text.encode(encoding)))
    assert opened(path) == (text.encode(), None)
    assert files.head_of(path).tail == b""


def test_broken_utf16_is_bad_bytes(tmp_path: Path) -> None:
    def text(data: bytes) -> str:
        content, fault = opened(put(tmp_path, codecs.BOM_UTF16_LE + data))
        assert fault is None
        return content.decode(errors="replace")

    assert text("ab".encode("utf-16-le") + b"c") == "ab\ufffd"
    assert text("ab".encode("utf-16-le") + b"\x00\xd8") == "ab\ufffd"
    lone = text(b"a\0" + b"\x00\xd8" + b"b\0" + b"\x00\xdc" + b"c\0")
    assert lone.replace("\ufffd", "") == "abc"


@settings(max_examples=examples(40), deadline=None)
@given(text=st.text(), cut=st.integers(0, 3), at=st.integers(65_520, 65_540))
def test_utf16_is_the_same_wherever_a_chunk_ends(
    tmp_path_factory: pytest.TempPathFactory, text: str, cut: int, at: int
) -> None:
    whole = "a" * (at // 2) + "\U0001f600" * cut + text
    data = codecs.BOM_UTF16_BE + whole.encode("utf-16-be")
    path = put(tmp_path_factory.mktemp("text"), data)
    assert opened(path) == (whole.encode(), None)


@pytest.mark.parametrize("pack", [nothing, *PACKS.values()])
def test_what_came_after_the_hash_is_not_read(tmp_path: Path, pack: Pack) -> None:
    # GIVEN a log that grows after it was hashed
    path = put(tmp_path, pack(TEXT))
    print_ = files.fingerprint(path)
    with path.open("ab") as file:
        file.write(pack(b"a line that came later\n"))
    # WHEN it is read
    # THEN it is what was hashed
    assert opened(path, print_.size) == (TEXT, None)
    with ExpandedFile(path, print_.size) as lines:
        assert b"".join(lines) == TEXT
    assert opened(path, 0)[0] == b""


@pytest.mark.parametrize("pack", [nothing, *PACKS.values()])
def test_what_became_shorter_after_the_hash_is_said(tmp_path: Path, pack: Pack) -> None:
    path = put(tmp_path, pack(b"new\n"))
    content, fault = opened(path, len(TEXT))
    assert content == b"new\n"
    assert fault is not None
    assert (fault.rule, fault.place) == ("changed", "byte 4")


@ALL
def test_a_cut_is_said_within_what_was_hashed(tmp_path: Path, ending: str) -> None:
    path = put(tmp_path, PACKS[ending](TEXT)[:-1_000])
    print_ = files.fingerprint(path)
    content, fault = opened(path, print_.size)
    assert len(content) == print_.size
    assert fault is not None
    assert fault.rule == "truncated"


@ALL
def test_memory_stays_small(tmp_path: Path, ending: str) -> None:
    # the largest piece that a layer hands on is a chunk
    path = put(tmp_path, PACKS[ending](bytes(5_000_000)))
    with ExpandedFile(path) as file:
        buffer = memoryview(bytearray(4_000_000))
        assert 0 < (file.raw.readinto(buffer) or 0) <= 65_536


@ALL
def test_random_bytes_after_a_magic_are_a_fault(tmp_path: Path, ending: str) -> None:
    noise = random.Random(5).randbytes(200_000)
    content, fault = opened(put(tmp_path, PACKS[ending](TEXT)[:10] + noise))
    assert len(content) < 1_000_000
    assert fault is not None
