"""A replay at a speed, by a clock that the test turns."""

from pathlib import Path

import pytest

from ingest.errors import SettingError
from ingest.replay import Replay
from pipeline import replaying
from pipeline.cli import run_tokens

#: 2023-11-14, 00:00 UTC. [ns]
T0 = 19_675 * 86_400 * 10**9
HOUR = 3_600 * 10**9


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    lines = [f"r,{n},0,{T0 + n * HOUR},{HOUR // 2}\n" for n in range(5)]
    header = "run_id,step,rank,start_ns,duration_ns\n"
    (folder / "a.csv").write_text(header + "".join(lines))
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
        ("--rotate", "6", "expected whole hours, such as 6h"),
        ("--rotate", "0h", "expected whole hours, such as 6h"),
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


def test_hours() -> None:
    assert replaying.hours_of("6h") == 6 * HOUR
    with pytest.raises(SettingError):
        replaying.hours_of("1.5h")
