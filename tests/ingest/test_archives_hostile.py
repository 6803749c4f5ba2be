"""Archives that are cut, damaged or made to do harm: bounded, and named."""

import gzip
import io
import shutil
import struct
import tarfile
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import _archive_store, _archive_tar_header, _archive_zip, _expanded
from ingest.archives import Limits
from tests.examples import examples
from tests.ingest.archive_builder import content, opened, reasons, special, tar, zipped

pytestmark = pytest.mark.thorough

FILES = {
    f"r{rank}.log": b"".join(
        b"rank %d %x\n" % (rank, i * i * 2654435761) for i in range(300)
    )
    for rank in range(6)
}
TAR = tar(*FILES.items())
ZIP = zipped(FILES)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_cut_tar_gives_what_is_before_the_cut(tmp_path: Path, pack: Any) -> None:
    packed = pack(TAR)
    seen = []
    for cut in range(700, len(packed) - 200, len(packed) // 9):
        with opened(tmp_path, {"x.tar": packed[:cut]}) as inside:
            got = content(inside.found)
            # THEN members are whole, but the last, which says that it is not
            for name, data in got.items():
                assert FILES[name].startswith(data)
            cuts = [f for f in inside.found if content([f])[f.name] != FILES[f.name]]
            assert all(f.fault and f.fault.rule == "truncated" for f in cuts)
            assert len(cuts) <= 1
            # AND the archive says it too, but where the cut is between two members
            whole = cut % 512 == 0 and pack is bytes
            assert whole or "truncated at byte" in reasons(inside)["x.tar"]
            seen.append(sum(map(len, got.values())))
    assert seen == sorted(seen)
    assert seen[-1] > 0


def test_a_damaged_header_ends_a_tar(tmp_path: Path) -> None:
    packed = bytearray(TAR)
    second = 512 + -(-len(FILES["r0.log"]) // 512) * 512
    packed[second] ^= 0xFF
    with opened(tmp_path, {"x.tar": bytes(packed)}) as inside:
        assert list(content(inside.found)) == ["r0.log"]
        assert "damaged at byte" in reasons(inside)["x.tar"]


def test_a_cut_zip_says_that_its_end_is_missing(tmp_path: Path) -> None:
    for cut in (40, len(ZIP) // 2, len(ZIP) - 1):
        with opened(tmp_path, {"x.zip": ZIP[:cut]}) as inside:
            assert inside.found == ()
            assert "directory of a zip archive" in reasons(inside)["x.zip"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_member_of_a_zip_keeps_the_others(
    tmp_path: Path, method: int
) -> None:
    # GIVEN damage near the end of a long member, and in a short one
    long = b"".join(b"%d %x\n" % (i, i * i * 2654435761) for i in range(20_000))
    packed = bytearray(zipped({"long": long, **FILES}, method))
    packed[packed.index(b"r0.log") - 60] ^= 0xFF
    packed[packed.index(b"r3.log") - 60] ^= 0xFF
    with opened(tmp_path, {"x.zip": bytes(packed)}) as inside:
        # THEN what is before the last chunk is there, with what is wrong
        found = {file.name: file for file in inside.found}
        fault = found["long"].fault
        assert fault is not None
        assert fault.rule == "damaged"
        kept = found["long"].path.read_bytes()
        assert long.startswith(kept)
        assert len(kept) > len(long) / 2
        # AND of the short one nothing, which is said
        assert "damaged at byte 0" in reasons(inside)["r2.log"]
        assert sorted(found) == ["long", *sorted(FILES.keys() - {"r2.log"})]


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        (8, 0x1, "encrypted; decrypt it before"),
        (10, 9, "packed by method 9 of zip; pack it by deflate"),
        (10, 14, "packed by method 14 of zip; pack it by deflate"),
        (10, 93, "packed by method 93 of zip; pack it by deflate"),
    ],
)
def test_a_member_of_a_zip_that_cannot_be_read_is_named(
    tmp_path: Path, field: int, value: int, reason: str
) -> None:
    packed = bytearray(ZIP)
    entry = packed.index(b"PK\x01\x02")
    struct.pack_into("<H", packed, entry + field, value)
    with opened(tmp_path, {"x.zip": bytes(packed)}) as inside:
        assert len(inside.found) == 5
        assert reasons(inside) == {"r0.log": reason}


def test_a_sparse_file_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    sparse = bytearray(tar(("s.log", b"x" * 600), ("a.log", b"1"), pax=False))
    sparse[156:157] = tarfile.GNUTYPE_SPARSE
    sparse[482] = 1  # its header goes on in a block of its own
    sparse[148:156] = b" " * 8
    sparse[148:156] = b"%06o\0 " % sum(sparse[:512])
    packed = bytes(sparse[:512]) + bytes(512) + bytes(sparse[512:])
    with opened(tmp_path, {"x.tar": packed}) as inside:
        assert content(inside.found) == {"a.log": b"1"}
        assert "sparse" in reasons(inside)["s.log"]


def test_more_files_than_the_limit_are_not_read(tmp_path: Path) -> None:
    for name, packed in {"x.tar": TAR, "x.zip": ZIP}.items():
        folder = tmp_path / name
        folder.mkdir()
        with opened(folder, {name: packed}, limits=Limits(entries=4)) as inside:
            assert list(content(inside.found)) == [f"r{i}.log" for i in range(4)]
            assert reasons(inside) == {name: "more than 4 files; raise archive_entries"}
        with opened(folder, {name: packed}, limits=Limits(entries=6)) as inside:
            assert inside.unread == ()


def test_a_hundred_thousand_headers_take_no_room(tmp_path: Path) -> None:
    # GIVEN an archive of folders, and of more files than are read
    header = tar(special("folder/", tarfile.DIRTYPE))[:512]
    entry = tar(("f", b""))[:512]
    packed = gzip.compress(header * 100_000 + entry * 501, 1)
    # WHEN it is opened
    with opened(tmp_path, {"x.tar": packed}, limits=Limits(entries=500)) as inside:
        # THEN those that are too many are not read
        assert len(inside.found) == 500
        assert len(inside.unread) == 1
        assert len(list(inside.found[0].path.parent.iterdir())) == 500


def test_a_directory_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_archive_zip, "_MOST_DIRECTORY", 100)
    with opened(tmp_path, {"x.zip": ZIP}) as inside:
        assert inside.found == ()
        assert "directory has more than 100 bytes" in reasons(inside)["x.zip"]


def test_a_bomb_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN what unpacks to a hundred times more than it may
    for module, name in ((_expanded, "SMALL_BYTES"), (_archive_store, "SMALL_BYTES")):
        monkeypatch.setattr(module, name, 100_000)
    bomb = zipped({"bomb": bytes(40_000_000), "a.log": b"1"})
    inner = zipped({"bomb.zip": bomb, "b.log": b"2"})
    nested = gzip.compress(gzip.compress(tar(("bomb", bytes(40_000_000)))))
    with opened(tmp_path, {"x.zip": bomb, "y.zip": inner, "z.tar": nested}) as inside:
        # THEN it is named, and what is beside it is read
        assert sorted(content(inside.found)) == ["a.log", "b.log", "bomb.zip!/a.log"]
        said = reasons(inside)
        assert "no more than 1000 times as much" in said["bomb"]
        assert "no more than 1000 times as much" in said["bomb.zip!/bomb"]
        assert "expands_too_far" in said["z.tar"]


def test_entries_that_overlap_are_bounded(tmp_path: Path) -> None:
    # GIVEN a directory in which a thousand entries are one member
    made = zipped({"x.log": b"many times\n" * 900})
    directory = made.index(b"PK\x01\x02")
    end = made.index(b"PK\x05\x06")
    entries = made[directory:end] * 1_000
    tail = struct.pack(
        "<4s4H2LH", b"PK\5\6", 0, 0, 1_000, 1_000, len(entries), directory, 0
    )
    limits = Limits(unpacked_bytes=100_000)
    packed = {"x.zip": made[:directory] + entries + tail}
    with opened(tmp_path, packed, limits=limits) as inside:
        assert sum(map(len, content(inside.found).values())) <= 100_000
        assert len(inside.unread) >= 900


def test_all_that_is_unpacked_has_a_limit(tmp_path: Path) -> None:
    limits = Limits(unpacked_bytes=len(FILES["r0.log"]) * 2)
    with opened(tmp_path, {"x.tar": TAR}, limits=limits) as inside:
        assert list(content(inside.found)) == ["r0.log", "r1.log"]
        said = reasons(inside)
        assert sorted(said) == [f"r{i}.log" for i in range(2, 6)]
        assert said["r2.log"].endswith("in all; raise unpacked_gib")


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1 << 30))
    with opened(tmp_path, {"x.tar": TAR}) as inside:
        assert inside.found == ()
        assert "the disk of the lake has 0 MiB to spare" in reasons(inside)["r0.log"]


