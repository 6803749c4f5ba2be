"""Questions of the README over condensed runs, and what is said where none is."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import querying
from pipeline.cli import run_tokens

HOUR_NS = 3_600 * 10**9
FIRST_NS = 20_514 * 24 * HOUR_NS  # 2026-03-02, 00:00 UTC

CARD = """run_id = "mixed"
cluster = "a"
[hardware]
gpu = "H100-SXM"
gpus = 4
gpus_per_node = 2
[hosts]
map = "hosts.csv"
"""

#: GPUs, the nodes they are in, and what tells their 500 W: a counter and averages, a
#: counter that never moves and averages, averages alone, power of the moment alone.
GPUS: dict[str, tuple[str, Callable[[int], str]]] = {
    "GPU-0": ("n0", lambda mj: f"{mj},500,,gpu_board"),
    "GPU-1": ("n0", lambda _: "7000,500,,gpu_board"),
    "GPU-2": ("n1", lambda _: ",500,,gpu_board"),
    "GPU-3": ("n1", lambda _: ",,500,gpu_board"),
}


def question(project: Path, name: str) -> str:
    """The README's question of this name, with the comments that it begins with."""
    told = (project / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"^-- {name}\n[^;]*;$", told, re.MULTILINE)
    assert found
    return found.group()


def write(folder: Path) -> Path:
    """Six hours of four GPUs and of the supply of their nodes, read every minute."""
    folder.mkdir()
    (folder / "run.toml").write_text(CARD)
    hosts = "".join(
        f"{rank},{host},{rank % 2},{uuid}\n"
        for rank, (uuid, (host, _)) in enumerate(GPUS.items())
    )
    (folder / "hosts.csv").write_text(f"rank,host,local_rank,gpu_uuid\n{hosts}")
    steps = "".join(
        f"{step},{rank},{FIRST_NS + HOUR_NS + step * 60 * 10**9},59000000000\n"
        for step in range(360)
        for rank in range(4)
    )
    (folder / "steps.csv").write_text(f"step,rank,start_ns,duration_ns\n{steps}")
    power = []
    for minute in range(60, 421):
        at = FIRST_NS + minute * 60 * 10**9
        for uuid, (host, told) in GPUS.items():
            power.append(f"{host},{uuid},{at},{told(minute * 60 * 500_000)}\n")
        power += [f"{host},NODE-{host},{at},,1500,,node_ac\n" for host in ("n0", "n1")]
    names = "host,gpu_uuid,time_ns,energy_mj,power_average_w,power_instant_w,level\n"
    (folder / "power.csv").write_text(names + "".join(power))
    return folder


@pytest.mark.thorough
def test_energy_by_day_is_that_of_runs_in_a_mixed_fleet(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN a run that is condensed, whose GPUs are told in different ways
    monkeypatch.setenv("GPULEDGER_BY_DAY_ROWS", "0")
    monkeypatch.setenv("GPULEDGER_LAKE", str(tmp_path / "lake"))
    run = write(tmp_path / "mixed")
    assert run_tokens(["ingest", str(run), "--quiet"]) == 0
    assert run_tokens(["analyze", "--quiet"]) == 0
    # WHEN it is asked as the README asks
    rows = querying.rows_of(tmp_path / "lake", question(project, "energy by day"))
    # THEN four GPUs of 500 W took 12 kWh in six hours, without what nodes tell
    assert rows["day"].to_list() == ["2026-03-02"]
    assert rows["mwh"].item() == pytest.approx(0.012, rel=1e-6)
    # AND energy_runs says the same of the time held, which ends with the last step
    told = querying.rows_of(
        tmp_path / "lake",
        "SELECT energy_j, (to_ns - from_ns) / 1e9 AS held_s FROM energy_runs"
        " WHERE attempt IS NULL AND level = 'gpu_board'",
    )
    energy_j, held_s = told.row(0)
    assert held_s == pytest.approx(6 * 3_600, abs=60)
    assert rows["mwh"].item() * 3.6e9 - energy_j == pytest.approx(
        4 * 500 * (6 * 3_600 - held_s), abs=1.0
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("energy by day", ("power_hours: no rows, since no cluster", "power_samples")),
        ("step times by day", ("step_rollups: no rows, since no run", "step_timings")),
        ("ranks by slow hours", ("rank_hours, step_rollups: no rows", "step_timings")),
        ("GPU-hours by day and account", None),
    ],
)
def test_a_question_over_what_is_not_condensed_says_so(
    lake: Path,
    project: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    hint: tuple[str, str] | None,
) -> None:
    tokens = ["sql", question(project, name), "--lake", str(lake), "--format", "csv"]
    assert run_tokens(tokens) == 0
    said = capsys.readouterr()
    if hint is None:
        assert said.err == ""
        return
    [line] = said.err.splitlines()
    assert line.startswith(hint[0])
    assert line.endswith(f"the raw rows are in {hint[1]}")
    assert len(said.out.splitlines()) == 1
    # AND quiet is quiet
    assert run_tokens([*tokens, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of raw rows alone."""
    folder = tmp_path_factory.mktemp("raw")
    run = write(folder / "mixed")
    assert run_tokens(["ingest", str(run), "--lake", str(folder / "lake")]) == 0
    return folder / "lake"


def test_nothing_is_said_where_raw_rows_are_missing_too(tmp_path: Path) -> None:
    path = tmp_path / "steps.csv"
    path.write_text("step,rank,start_ns,duration_ns\n0,0,1700000000000000000,900\n")
    assert run_tokens(["ingest", str(path), "--lake", str(tmp_path / "lake")]) == 0
    query = "SELECT * FROM power_hours"
    assert list(querying.hints_of(tmp_path / "lake", query, 9)) == []
    query = "SELECT 1 AS power_hours, 'step_rollups' AS a"
    assert list(querying.hints_of(tmp_path / "lake", query, 9)) == []
