"""Days of a lake, cut into windows that part no step."""

from pathlib import Path

import polars as pl
import pytest

from analysis.step_rollups import roll_steps
from ingest.lake import snapshot
from ingest.tables import StepTimings
from pipeline._days import LakeDay, opened
from pipeline._owners import raw_parts
from pipeline._windows import Source, windows_of
from tests.pipeline.step_lakes import bring, steady


def test_parts_that_overlap_are_read_in_order(tmp_path: Path) -> None:
    """A part for each rank: every window has all ranks of its steps, sorted."""
    log = steady(12)
    bring(tmp_path, [log.filter(pl.col("rank") == rank) for rank in (2, 0, 1)])
    lake = snapshot(tmp_path)
    parts = tuple(raw_parts(lake, StepTimings))
    source = Source(lake, StepTimings, "run_id", "r", parts, frozenset())
    day = LakeDay(source, tuple(windows_of(source, 9)))
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
    cut = windows_of(source, 9)
    assert [one.is_open for one in cut] == [True, True, True, False, True, False]
    day = LakeDay(source, tuple(cut))
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
    day = LakeDay(source, tuple(windows_of(source, 9)))
    assert pl.concat(day.read(["step", "rank"])).equals(log.select("step", "rank"))


def test_nothing_depends_on_how_many_windows_are_condensed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows_of, "__defaults__", (9,))
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