def test_extended_headers_are_bounded(tmp_path: Path) -> None:
    # GIVEN a header that says that gigabytes of attributes follow
    for kind in (tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME):
        info = special("x", kind)
        info.size = _archive_tar_header.MOST_EXTENDED + 1
        packed = gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(50_000_000))
        tracemalloc.start()
        with opened(tmp_path, {"x.tar": packed}) as inside:
            assert "damaged" in reasons(inside)["x.tar"]
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 10_000_000


@pytest.mark.parametrize(
    "records",
    [
        b"99 path=x\n",
        b"path=x\n",
        b"5 \n",
        b"0 path=x\n",
        b"-9 path=x\n",
        b"11 size=-1\n\n",
        b"12 path\n    \n",
        b"30 size=9999999999999999999999\n",
    ],
)
def test_attributes_that_are_none_are_damage(tmp_path: Path, records: bytes) -> None:
    info = special("x", tarfile.XHDTYPE)
    info.size = len(records)
    block = info.tobuf(tarfile.GNU_FORMAT)
    packed = block + records.ljust(512, b"\0") + tar(("a.log", b"1"))
    with opened(tmp_path, {"x.tar": packed}) as inside:
        assert inside.found == ()
        assert "damaged" in reasons(inside)["x.tar"]


def test_times_out_of_range_are_none(tmp_path: Path) -> None:
    files = []
    for mtime in ("1e30", "nan", "-5", "inf", "9" * 40, "x"):
        info = tarfile.TarInfo(f"f{mtime[:4]}")
        info.pax_headers = {"mtime": mtime}
        files.append(info)
    with opened(tmp_path, {"x.tar": tar(*files)}) as inside:
        assert len(inside.found) == 6
        archive = (tmp_path / "in" / "x.tar").stat().st_mtime_ns
        assert {f.path.stat().st_mtime_ns for f in inside.found} <= {archive, 0}


