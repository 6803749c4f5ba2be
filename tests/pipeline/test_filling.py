"""Clusters generated into a lake day by day, beside those that were written first."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis import RESULTS
from analysis.attempts import Attempts
from analysis.fleet_power import FleetPower, FleetReadings
from analysis.lost_time import LostTime
from analysis.power_days import PowerDays, XidChanges
from analysis.power_hours import PowerHours
from analysis.rank_hours import RankHours
from analysis.step_rollups import StepRollups
from analysis.straggler_days import StragglerDaysSpells
from analysis.stragglers import StragglerRanks
from ingest.discovery import Options
from ingest.errors import LakeLockedError, SettingError
from ingest.lake import open_writer, snapshot
from ingest.synthetic.cluster.cluster import cluster_of
from ingest.synthetic.cluster.scenario import Fleet, Layout, Scenario, load_scenario
from ingest.synthetic.cluster.steps import frame_of, step_windows
from ingest.tables import PowerSamples, StepTimings, Table
from ingest.times import DAY_NS
from pipeline import settings as known
from pipeline import steps
from pipeline._given_steps import given_steps
from pipeline._making import making
from pipeline._unfinished import unfinished
from pipeline.filling import Target, fill
from pipeline.generating import Request, generate
from pipeline.logs import silence
from pipeline.orders import Order
from pipeline.settings import Settings

TINY = Scenario(run_id="tiny", fleet=Fleet(hosts=1), layout=Layout(tp=8, dp=1))

#: What stays hidden in a run's folder.
KEPT = [".generated-counters.npy", ".generated.json"]

REQUEST = Request(form="parquet")

#: What is kept of a day of power.
POWER = (PowerHours, PowerDays, FleetPower, FleetReadings, XidChanges)


@pytest.fixture(scope="module")
def sample() -> Scenario:
    return load_scenario("sample")


def settings(lake: Path, keep_raw: str | None = None) -> Settings:
    return known.load(lake=lake, by_day_rows=0, jobs=1, keep_raw=keep_raw)


def read(lake: Path, table: type[Table]) -> pl.DataFrame:
    return snapshot(lake).scan(table).collect().sort(table.key)


@pytest.fixture(scope="module")
def filled(sample: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of three days: two as rollups, the last one with its rows."""
    folder = tmp_path_factory.mktemp("filled")
    target = Target(settings(folder / "lake"), 0)
    fill(sample, folder, REQUEST, target, silence)
    return folder / "lake"


