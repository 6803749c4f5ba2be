"""A replay that was killed anywhere, or whose inbox or recording was changed."""

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest import _replay_copy, _replay_track
from ingest._replay_state import STATE
from ingest.errors import TelemetryError
from ingest.replay import Replay
from tests.ingest.hourly import HEADER, HOUR, T0, rows


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "a.csv").write_text(HEADER + rows(8))
    (folder / "b.csv").write_text(HEADER + rows(8, 1))
    (folder / "run.toml").write_text('run_id = "r"\n')
    return folder


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    return tmp_path / "inbox"


def content(folder: Path) -> dict[str, bytes]:
    files = sorted(folder.glob("[!.]*"))
    return {path.name: path.read_bytes() for path in files}


class Killed(BaseException):
    """What no handler expects."""


def killed_at(monkeypatch: pytest.MonkeyPatch, act: int) -> None:
    """Let the process die at one of its acts on the inbox: a piece, or a rename."""
    acts = iter(range(1, 1_000))
    append, rename = _replay_copy.append, Path.rename

    def appended(*told: object) -> Iterator[int]:
        for place in append(*told):  # type: ignore[arg-type]
            if next(acts) == act:
                raise Killed
            yield place

    def renamed(path: Path, target: Path) -> Path:
        if next(acts) == act:
            raise Killed
        new = rename(path, target)
        if next(acts) == act:
            raise Killed
        return new

    monkeypatch.setattr(_replay_track, "append", appended)
    monkeypatch.setattr(Path, "rename", renamed)


@pytest.mark.parametrize("act", range(1, 24))
def test_wherever_it_is_killed_the_next_ends_alike(
    run: Path, inbox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: int
) -> None:
    # GIVEN a replay with two rotations in one step, which nothing disturbs
    whole = Replay(run, tmp_path / "whole", rotate_ns=3 * HOUR)
    whole.advance(T0 + 8 * HOUR)
    # WHEN another is killed in its first step, as by a full disk
    with monkeypatch.context() as patch:
        killed_at(patch, act)
        try:
            Replay(run, inbox, rotate_ns=3 * HOUR).advance(T0 + 8 * HOUR)
        except Killed:
            pass
        else:
            pytest.fail("there are fewer acts than that")
    # THEN the next one ends with the same files, no byte twice
    again = Replay(run, inbox, rotate_ns=3 * HOUR)
    again.advance(T0 + 8 * HOUR)
    assert again.is_done
    assert content(inbox) == content(tmp_path / "whole")
    assert not list(inbox.glob(".partial-*"))


def test_a_full_disk_is_told_of_by_the_name_of_a_file(
    run: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: Path, target: Path, *_: object) -> Iterator[int]:
        raise OSError(errno.ENOSPC, "No space left on device")
        yield 0

    replay = Replay(run, inbox)
    monkeypatch.setattr(_replay_track, "append", full)
    with pytest.raises(OSError, match="No space left") as error:
        replay.advance(T0 + HOUR)
    assert Path(str(error.value.filename)).parent == inbox


def test_one_that_was_killed_before_it_began_can_be_started(
    run: Path, inbox: Path
) -> None:
    inbox.mkdir()
    (inbox / f".partial-0123456789abcdef-{STATE}").touch()
    replay = Replay(run, inbox)
    replay.advance(replay.last_ns)
    assert content(inbox) == content(run)


def test_another_recording_under_the_same_names_is_refused(
    run: Path, inbox: Path
) -> None:
    Replay(run, inbox).advance(T0 + 3 * HOUR)
    before = content(inbox)
    # a longer one that differs in a line that was released
    text = (HEADER + rows(12)).replace(f"r,1,0,{T0 + HOUR}", f"r,1,0,{T0 + HOUR + 1}")
    (run / "a.csv").write_text(text)
    with pytest.raises(TelemetryError, match=r"a\.csv: of another recording than") as e:
        Replay(run, inbox)
    assert str(e.value).endswith("name another folder")
    # and one that is shorter than what was released
    (run / "a.csv").write_text(HEADER)
    with pytest.raises(TelemetryError, match=r"a\.csv: of another recording than"):
        Replay(run, inbox)
    assert content(inbox) == before