@settings(max_examples=examples(120), deadline=None)
@given(
    packed=st.sampled_from([TAR[:6_000], ZIP, gzip.compress(TAR, mtime=0)]),
    changes=st.lists(
        st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=6)), max_size=4
    ),
    keep=st.floats(0.2, 1),
)
def test_no_damage_raises(
    tmp_path_factory: pytest.TempPathFactory,
    packed: bytes,
    changes: list[tuple[float, bytes]],
    keep: float,
) -> None:
    folder = tmp_path_factory.mktemp("noise")
    data = bytearray(packed)
    for place, noise in changes:
        at = int(place * len(data))
        data[at : at + len(noise)] = noise
    limits = Limits(entries=50, unpacked_bytes=1_000_000)
    made = bytes(data[: int(keep * len(data))])
    with opened(folder, {"x": made}, limits=limits) as inside:
        assert inside.found or inside.unread
        assert sum(f.path.stat().st_size for f in inside.found) <= 1_100_000
    assert list((folder / "lake").iterdir()) == []


def test_a_zip_in_a_cut_envelope_is_named(tmp_path: Path) -> None:
    packed = gzip.compress(ZIP, mtime=0)[:-40]
    with opened(tmp_path, {"x.zip.gz": packed}) as inside:
        assert inside.found == ()
        assert "x.zip.gz" in reasons(inside)


def test_an_empty_archive_is_named(tmp_path: Path) -> None:
    sink = io.BytesIO()
    zipfile.ZipFile(sink, "w").close()
    with opened(tmp_path, {"x.zip": sink.getvalue()}) as inside:
        assert reasons(inside) == {"x.zip": "an archive without files"}
