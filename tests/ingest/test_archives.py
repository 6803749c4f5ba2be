"""Members of archives are files like others, and no archive leads anywhere else."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from ingest.discovery import Options
from ingest.errors import SettingError
from ingest.times import parse_zone
from tests.ingest.archive_builder import (
    MODIFIED,
    content,
    opened,
    reasons,
    special,
    tar,
    zipped,
)

FILES = {"a/x.log": b"one\n", "b.csv": b"two\n" * 40_000}
TAR = tar(*FILES.items())
ARCHIVES = {
    "x.tar": TAR,
    "gnu.tar": tar(*FILES.items(), pax=False),
    "x.tar.gz": gzip.compress(TAR),
    "x.tgz": gzip.compress(TAR),
    "x.tar.bz2": bz2.compress(TAR),
    "x.tar.xz": lzma.compress(TAR),
    "x.tar.zst": pa.compress(TAR, codec="zstd", asbytes=True),
    "x.tar.gz.xz": lzma.compress(gzip.compress(TAR)),
    "x.zip": zipped(FILES),
    "stored.zip": zipped(FILES, zipfile.ZIP_STORED),
    "bzip2.zip": zipped(FILES, zipfile.ZIP_BZIP2),
    "x.zip.gz": gzip.compress(zipped(FILES)),
    "no name": TAR,
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_members_are_files_with_a_path_that_is_shown(tmp_path: Path, name: str) -> None:
    with opened(tmp_path, {name: ARCHIVES[name]}) as inside:
        assert content(inside.found) == FILES
        assert inside.unread == ()
        shown = [file.shown for file in inside.found]
        assert shown == [f"{tmp_path}/in/{name}!/{member}" for member in FILES]
        assert [file.name for file in inside.found] == ["x.log", "b.csv"]
        assert {file.run_id for file in inside.found} == {"in"}
        # on disk there is a number, in a folder that no ingest looks into
        assert {file.path.name for file in inside.found} <= {"1", "2", "3"}
        assert {file.path.parent.parent for file in inside.found} == {tmp_path / "lake"}
    assert list((tmp_path / "lake").iterdir()) == []


def test_plain_files_stay_where_they_are(tmp_path: Path) -> None:
    with opened(tmp_path, {"plain.log": b"text\n", "x.tar": TAR}) as inside:
        assert [file.shown.rpartition("/")[2] for file in inside.found] == [
            "plain.log",
            "x.log",
            "b.csv",
        ]
        assert inside.found[0].path == tmp_path / "in" / "plain.log"


def test_the_folder_is_gone_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), opened(tmp_path, {"x.tar": TAR}):
        raise KeyboardInterrupt
    assert list((tmp_path / "lake").iterdir()) == []


def test_members_have_the_time_they_have_in_the_archive(tmp_path: Path) -> None:
    exact = tarfile.TarInfo("exact")
    exact.pax_headers = {"mtime": f"{MODIFIED}.123456789"}
    files = {"x.tar": tar(("a", b"x"), exact), "x.zip": zipped({"z": b"x"})}
    options = Options(zone=parse_zone("+01:00"))
    with opened(tmp_path, files, options) as inside:
        times = {file.name: file.path.stat().st_mtime_ns for file in inside.found}
    assert times["a"] == MODIFIED * 10**9
    assert times["exact"] == MODIFIED * 10**9 + 123_456_789
    noon = datetime(2025, 3, 4, 11, tzinfo=UTC)
    assert times["z"] == int(noon.timestamp()) * 10**9


def test_a_member_without_a_time_has_that_of_its_archive(tmp_path: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(zipfile.ZipInfo("z"), b"x")  # 1980-01-01, where zip starts
    (tmp_path / "in").mkdir()
    data = {"x.zip": archive.getvalue(), "x.tar": tar(special("a", tarfile.REGTYPE))}
    for name, packed in data.items():
        (tmp_path / "in" / name).write_bytes(packed)
        os.utime(tmp_path / "in" / name, (MODIFIED, MODIFIED))
    with opened(tmp_path) as inside:
        times = {file.path.stat().st_mtime for file in inside.found}
    assert times == {MODIFIED}


def test_the_times_of_unix_in_a_zip_archive_are_used(tmp_path: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        info = zipfile.ZipInfo("z", (2020, 1, 1, 0, 0, 0))
        info.extra = b"UT\x05\x00\x01" + MODIFIED.to_bytes(4, "little")
        file.writestr(info, b"x")
    with opened(tmp_path, {"x.zip": archive.getvalue()}) as inside:
        assert inside.found[0].path.stat().st_mtime == MODIFIED


def test_the_nearest_card_in_an_archive_applies(tmp_path: Path) -> None:
    # GIVEN a card beside an archive, and two in it
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "run.toml").write_text("run_id = 'outer'\nzone = '+02:00'")
    packed = tar(
        ("top.log", b"x"),
        ("r1/run.toml", b"run_id = 'one'\nyear = 2025"),
        ("r1/deep/er/a.log", b"x"),
        ("r1/deep/inner.zip", zipped({"i.log": b"x", "r/run.toml": b"cluster = 'c'"})),
        ("r2/run.toml", b"run_id = 'two'\ncluster = 'two'"),
        ("r2/b.log", b"x"),
    )
    with opened(tmp_path, {"x.tar": packed}) as inside:
        said = {f.shown.rpartition("!/")[2]: f for f in inside.found}
    # THEN each member has what the nearest one says
    assert {name: file.run_id for name, file in said.items() if ".log" in name} == {
        "top.log": "outer",
        "r1/deep/er/a.log": "one",
        "i.log": "one",
        "r2/b.log": "two",
    }
    assert str(said["top.log"].zone) == "UTC+02:00"
    assert (str(said["r2/b.log"].zone), said["r2/b.log"].cluster) == ("UTC", "two")
    assert (said["i.log"].year, said["r/run.toml"].year) == (2025, None)


def test_one_card_for_all_is_for_archives_too(tmp_path: Path) -> None:
    card = tmp_path / "card.toml"
    card.write_text("run_id = 'all'")
    packed = tar(("run.toml", b"run_id = 'one'"), ("a.log", b"x"))
    with opened(tmp_path, {"x.tar": packed}, Options(card=card)) as inside:
        assert {file.run_id for file in inside.found} == {"all"}


@pytest.mark.parametrize(
    ("card", "message"),
    [
        (b"run_id = 1", r"in/x.tar!/r/run.toml: not a run card"),
        (b"hosts.map = '../../etc/hosts'", "expected a file in the archive"),
        (b"run_id = 'r'\ncluster = 'other'", "describes run 'r' otherwise than"),
    ],
)
def test_a_card_that_cannot_be_used_is_said(
    tmp_path: Path, card: bytes, message: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "run.toml").write_text("run_id = 'r'")
    packed = {"x.tar": tar(("r/run.toml", card))}
    with pytest.raises(SettingError, match=message), opened(tmp_path, packed):
        pass
    assert list((tmp_path / "lake").iterdir()) == []


def test_a_card_and_its_map_are_in_the_archive(tmp_path: Path) -> None:
    packed = tar(("r/run.toml", b"hosts.map = 'm/h.csv'"), ("r/m/h.csv", b"x"))
    with opened(tmp_path, {"x.tar": packed}) as inside:
        assert len(inside.found) == 2


def test_the_nearest_mapping_in_an_archive_applies(tmp_path: Path) -> None:
    # GIVEN mappings that were given, beside an archive, and in it
    def card(name: str) -> str:
        columns = "columns = {step = 'n', loss = 'l'}\n"
        return f"name = '{name}'\n[[map]]\ntable = 'training_metrics'\n{columns}"

    (tmp_path / "in").mkdir()
    (tmp_path / "given.toml").write_text(card("given"))
    (tmp_path / "in" / "mapping.toml").write_text(card("beside"))
    packed = tar(
        ("top.csv", b"x"),
        ("r/mapping.toml", card("inside").encode()),
        ("r/deep/a.csv", b"x"),
        ("other/mapping.toml", b"for = 'something else'"),
    )
    options = Options(mappings=(tmp_path / "given.toml",))
    with opened(tmp_path, {"x.tar": packed}, options) as inside:
        said = {f.name: [one.name for one in f.mappings] for f in inside.found}
    # THEN each member has what was given and the nearest, and one that is used is no
    # file itself
    assert said == {
        "top.csv": ["given", "beside"],
        "a.csv": ["given", "inside"],
        "mapping.toml": ["given", "beside"],
    }


def test_archives_are_opened_in_archives_once(tmp_path: Path) -> None:
    # GIVEN archives in one another
    deepest = zipped({"three.log": b"3"})
    inner = gzip.compress(tar(("two.log", b"2"), ("deepest.zip", deepest)))
    packed = zipped({"one.log.gz": gzip.compress(b"1"), "n1/inner.tgz": inner})
    with opened(tmp_path, {"x.zip": packed}) as inside:
        # THEN two are opened, and the third is named
        assert sorted(content(inside.found)) == ["n1/inner.tgz!/two.log", "one.log.gz"]
        assert reasons(inside) == {
            "n1/inner.tgz!/deepest.zip": "more than 2 archives, one in the other;"
            " unpack it before"
        }
        kept = {file.path for file in inside.found}
        assert set(kept.pop().parent.iterdir()) >= kept


def test_hidden_members_and_those_that_are_no_files_are_passed_over(
    tmp_path: Path,
) -> None:
    packed = tar(
        special("link", tarfile.SYMTYPE, "/etc/passwd"),
        special("hard", tarfile.LNKTYPE, "../../etc/passwd"),
        special("null", tarfile.CHRTYPE),
        special("sda", tarfile.BLKTYPE),
        special("pipe", tarfile.FIFOTYPE),
        special("folder", tarfile.DIRTYPE),
        (".DS_Store", b"x"),
        ("a/._x.log", b"x"),
        ("__MACOSX/a/x.log", b"x"),
        (".git/config", b"x"),
        ("./a/./b.log", b"kept"),
    )
    link = zipped({"link": b"/etc/passwd"}, mode=0o120777)
    with opened(tmp_path, {"x.tar": packed, "l.zip": link}) as inside:
        assert content(inside.found) == {"a/b.log": b"kept"}
        assert reasons(inside) == {"l.zip": "an archive without files"}


def test_no_name_leads_anywhere(tmp_path: Path) -> None:
    names = ["../../etc/passwd", "/etc/passwd", "a/../../../b", "C:\\x\\y", "n\nl"]
    for number, packed in enumerate(
        (tar(*((n, n.encode()) for n in names)), zipped({n: n.encode() for n in names}))
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        with opened(folder, {"x": packed}) as inside:
            got = content(inside.found)
            assert sorted(got.values()) == sorted(n.encode() for n in names)
            assert {"../../etc/passwd", "etc/passwd", "a/../../../b"} <= set(got)
            assert all(f.path.parent.parent == folder / "lake" for f in inside.found)
        assert sorted(p.name for p in tmp_path.rglob("*")) == sorted(
            [*map(str, range(number + 1)), *["in", "lake", "x"] * (number + 1)]
        )


def test_names_that_are_no_text_and_very_long_ones_are_shown(tmp_path: Path) -> None:
    long = "d/" * 200 + "x" * 3_000
    packed = tar((os.fsdecode(b"n\xff"), b"1"), (long, b"2"))
    gnu = tar((long, b"3"), pax=False)
    with opened(tmp_path, {"x.tar": packed, "y.tar": gnu}) as inside:
        names = [file.shown.partition("!/")[2] for file in inside.found]
    assert names == [long, "n\\xff", long]


def test_a_name_that_comes_twice_is_two_files(tmp_path: Path) -> None:
    packed = tar(("a.log", b"first"), ("a.log", b"second"))
    with opened(tmp_path, {"x.tar": packed}) as inside:
        assert content(inside.found) == {"a.log": b"first", "a.log (2)": b"second"}


def test_archives_that_follow_one_another_are_one(tmp_path: Path) -> None:
    packed = tar(("a", b"1")) + tar(("b", b"2")) + bytes(5_120) + b"tape" * 200
    with opened(tmp_path, {"x.tar": packed}) as inside:
        assert content(inside.found) == {"a": b"1", "b": b"2"}
        assert inside.unread == ()


def test_what_only_looks_like_an_archive_is_a_file(tmp_path: Path) -> None:
    texts = {"a": b"PK is how zip starts\n", "b": b"x" * 512, "c": bytes(1_024)}
    preamble = b"#!/bin/sh\nexit\n" + zipped(FILES)
    with opened(tmp_path, {**texts, "d.zip": preamble}) as inside:
        assert [file.name for file in inside.found] == ["a", "b", "c", "d.zip"]
        assert inside.unread == ()