@pytest.fixture(scope="module")
def written(sample: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of files: ingested, condensed by day, old days retired."""
    folder = tmp_path_factory.mktemp("written")
    generate(sample, folder, REQUEST, silence)
    lake = folder / "lake"
    order = Order((folder / sample.run_id,), Options(), None, compacts=True)
    in_force = settings(lake, keep_raw="0d")
    steps.main_job(in_force, order, steps.stage_in_threads(1), silence)
    return lake


@pytest.mark.slow
def test_a_made_day_is_the_same_as_one_of_files(filled: Path, written: Path) -> None:
    kept = (StepRollups, RankHours, *POWER)
    days = {table: read(filled, table) for table in kept}
    for table, rows in days.items():
        assert rows.height
        assert_frame_equal(rows, read(written, table))


@pytest.mark.slow
def test_every_answer_is_the_same(filled: Path, written: Path) -> None:
    """All result tables: no analysis tells a made day from one of files."""
    for table in RESULTS:
        one, other = read(filled, table), read(written, table)
        assert_frame_equal(one, other, check_row_order=False)
    for found in (Attempts, LostTime, StragglerDaysSpells, StragglerRanks):
        assert read(filled, found).height


@pytest.mark.slow
def test_what_slowed_a_gpu_of_an_old_day_is_told(filled: Path) -> None:
    """Only samples of its power tell that rank 9 was slowed for heat."""
    slow = read(filled, StragglerRanks).filter(pl.col("rank") == 9)
    assert slow["cause"].to_list() == ["thermal_slowdown"]


@pytest.mark.slow
def test_old_days_have_no_rows_and_get_none(filled: Path) -> None:
    lake = snapshot(filled)
    days = ["2026-03-02", "2026-03-03", "2026-03-04"]
    for raw in (StepTimings, PowerSamples):
        assert {part.day for part in lake.parts(raw)} == {days[2]}
    assert sorted(lake.manifest.retired_days) == [
        (table, day) for table in ("power_samples", "step_timings") for day in days[:2]
    ]
    for table in (StepRollups, PowerHours):
        assert [part.day for part in lake.parts(table)] == days


class StoppedError(Exception):
    """Stands for a kill."""


@pytest.mark.slow
def test_a_fill_that_was_stopped_goes_on(
    filled: Path, sample: Scenario, tmp_path: Path
) -> None:
    """StoppedError after each day in turn: what was there is not made again."""
    target = Target(settings(tmp_path / "lake"), 0)
    said: list[str] = []
    stops = iter(range(1, 12))

    def stop_after_a_day(line: str) -> None:
        if "M rows/s" in line and "days" in line:
            said.append(line)
            if next(stops, None):
                raise StoppedError

    for _ in range(12):
        try:
            fill(sample, tmp_path, REQUEST, target, stop_after_a_day)
            break
        except StoppedError:
            continue
    assert len(said) == len({line.partition(":")[0] for line in said}) == 9
    # what a day of power leaves is at hand for the stragglers of the day
    others = [line for line in said if not line.startswith("step_rollups")]
    days = [line.partition(":")[0][-len("2026-03-02") :] for line in others]
    assert days == sorted(days)
    for table in (
        StepRollups,
        RankHours,
        StragglerDaysSpells,
        StragglerRanks,
        LostTime,
    ):
        assert_frame_equal(read(tmp_path / "lake", table), read(filled, table))


@pytest.mark.slow
def test_a_fill_that_was_killed_goes_on(filled: Path, tmp_path: Path) -> None:
    """Killed at once after the first day, while the second one is condensed."""
    lake = tmp_path / "lake"
    tokens = ["generate", "sample", str(tmp_path)]
    python = [sys.executable, "-c", "from pipeline.cli import main; main()"]
    command = [*python, *tokens, "--into", str(lake)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as killed:
        assert killed.stderr is not None
        told = (line for line in killed.stderr if "1 of 3 days" in line)
        assert next(told)
        killed.kill()
    before = {part.path for part in snapshot(lake).parts(StepRollups)}
    assert before
    (stopped,) = unfinished(snapshot(lake))
    assert "stopped with 0 of 2 old days there; " in stopped
    analyzed = subprocess.run(
        [*python, "analyze", "--lake", str(lake)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert stopped in analyzed.stderr.splitlines()
    again = subprocess.run(command, check=False, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert "step_rollups of sample, 2026-03-02" not in again.stderr
    assert before <= {part.path for part in snapshot(lake).parts(StepRollups)}
    assert unfinished(snapshot(lake)) == ()
    for table in RESULTS:
        one, other = read(lake, table), read(filled, table)
        assert_frame_equal(one, other, check_row_order=False)


def test_a_day_is_read_in_windows_and_by_steps() -> None:
    """Days together are all steps; bounds give the rows with those steps, no others."""
    cluster = cluster_of(TINY)
    begun = TINY.begun_ns
    days = [*given_steps(cluster, "", begun, begun + 2 * DAY_NS)]
    made = pl.concat(map(frame_of, step_windows(cluster, begun, begun + 2 * DAY_NS)))
    names = ["attempt", "step", "rank", "start_ns", "wait_ns"]
    whole = pl.concat([rows for day in days for rows in day.read(names, None)])
    assert_frame_equal(whole, made.select(names))
    assert sum(day.rows for day in days) == made.height
    bounds = (int(whole["step"].min()) + 7, int(whole["step"].min()) + 9)  # type: ignore[arg-type]
    some = pl.concat(days[0].read(names, bounds))
    assert_frame_equal(some, whole.filter(pl.col("step").is_between(*bounds)))
    assert some["step"].n_unique() == 3


def test_who_comes_second_writes_nothing(tmp_path: Path) -> None:
    """The lake is locked before a file is written, and so is the run's folder."""
    target = Target(settings(tmp_path / "lake"), 0)
    with open_writer(tmp_path / "lake"), pytest.raises(LakeLockedError):
        fill(TINY, tmp_path / "made", REQUEST, target, silence)
    assert not (tmp_path / "made").exists()
    with (
        making(tmp_path / "made", TINY.run_id),
        pytest.raises(SettingError, match="another process makes it"),
    ):
        fill(TINY, tmp_path / "made", REQUEST, target, silence)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("lake", [".", "tiny", "tiny/lake"])
def test_a_lake_and_a_run_are_not_in_one_another(tmp_path: Path, lake: str) -> None:
    target = Target(settings(tmp_path / lake), 0)
    with pytest.raises(SettingError, match="expected a lake that neither"):
        fill(TINY, tmp_path, REQUEST, target, silence)
    assert not [*tmp_path.iterdir()]


@pytest.mark.thorough
def test_what_a_killed_fill_set_aside_goes_when_it_goes_on(tmp_path: Path) -> None:
    """Samples of power of files, and of a day that was condensed."""
    request = Request(form="parquet", hours=0.5, interval_s=0)
    target = Target(settings(tmp_path / "lake"), 0)
    made = tmp_path / TINY.run_id
    fill(TINY, tmp_path, request, target, silence)
    for left in (".power-abc", ".power"):
        (made / left).mkdir()
        (made / left / "samples").touch()
    fill(TINY, tmp_path, request, target, silence)
    assert sorted(one.name for one in made.glob(".*")) == KEPT


def test_files_of_others_are_left_alone(sample: Scenario, tmp_path: Path) -> None:
    (tmp_path / sample.run_id).mkdir()
    (tmp_path / sample.run_id / "any").touch()
    target = Target(settings(tmp_path / "lake"), 0)
    with pytest.raises(SettingError, match="there already"):
        fill(sample, tmp_path, REQUEST, target, silence)
    assert [one.name for one in (tmp_path / sample.run_id).iterdir()] == ["any"]
