"""Runs that are condensed by day, beside the same runs as they are."""

from pathlib import Path

import polars as pl
import pytest

from analysis import ANALYSES, Rollup
from analysis.attempts import Attempts
from analysis.goodput import Goodput
from analysis.lost_time import LostTime
from analysis.rank_hours import RankHours
from analysis.step_rollups import StepRollups
from ingest import staging
from ingest.lake import Writer, open_writer, snapshot
from ingest.staging import Place, write_rollup
from ingest.tables import StepTimings, Table
from pipeline import analyzing
from pipeline._owners import ByDay
from tests.analysis.drawn_steps import MIDNIGHT_NS
from tests.pipeline.step_lakes import SECOND, bring, steady

#: What is held against each other: the chain up to the ledger.
CHAIN = tuple(
    one
    for one in ANALYSES
    if one.name
    in ("step_rollups", "attempts", "runs", "gpus", "allocations", "overlap")
    or one.name in ("interruptions", "incidents", "lost_time", "goodput")
)


def analyzed(writer: Writer, rows: int, said: list[str] | None = None) -> None:
    told = [] if said is None else said
    by_day = ByDay(rows, say=told.append)
    analyzing.analyze(writer, {}, analyses=CHAIN, by_day=by_day)


def read(root: Path, table: type[Table]) -> pl.DataFrame:
    return snapshot(root).scan(table).collect().sort(table.key)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    bring(tmp_path / "lake", [steady(6, first_ns=MIDNIGHT_NS - 15 * SECOND)])
    return tmp_path / "lake"


def test_the_ledger_is_that_of_the_raw_rows(tmp_path: Path) -> None:
    """Ranks that start together: the accounts differ by less than a ns a rank."""
    log = steady(20)
    totals = {}
    for rows in (0, log.height):
        root = tmp_path / str(rows)
        bring(root, [log])
        with open_writer(root) as writer:
            analyzed(writer, rows)
        booked = read(root, LostTime).group_by("category").agg(pl.col("gpu_ns").sum())
        totals[rows] = dict(booked.iter_rows())
        assert read(root, Goodput).height == 1
    assert set(totals[0]) == set(totals[log.height])
    for category, gpu_ns in totals[0].items():
        assert abs(gpu_ns - totals[log.height][category]) < 3 * 2


def test_a_day_is_a_part_of_its_own(root: Path) -> None:
    said: list[str] = []
    with open_writer(root) as writer:
        analyzed(writer, 0, said)
    parts = snapshot(root).parts(StepRollups)
    assert [(p.kind, p.owner) for p in parts] == [("rollup", "r")] * 2
    assert len({p.day for p in parts}) == 2
    assert read(root, StepRollups)["ranks"].sum() == 18
    assert read(root, RankHours)["steps"].sum() == 18
    assert any("condensed by day" in line for line in said)
    assert any("M rows/s" in line and "1 of 2 days" in line for line in said)


def test_a_day_that_has_not_changed_is_skipped(root: Path) -> None:
    with open_writer(root) as writer:
        analyzed(writer, 0)
        before = {p.day: p.path for p in snapshot(root).parts(StepRollups)}
        analyzed(writer, 0)
        assert {p.day: p.path for p in snapshot(root).parts(StepRollups)} == before
        late = steady(1, first_ns=MIDNIGHT_NS + 3_000 * SECOND)
        moved = late.with_columns(step=pl.lit(99, pl.Int64))
        bring_more = staging.write_parts(root, StepTimings, moved, "raw")
        writer.commit_rollups(bring_more)
        analyzed(writer, 0)
    after = {p.day: p.path for p in snapshot(root).parts(StepRollups)}
    assert [day for day in before if before[day] != after[day]] == [
        max(map(str, before))
    ]


def test_finished_days_are_kept_when_one_breaks(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(
        root: Path, table: type[Table], rows: pl.DataFrame, place: Place, key: str
    ) -> object:
        if place.day == max(str(p.day) for p in snapshot(root).parts(StepTimings)):
            raise KeyboardInterrupt
        return write_rollup(root, table, rows, place, key)

    with open_writer(root) as writer, monkeypatch.context() as patch:
        patch.setattr("pipeline.rolling.write_rollup", broken)
        with pytest.raises(KeyboardInterrupt):
            analyzed(writer, 0)
    (kept,) = snapshot(root).parts(StepRollups)
    with open_writer(root) as writer:
        analyzed(writer, 0)
    assert kept.path in {p.path for p in snapshot(root).parts(StepRollups)}
    assert len(snapshot(root).parts(StepRollups)) == 2


def test_rollups_go_when_rows_are_few_again(root: Path) -> None:
    with open_writer(root) as writer:
        analyzed(writer, 0)
        analyzed(writer, 1_000)
    assert not snapshot(root).parts(StepRollups)
    assert not snapshot(root).parts(RankHours)


def test_runs_of_one_part_are_told_apart(tmp_path: Path) -> None:
    both = pl.concat([steady(4), steady(5).with_columns(run_id=pl.lit("s"))]).sort(
        StepTimings.key
    )
    bring(tmp_path, [both])
    with open_writer(tmp_path) as writer:
        analyzed(writer, 12)
    assert read(tmp_path, StepRollups)["run_id"].unique().to_list() == ["s"]
    assert read(tmp_path, Attempts)["run_id"].to_list() == ["r", "s"]


def test_every_rollup_stands_before_what_reads_it() -> None:
    rollups = [one for one in ANALYSES if isinstance(one, Rollup)]
    assert {table for one in rollups for table in one.outputs} >= {StepRollups}
