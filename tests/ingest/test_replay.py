"""A recorded run, released in its own time order."""

import gzip
import json
import os
from pathlib import Path

import pytest

from ingest.errors import TelemetryError
from ingest.replay import Replay
from tests.ingest.hourly import HEADER, HOUR, T0, rows


def record(folder: Path, count: int = 8) -> Path:
    folder.mkdir()
    (folder / "run.toml").write_text('run_id = "r"\n')
    (folder / "a.csv").write_text(HEADER + rows(count))
    names = HEADER.strip().split(",")
    values = [line.split(",") for line in rows(count, 1).splitlines()]
    said = [dict(zip(names, [v[0], *map(int, v[1:])], strict=True)) for v in values]
    lines = "".join(json.dumps(one) + "\n" for one in said)
    (folder / "sub").mkdir()
    (folder / "sub" / "b.jsonl").write_text(lines)
    packed = gzip.compress((HEADER + rows(4, 2)).encode(), mtime=0)
    (folder / "c.csv.gz").write_bytes(packed)
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {
        os.fsdecode(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".gpuledger")
    }


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return record(tmp_path / "run")


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    return tmp_path / "inbox"


def test_files_grow_by_the_lines_that_were_written(run: Path, inbox: Path) -> None:
    replay = Replay(run, inbox, cuts_lines=False)
    assert (replay.first_ns, replay.last_ns) == (T0 + HOUR // 2, T0 + 15 * HOUR // 2)
    # what has no time comes first
    replay.advance(T0)
    assert set(content(inbox)) == {"run.toml"}
    # a row is written when its step ends; what is packed comes with its last row
    replay.advance(T0 + 2 * HOUR)
    assert content(inbox)["a.csv"] == (HEADER + rows(2)).encode()
    assert content(inbox)["sub/b.jsonl"].count(b"\n") == 2
    assert "c.csv.gz" not in content(inbox)
    replay.advance(T0 + 4 * HOUR)
    assert content(inbox)["c.csv.gz"] == (run / "c.csv.gz").read_bytes()
    assert not replay.is_done
    replay.advance(replay.last_ns)
    assert replay.is_done
    assert content(inbox) == content(run)
    assert replay.advance(replay.last_ns + HOUR).bytes == 0
    times = [(p / "a.csv").stat().st_mtime_ns for p in (run, inbox)]
    assert times[0] == times[1]


def test_a_file_may_end_within_a_line(run: Path, inbox: Path) -> None:
    replay = Replay(run, inbox)
    whole = content(run)
    ends = set()
    for hour in range(1, 8):
        replay.advance(T0 + hour * HOUR)
        for name, data in content(inbox).items():
            assert whole[name].startswith(data)
        ends.add(content(inbox)["a.csv"][-1:])
    assert ends - {b"\n"}
    replay.advance(replay.last_ns)
    assert content(inbox) == whole


def test_a_log_that_is_rotated_ends_its_line_where_it_began(
    run: Path, inbox: Path
) -> None:
    replay = Replay(run, inbox, rotate_ns=3 * HOUR)
    for half in range(16):
        replay.advance(T0 + half * HOUR // 2)
    found = content(inbox)
    # at 3 h and 6 h; the new file has a header of its own
    assert {"a.csv", "a.csv.1", "a.csv.2"} <= set(found)
    pieces = [found[name].decode() for name in ("a.csv.2", "a.csv.1", "a.csv")]
    assert all(piece.startswith(HEADER) for piece in pieces)
    assert all(piece.endswith("\n") for piece in pieces)
    assert "".join(piece.removeprefix(HEADER) for piece in pieces) == rows(8)
    lines = [found[f"sub/b.jsonl{end}"] for end in (".2", ".1", "")]
    assert b"".join(lines) == (run / "sub" / "b.jsonl").read_bytes()


@pytest.mark.parametrize("rotate_ns", [None, 2 * HOUR])
@pytest.mark.parametrize("hours", [1, 2, 3, 5, 7])
def test_it_goes_on_where_it_was_stopped(
    run: Path, tmp_path: Path, rotate_ns: int | None, hours: int
) -> None:
    # GIVEN a replay in one go, and one that another goes on with
    whole, inbox = tmp_path / "whole", tmp_path / "inbox"
    one = Replay(run, whole, rotate_ns=rotate_ns)
    Replay(run, inbox, rotate_ns=rotate_ns).advance(T0 + hours * HOUR)
    other = Replay(run, inbox, rotate_ns=rotate_ns)
    assert other.now_ns == T0 + hours * HOUR
    for replay in (one, other):
        for hour in range(9):
            replay.advance(T0 + hour * HOUR)
    assert content(inbox) == content(whole)


def test_one_that_was_killed_goes_on_by_what_is_on_disk(run: Path, inbox: Path) -> None:
    replay = Replay(run, inbox)
    replay.advance(T0 + 2 * HOUR)
    state = (inbox / ".gpuledger-replay.json").read_bytes()
    replay.advance(T0 + 5 * HOUR)
    # the note of the last step was lost
    (inbox / ".gpuledger-replay.json").write_bytes(state)
    again = Replay(run, inbox)
    again.advance(again.last_ns)
    assert content(inbox) == content(run)


@pytest.mark.parametrize("name", [b"\xff\xfe.csv", b"a b'\n$(x).csv", b"-r.csv"])
def test_any_name_is_a_name(run: Path, inbox: Path, name: bytes) -> None:
    (run / os.fsdecode(name)).write_text(HEADER + rows(3, 5))
    replay = Replay(run, inbox, rotate_ns=2 * HOUR)
    replay.advance(T0 + HOUR)
    Replay(run, inbox, rotate_ns=2 * HOUR).advance(T0 + 9 * HOUR)
    found = content(inbox)
    parts = [found.get(os.fsdecode(name) + end, b"") for end in (".1", "")]
    lines = b"".join(parts).decode().replace(HEADER, "")
    assert lines == rows(3, 5)


def test_a_recorded_log_that_was_rotated_keeps_its_name(run: Path, inbox: Path) -> None:
    (run / "a.csv.1").write_text(HEADER + rows(2, 9))
    replay = Replay(run, inbox, rotate_ns=HOUR)
    replay.advance(replay.last_ns)
    assert content(inbox)["a.csv.1"] == (run / "a.csv.1").read_bytes()


def test_folders_that_cannot_be(run: Path, tmp_path: Path) -> None:
    for source, into in ((run, run / "in"), (run, run), (run / "sub", run)):
        with pytest.raises(TelemetryError, match="within the other"):
            Replay(source, into)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(TelemetryError, match="not empty; replay into a new folder"):
        Replay(run, tmp_path / "full")
    with pytest.raises(TelemetryError, match="no such folder"):
        Replay(tmp_path / "none", tmp_path / "in")
    (tmp_path / "timeless").mkdir()
    (tmp_path / "timeless" / "run.toml").write_text('run_id = "r"\n')
    with pytest.raises(TelemetryError, match="expected telemetry with times"):
        Replay(tmp_path / "timeless", tmp_path / "in")


def test_a_replay_of_another_run_is_not_gone_on_with(run: Path, tmp_path: Path) -> None:
    Replay(run, tmp_path / "in").advance(T0 + 2 * HOUR)
    other = tmp_path / "other"
    other.mkdir()
    (other / "z.csv").write_text(HEADER + rows(2))
    with pytest.raises(TelemetryError, match=r"a\.csv: not there, but expected"):
        Replay(other, tmp_path / "in")
