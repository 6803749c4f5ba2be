"""Days of a lake, cut into windows that part no step."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from analysis.step_rollups import roll_steps
from ingest.lake import snapshot
from ingest.tables import PowerSamples, StepTimings
from ingest.times import SECOND_NS
from pipeline._days import LakeDay, opened
from pipeline._owners import raw_parts
from pipeline._windows import Source
from tests.pipeline.step_lakes import bring, steady


def test_parts_that_overlap_are_read_in_order(tmp_path: Path) -> None:
    """A part for each rank: every window has all ranks of its steps, sorted."""
    log = steady(12)
    bring(tmp_path, [log.filter(pl.col("rank") == rank) for rank in (2, 0, 1)])
    lake = snapshot(tmp_path)
    parts = tuple(raw_parts(lake, StepTimings))
    source = Source(lake, StepTimings, "run_id", "r", parts, frozenset())
    day = LakeDay.of(source, 9)
    read_rows = list(day.read(("step", "rank", "start_ns")))
    assert [one.height for one in read_rows] == [9, 9, 9, 9]
    together = pl.concat(read_rows)
    assert together.equals(log.select("step", "rank", "start_ns"))
    bounded = pl.concat(day.read(("step",), (2, 4)))
    assert bounded["step"].unique().sort().to_list() == [2, 3, 4]


def test_a_step_that_two_parts_share_is_in_one_window(tmp_path: Path) -> None:
    """Parts of 9 rows of 4 ranks: but for the fourth, each ends within a step."""
    log = steady(12, ranks=4)
    bring(tmp_path, [log[first : first + 9] for first in range(0, log.height, 9)])
    lake = snapshot(tmp_path)
    parts = tuple(raw_parts(lake, StepTimings))
    source = Source(lake, StepTimings, "run_id", "r", parts, frozenset())
    day = LakeDay.of(source, 9)
    is_open = [one.is_open for one in day.windows]
    assert is_open == [True, True, True, False, True, False]
    for columns in (["start_ns"], ["step", "rank"]):
        assert pl.concat(day.read(columns)).equals(log.select(columns))
    steps = [set(one["step"]) for one in day.read(["step"])]
    assert sum(map(len, steps)) == len(set().union(*steps)) == 12
    for first in range(12):
        bounded = pl.concat(day.read(["step", "rank"], (first, first + 2)))
        near = pl.col("step").is_between(first, first + 2)
        assert bounded.equals(log.filter(near).select("step", "rank"))


def test_parts_that_share_more_than_a_step_are_sorted(tmp_path: Path) -> None:
    """The last step of a part has late ranks in the next, and that one overlaps."""
    log = steady(12, ranks=4)
    late = log[9:18].filter(pl.col("rank") != 1)
    others = log[9:18].filter(pl.col("rank") == 1)
    bring(tmp_path, [log[:9], late, others, log[18:]])
    lake = snapshot(tmp_path)
    parts = tuple(raw_parts(lake, StepTimings))
    source = Source(lake, StepTimings, "run_id", "r", parts, frozenset())
    day = LakeDay.of(source, 9)
    assert pl.concat(day.read(["step", "rank"])).equals(log.select("step", "rank"))


def test_nothing_depends_on_how_many_windows_are_condensed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LakeDay, "of", partial(LakeDay.of, window_rows=9))
    log = steady(40, ranks=4)
    bring(tmp_path, [log[first : first + 9] for first in range(0, log.height, 9)])
    lake = snapshot(tmp_path)
    parts = tuple(raw_parts(lake, StepTimings))
    source = Source(lake, StepTimings, "run_id", "r", parts, frozenset())
    kept = [
        roll_steps(opened(source, "d", lambda _: None, jobs)[0]) for jobs in (1, 2, 5)
    ]
    for table, rows in kept[0].items():
        assert all(rows.equals(other[table]) for other in kept[1:])


def samples(hosts: Sequence[str | None], gpus: Sequence[str]) -> pl.DataFrame:
    """Return four samples of each GPU on its host, sorted by their key."""
    names = {"host": pl.String, "gpu_uuid": pl.String}
    devices = pl.DataFrame({"host": hosts, "gpu_uuid": gpus}, names)
    times = pl.DataFrame({"time_ns": [n * SECOND_NS for n in range(4)]})
    told = devices.join(times, how="cross").with_columns(
        power_average_w=pl.lit(300.0), time_quality=pl.lit("exact")
    )
    return told.with_columns(
        cluster=pl.lit("c"), level=pl.lit("gpu_board"), file_id=pl.lit("f")
    ).sort(PowerSamples.key[:5])


@pytest.mark.parametrize("size", [5, 8, 13, 100])
def test_samples_of_a_host_that_two_parts_share_are_in_one_window(
    tmp_path: Path, size: int
) -> None:
    """Names of GPUs are in no order along the hosts, and parts end anywhere."""
    log = samples(["a", "a", "b", "c", "c"], ["9", "3", "5", "4", "1"])
    day = held(tmp_path, log, size)
    assert day.cut.column == "host"
    assert all(one.is_sorted for one in day.windows)
    read = list(day.read(["gpu_uuid", "time_ns"]))
    assert pl.concat(read).equals(log.select("gpu_uuid", "time_ns"))
    assert sum(one["gpu_uuid"].n_unique() for one in read) == 5


@pytest.mark.parametrize("hosts", [["a", "b", "c"], [None, "b", "c"]])
def test_samples_of_a_gpu_on_two_hosts_or_none_are_in_one_window(
    tmp_path: Path, hosts: list[str | None]
) -> None:
    """The first GPU's samples are told by two hosts; without a host, by one of all."""
    log = samples(hosts, ["1", "1" if hosts[0] else "3", "2"])
    moved = log.with_columns(
        pl.col("time_ns") + 7 * pl.col("host").eq_missing(pl.lit("b"))
    )
    day = held(tmp_path, moved, 5)
    assert day.cut.column == "gpu_uuid"
    read = list(day.read(["gpu_uuid", "time_ns"]))
    gpus = log["gpu_uuid"].n_unique()
    assert sum(one["gpu_uuid"].n_unique() for one in read) == gpus
    assert sum(one.height for one in read) == 12


def held(root: Path, log: pl.DataFrame, size: int) -> LakeDay:
    """Bring samples in parts of some rows, and cut them to windows of 9."""
    bring(root, [log[n : n + size] for n in range(0, log.height, size)], PowerSamples)
    lake = snapshot(root)
    parts = tuple(raw_parts(lake, PowerSamples))
    return LakeDay.of(Source(lake, PowerSamples, "cluster", "c", parts, frozenset()), 9)
