"""Which files are found, and what the nearest run card says of each."""

import os
from datetime import UTC
from pathlib import Path

import pytest

from ingest.discovery import Found, Options, discover
from ingest.errors import SettingError, TelemetryError
from ingest.times import parse_zone


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_toml", ".toml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def by_name(found: list[Found]) -> dict[str, Found]:
    return {file.path.name: file for file in found}


def test_folders_are_walked_without_what_is_hidden(tmp_path: Path) -> None:
    put(tmp_path, a="", b__c="", b__d__e="")
    put(tmp_path / ".git", config="")
    (tmp_path / ".hidden").write_text("")
    assert [f.path.name for f in discover([tmp_path], Options())] == ["a", "c", "e"]


def test_the_lake_is_not_its_own_input(tmp_path: Path) -> None:
    put(tmp_path, a="", lake__part="")
    found = discover([tmp_path], Options(), lake=tmp_path / "lake")
    assert [f.path.name for f in found] == ["a"]


def test_a_file_given_twice_is_found_once(tmp_path: Path) -> None:
    put(tmp_path, a="")
    found = discover([tmp_path, tmp_path / "a", tmp_path / "*"], Options())
    assert [f.path.name for f in found] == ["a"]


def test_without_a_card_the_folder_names_the_run(tmp_path: Path) -> None:
    put(tmp_path / "mine", deep__a="")
    (found,) = discover([tmp_path / "mine"], Options())
    assert (found.run_id, found.run_id_basis) == ("mine", "folder")
    assert (found.zone, found.zone_basis) == (UTC, "assumed")


def test_the_nearest_card_above_wins_over_options(tmp_path: Path) -> None:
    put(
        tmp_path,
        run_toml='run_id = "far"\nzone = "+02:00"',
        a="",
        near__run_toml='run_id = "near"\ncluster = "c"',
        near__b="",
    )
    options = Options(run_id="option", zone=parse_zone("+05:00"))
    found = by_name(discover([tmp_path / "a", tmp_path / "near" / "b"], options))
    assert (found["a"].run_id, str(found["a"].zone)) == ("far", "UTC+02:00")
    assert found["a"].zone_basis == "run_card"
    assert (found["b"].run_id, str(found["b"].zone)) == ("near", "UTC+05:00")
    assert (found["b"].zone_basis, found["b"].cluster) == ("option", "c")


def test_the_card_and_its_map_come_along(tmp_path: Path) -> None:
    put(tmp_path, run_toml='run_id = "r"\n[hosts]\nmap = "hosts.csv"', deep__a="")
    (tmp_path / "hosts.csv").write_text("rank,host,local_rank\n0,n,0\n")
    found = discover([tmp_path / "deep"], Options())
    assert sorted(by_name(found)) == ["a", "hosts.csv", "run.toml"]
    assert {file.run_id for file in found} == {"r"}


def test_one_card_for_all(tmp_path: Path) -> None:
    put(tmp_path, cards__x="run_id = 'x'", data__run_toml="run_id = 'y'", data__a="")
    found = discover([tmp_path / "data"], Options(card=tmp_path / "cards" / "x"))
    assert {file.run_id for file in found} == {"x"}


def test_two_cards_of_one_run_are_refused(tmp_path: Path) -> None:
    put(tmp_path, a__run_toml="run_id = 'r'", a__f="")
    put(tmp_path, b__run_toml="run_id = 'r'\ncluster = 'other'", b__f="")
    with pytest.raises(SettingError, match="keep one of the two"):
        discover([tmp_path], Options())


def test_nothing_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(TelemetryError, match="no such file or folder"):
        discover([tmp_path / "missing"], Options())
    (tmp_path / "a").write_text("")
    with pytest.raises(SettingError, match="give a run card that can be read"):
        discover([tmp_path / "a"], Options(card=tmp_path / "none.toml"))


def test_links_in_a_circle_are_said(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    put(tmp_path, a="")
    with pytest.raises(TelemetryError, match=r"loop: cannot be followed"):
        discover([loop], Options())
    with pytest.raises(TelemetryError, match=r"loop: cannot be followed"):
        discover([tmp_path / "a"], Options(), lake=loop)
    with pytest.raises(TelemetryError, match=r"loop: cannot be followed"):
        discover([tmp_path / "a"], Options(card=loop))


def test_what_cannot_be_read_is_found(tmp_path: Path) -> None:
    put(tmp_path, a="")
    (tmp_path / "gone").symlink_to(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    found = discover([tmp_path, tmp_path / "pipe", tmp_path / "gone"], Options())
    assert [file.path.name for file in found] == ["a", "gone", "pipe"]


def test_names_of_runs_and_clusters_can_be_stored(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"und\xff")
    put(folder, a="")
    cluster = os.fsdecode(b"c\xff")
    (found,) = discover([folder], Options(cluster=cluster))
    assert (found.run_id, found.cluster) == ("und\\xff", "c\\xff")
    (found,) = discover([folder], Options(run_id=os.fsdecode(b"\xfe")))
    assert found.run_id == "\\xfe"


def test_another_lake_is_passed_over(tmp_path: Path) -> None:
    lake = tmp_path / "inbox" / "old-lake"
    lake.mkdir(parents=True)
    for name in ("manifest.parquet", ".lock", "part.parquet"):
        (lake / name).touch()
    (tmp_path / "inbox" / "log").touch()
    found = discover([tmp_path / "inbox"], Options(), tmp_path / "lake")
    assert [one.path.name for one in found] == ["log"]
