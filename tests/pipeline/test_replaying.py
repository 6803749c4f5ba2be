"""A replay at a speed, by a clock that the test turns."""

from pathlib import Path

import pytest

from ingest.errors import SettingError
from ingest.replay import Replay, holding
from pipeline import replaying
from pipeline.cli import run_tokens
from tests.ingest.hourly import HEADER, HOUR, T0, rows


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "a.csv").write_text(HEADER + rows(5))
    return folder


def test_an_hour_is_a_second_at_3600(run: Path, tmp_path: Path) -> None:
    slept: list[float] = []
    clock = replaying.Clock(lambda: sum(slept), slept.append)
    said: list[str] = []
    replay = Replay(run, tmp_path / "in")
    done = replaying.Pace(replay, 3_600, said.append, clock).run()
    # from 00:30 to 04:30
    assert sum(slept) == pytest.approx(4, abs=1)
    assert done.bytes == (run / "a.csv").stat().st_size
    assert said.pop(0) == (
        "1 files, 238 bytes left, from 2023-11-14 00:29:59 UTC until"
        " 2023-11-14 04:30:00 UTC: about 4 s at speed 3600"
    )
    assert [line.partition(" UTC")[0] for line in said] == [
        *(f"2023-11-14 0{hour}:00:00" for hour in range(1, 5)),
        "2023-11-14 04:30:00",
    ]


def test_the_command_stops_and_goes_on(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["replay", str(run), "--into", str(tmp_path / "in"), "--speed", "1e9"]
    assert run_tokens([*command, "--until", "2023-11-14T02:00"]) == 0
    said = capsys.readouterr()
    assert "until 2023-11-14 02:00:00 UTC; 1 files, 1 of them not yet whole" in said.out
    assert run_tokens([*command, "--quiet"]) == 0
    assert "0 of them not yet whole" in capsys.readouterr().out
    found = (tmp_path / "in" / "a.csv").read_bytes()
    assert found == (run / "a.csv").read_bytes()


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--rotate", "6", "expected 1 to 9999 whole hours, such as 6h"),
        ("--rotate", "99999999h", "expected 1 to 9999 whole hours, such as 6h"),
        ("--rotate", "0h", "expected 1 to 9999 whole hours, such as 6h"),
        ("--until", "soon", "expected a date or a time in UTC"),
        ("--speed", "0", "above 0"),
    ],
)
def test_a_bad_option_is_one_line(  # noqa: PLR0917
    run: Path,
    tmp_path: Path,
    option: str,
    value: str,
    expected: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    into = str(tmp_path / "in")
    assert run_tokens(["replay", str(run), "--into", into, option, value]) == 1
    err = capsys.readouterr().err
    assert expected in err
    assert err.count("\n") == 1


def test_a_silence_is_passed_over_and_its_end_named(run: Path, tmp_path: Path) -> None:
    # GIVEN a log of five hours, and another with one line 73 years later
    late = T0 + 640_000 * HOUR
    (run / "b.csv").write_text(f"{HEADER}r,9,1,{late},{HOUR // 2}\n")
    slept: list[float] = []
    said: list[str] = []
    clock = replaying.Clock(lambda: sum(slept), slept.append)
    replay = Replay(run, tmp_path / "in", rotate_ns=HOUR)
    # WHEN it is replayed
    replaying.Pace(replay, 3_600, said.append, clock).run()
    # THEN 73 years take no time, and the file that made them is told
    assert replay.is_done
    assert sum(slept) == pytest.approx(5, abs=2)
    (told,) = [line for line in said if "passed over" in line]
    assert told == (
        "2023-11-14 05:00:00 UTC: nothing was written for 26,666 days, which is passed"
        f" over; then comes {run / 'b.csv'}"
    )
    assert "about 5 s at speed 3600" in said[0]


def test_an_end_within_a_silence_ends_there(run: Path, tmp_path: Path) -> None:
    (run / "b.csv").write_text(f"{HEADER}r,9,1,{T0 + 900 * HOUR},{HOUR // 2}\n")
    replay = Replay(run, tmp_path / "in")
    replay.advance(T0 + 10 * HOUR)
    clock = replaying.Clock(lambda: 0.0, lambda _: None)
    # the clock stands still, and yet what is silent is passed over
    replaying.Pace(replay, 1, lambda _: None, clock).run(T0 + 500 * HOUR)
    assert replay.now_ns == T0 + 500 * HOUR
    assert replay.left == 1


def test_one_replay_at_a_time(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inbox = tmp_path / "in"
    command = ["replay", str(run), "--into", str(inbox), "--speed", "1e9"]
    with holding(run, inbox):
        assert run_tokens(command) == 1
    err = capsys.readouterr().err
    assert err == (
        f"gpuledger: {inbox}: another process replays into it; wait, stop that one, or"
        " replay into another folder\n"
    )
    assert run_tokens(command) == 0


def test_what_was_added_since_is_released(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["replay", str(run), "--into", str(tmp_path / "in"), "--speed", "1e9"]
    assert run_tokens(command) == 0
    # a line of an hour that has passed, and a file with no time
    with (run / "a.csv").open("a") as file:
        file.write(f"r,8,0,{T0},{HOUR // 2}\n")
    (run / "run.toml").write_text('run_id = "r"\n')
    assert run_tokens(command) == 0
    assert "2 files, 0 of them not yet whole" in capsys.readouterr().out
    for name in ("a.csv", "run.toml"):
        assert (tmp_path / "in" / name).read_bytes() == (run / name).read_bytes()


def test_what_the_owner_took_away_is_named_and_stays_away(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inbox = tmp_path / "in"
    command = ["replay", str(run), "--into", str(inbox), "--speed", "1e9"]
    assert run_tokens(command) == 0
    capsys.readouterr()
    (inbox / "a.csv").unlink()
    for _ in range(2):
        assert run_tokens(command) == 0
        err = capsys.readouterr().err
        assert err.count(f"{inbox / 'a.csv'}: not in the inbox as released") == 1
    assert not (inbox / "a.csv").exists()


def test_words_for_long_times() -> None:
    said = [replaying.in_words(n) for n in (3, 119, 120, 7_200, 172_800, 1e9)]
    assert said == ["3 s", "119 s", "2 min", "2 h", "2 days", "11,574 days"]


def test_hours() -> None:
    assert replaying.hours_of("6h") == 6 * HOUR
    with pytest.raises(SettingError):
        replaying.hours_of("1.5h")