def test_a_log_that_its_owner_took_goes_on_in_a_new_one(run: Path, inbox: Path) -> None:
    replay = Replay(run, inbox)
    replay.advance(T0 + 3 * HOUR)
    taken = (inbox / "a.csv").read_text()
    # it ends within a line, which comes again, whole
    assert not taken.endswith("\n")
    (inbox / "a.csv").unlink()
    replay.advance(replay.last_ns)
    left = (inbox / "a.csv").read_text()
    lines = [*taken.splitlines()[1:-1], *left.splitlines()[1:]]
    assert left.startswith(HEADER)
    assert lines == rows(8).splitlines()
    assert replay.gone == [inbox / "a.csv"]
    assert (inbox / "b.csv").read_bytes() == (run / "b.csv").read_bytes()


def test_rotated_logs_may_be_taken_away(run: Path, inbox: Path) -> None:
    replay = Replay(run, inbox, rotate_ns=HOUR)
    replay.advance(T0 + 4 * HOUR)
    for path in inbox.glob("a.csv.[2-9]"):
        path.unlink()
    Replay(run, inbox, rotate_ns=HOUR).advance(T0 + 9 * HOUR)
    # the last ones, the line that was begun among them
    ends = b"".join(content(inbox)[name] for name in ("a.csv.2", "a.csv.1"))
    assert rows(8).splitlines()[-1].encode() in ends


@pytest.mark.parametrize("size", [0, 60])
def test_a_log_that_was_cut_is_refused(run: Path, inbox: Path, size: int) -> None:
    replay = Replay(run, inbox)
    replay.advance(T0 + 3 * HOUR)
    os.truncate(inbox / "a.csv", size)
    for go_on in (lambda: replay.advance(T0 + 5 * HOUR), lambda: Replay(run, inbox)):
        with pytest.raises(TelemetryError, match=rf"a\.csv: .* found {size}; remove"):
            go_on()


def test_what_another_wrote_into_a_log_is_not_cut_off(run: Path, inbox: Path) -> None:
    Replay(run, inbox).advance(T0 + 3 * HOUR)
    with (inbox / "a.csv").open("a") as file:
        file.write("mine\n")
    with pytest.raises(TelemetryError, match="something else wrote it"):
        Replay(run, inbox)
    assert (inbox / "a.csv").read_text().endswith("mine\n")


def test_a_file_of_another_in_the_way_is_not_removed(run: Path, inbox: Path) -> None:
    Replay(run, inbox).advance(T0)
    assert not (inbox / "a.csv").exists()
    (inbox / "a.csv").write_text("mine\n")
    with pytest.raises(TelemetryError, match="from byte 0 on it has what was not rel"):
        Replay(run, inbox)
    assert (inbox / "a.csv").read_text() == "mine\n"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"files": 7}', '{"files": {"0": 1}}'])
def test_a_state_that_is_damaged_is_refused(run: Path, inbox: Path, text: str) -> None:
    Replay(run, inbox).advance(T0 + HOUR)
    (inbox / STATE).write_text(text)
    with pytest.raises(TelemetryError):
        Replay(run, inbox)


def test_a_note_that_is_no_note_is_refused(run: Path, inbox: Path) -> None:
    Replay(run, inbox).advance(T0 + HOUR)
    told = json.loads((inbox / STATE).read_text())
    for note in (7, [], ["x"] * 7, [1, 2, 3, 4]):
        told["files"] = {os.fsencode("a.csv").hex(): note}
        (inbox / STATE).write_text(json.dumps(told))
        with pytest.raises(TelemetryError, match="as it was left"):
            Replay(run, inbox)


def test_a_recording_that_is_cut_off_meanwhile(run: Path, inbox: Path) -> None:
    replay = Replay(run, inbox, cuts_lines=False)
    replay.advance(T0 + HOUR)
    os.truncate(run / "a.csv", 150)
    with pytest.raises(TelemetryError, match=r"a\.csv: expected .* found 150: it was"):
        replay.advance(replay.last_ns)
