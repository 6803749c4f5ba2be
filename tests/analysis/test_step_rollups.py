"""Steps of large runs by day: the fast way and the general one, and their totals."""

from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import _step_rollup_block
from analysis._rollup import held_day
from analysis._step_rollup_means import mean_steps
from analysis.rank_hours import RankHours
from analysis.step_rollups import StepRollups, roll_steps
from ingest.times import DAY_NS
from tests.analysis.drawn_steps import MIDNIGHT_NS, framed, step_logs

PARTS = ("duration_ns", "compute_ns", "wait_ns", "data_ns", "checkpoint_ns")

MS = 1_000_000


def windows(rows: pl.DataFrame, size: int) -> list[pl.DataFrame]:
    """Cut rows of one run where an attempt ends, or after some steps."""
    cut = rows.with_columns(_window=pl.col("step") // size)
    parts = cut.partition_by("attempt", "_window", maintain_order=True)
    return [part.drop("_window") for part in parts]


def by_day(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Rows of each UTC day."""
    day = pl.col("start_ns") // DAY_NS
    parts = rows.with_columns(_day=day).partition_by("_day", maintain_order=True)
    return [part.drop("_day") for part in parts]


def rolled(days: Sequence[pl.DataFrame], size: int = 3) -> dict[type, pl.DataFrame]:
    found = [roll_steps(held_day("r", "d", windows(day, size))) for day in days]
    return {
        table: pl.concat([one[table] for one in found])
        for table in (StepRollups, RankHours)
    }


def first_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that count: of a rank that tells a step twice within ms the first."""
    seat = ["attempt", "step", "rank"]
    gap = pl.col("start_ns").diff().over(seat, order_by="start_ns")
    return rows.filter(gap.is_null() | (gap > MS))


@given(step_logs(), st.integers(1, 9))
def test_totals_are_those_of_the_rows(log: pl.DataFrame, size: int) -> None:
    counted = first_rows(log)
    found = rolled(by_day(log), size)
    steps, hours = found[StepRollups], found[RankHours]
    assert steps["rows"].sum() == log.height
    assert steps["ranks"].sum() == counted.height == hours["steps"].sum()
    for part in PARTS:
        for table in (steps, hours):
            assert table[f"{part}_total"].sum() == counted[part].sum()
    assert steps["tokens"].sum() == counted["tokens"].sum()
    assert steps["start_ns"].min() == log["start_ns"].min()
    StepRollups.validate(steps, cast=True)
    RankHours.validate(hours, cast=True)


@given(step_logs(), st.integers(1, 9))
def test_the_fast_way_gives_what_the_general_one_gives(
    log: pl.DataFrame, size: int
) -> None:
    fast = rolled(by_day(log), size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_step_rollup_block, "_may_be_dense", lambda _: False)
        general = rolled(by_day(log), size)
    for table in (StepRollups, RankHours):
        assert fast[table].equals(general[table])


@given(step_logs(), st.integers(1, 9), st.integers(1, 9))
def test_it_does_not_matter_how_a_day_is_cut(
    log: pl.DataFrame, one: int, other: int
) -> None:
    found, expected = rolled(by_day(log), one), rolled(by_day(log), other)
    for table in (StepRollups, RankHours):
        assert found[table].equals(expected[table])


@given(step_logs())
def test_what_stands_for_rows_adds_up_to_them(log: pl.DataFrame) -> None:
    """Means times ranks: less than a nanosecond a rank and part is left over."""
    steps = rolled(by_day(log))[StepRollups]
    means = mean_steps(steps.lazy()).collect()
    assert means["rank"].null_count() == means.height
    together = steps.group_by("attempt").agg(pl.col("ranks").max())
    if steps["ranks"].n_unique() > 1:
        return
    for attempt, ranks in together.iter_rows():
        mine = pl.col("attempt").eq_missing(pl.lit(attempt, pl.Int32))
        for part in PARTS:
            told = first_rows(log).filter(mine)[part].sum()
            left = told - means.filter(mine)[part].sum() * ranks
            # own work takes what is left of the others, too
            least = -len(PARTS) * ranks if part == "compute_ns" else 0
            assert least <= left < 2 * ranks


@given(st.lists(st.lists(st.integers(0, 99), min_size=9, max_size=9), min_size=1))
def test_parts_that_fill_steps_fill_their_means(told: list[list[int]]) -> None:
    names = ("wait_ns", "data_ns", "compute_ns")
    rows = [
        {"attempt": 0, "step": step, "rank": rank, "start_ns": MIDNIGHT_NS + step * MS}
        | dict(zip(names, parts[rank::3], strict=True))
        | {"duration_ns": sum(parts[rank::3])}
        for step, parts in enumerate(told)
        for rank in range(3)
    ]
    log = framed(rows).with_columns(pl.col("compute_ns") + 9, pl.col("duration_ns") + 9)
    means = mean_steps(rolled(by_day(log))[StepRollups].lazy()).collect()
    assert means.select(pl.sum_horizontal(names) == pl.col("duration_ns"))[:, 0].all()
    for part in (*names, "duration_ns"):
        left = int(log[part].sum()) - 3 * int(means[part].sum())
        assert abs(left) <= 3 * len(names)


def test_a_step_that_midnight_parts_is_put_together() -> None:
    """Rank 0 starts 1 s before midnight, rank 1 at midnight; both take 5 s."""
    second = 1_000 * MS
    rows = [
        {"attempt": 0, "step": step, "rank": rank, "duration_ns": 5 * second}
        | {"start_ns": MIDNIGHT_NS + (6 * step - 1 + rank) * second, "wait_ns": rank}
        for rank in (0, 1)
        for step in (0, 1)
    ]
    steps = rolled(by_day(framed(rows)))[StepRollups]
    assert steps.select("step", "ranks").rows() == [(0, 1), (0, 1), (1, 2)]
    means = mean_steps(steps.lazy()).collect()
    assert means["start_ns"].to_list() == [
        MIDNIGHT_NS - second,
        MIDNIGHT_NS + 5 * second,
    ]
    assert means["duration_ns"].to_list() == [5 * second] * 2
    assert means["wait_ns"].to_list() == [0, 1]


def test_a_step_that_is_done_again_after_midnight_is_two() -> None:
    """Both ranks do step 0 before midnight and at once again after it."""
    second = 1_000 * MS
    rows = [
        {"attempt": 0, "step": 0, "rank": rank, "duration_ns": 5 * second}
        | {"start_ns": MIDNIGHT_NS + (6 * again - 5) * second}
        for rank in (0, 1)
        for again in (0, 1)
    ]
    steps = rolled(by_day(framed(rows)))[StepRollups]
    assert mean_steps(steps.lazy()).collect().height == 2


def test_a_step_that_is_done_again_is_two() -> None:
    """Both ranks do step 4 at 0 s and, a minute later, once more; each takes 5 s."""
    second = 1_000 * MS
    rows = [
        {"attempt": None, "step": 4, "rank": rank, "duration_ns": 5 * second}
        | {"start_ns": MIDNIGHT_NS + again * 60 * second}
        for rank in (0, 1)
        for again in (0, 1)
    ]
    found = rolled([framed(rows)])
    assert found[StepRollups]["ranks"].to_list() == [2, 2]
    assert found[RankHours]["steps"].to_list() == [2, 2]
    assert mean_steps(found[StepRollups].lazy()).collect().height == 2


def test_own_work_is_that_of_the_slowest_and_of_the_middle() -> None:
    """Work of 4, 9, 6 and 5 s in a step of 10 s: rank 1 is slowest, 5.5 s typical."""
    second = 1_000 * MS
    rows = [
        {"attempt": 0, "step": 0, "rank": rank, "duration_ns": 10 * second}
        | {"start_ns": MIDNIGHT_NS, "wait_ns": (10 - work) * second}
        for rank, work in enumerate((4, 9, 6, 5))
    ]
    found = rolled([framed(rows)])
    (step,) = found[StepRollups].to_dicts()
    assert step["slowest_rank"] == 1
    assert step["slowest_work_ns"] == 9 * second
    assert step["typical_work_ns"] == 5_500 * MS
    assert found[RankHours]["typical_work_ns"].to_list() == [
        work * second for work in (4, 9, 6, 5)
    ]


def test_means_of_a_source_stay_what_they_are() -> None:
    """A row for ten steps of 2 s on average, beside no ranks."""
    second = 1_000 * MS
    row = {"step": 0, "start_ns": MIDNIGHT_NS, "duration_ns": 2 * second}
    log = framed([row | {"scope": "run_mean", "step_count": 10, "wait_ns": 5}])
    found = rolled([log])
    assert found[RankHours].is_empty()
    (step,) = found[StepRollups].to_dicts()
    assert step["end_ns"] == MIDNIGHT_NS + 20 * second
    (mean,) = mean_steps(found[StepRollups].lazy()).collect().to_dicts()
    kept = ("step", "start_ns", "duration_ns", "wait_ns", "step_count", "scope")
    assert {name: mean[name] for name in kept} == {n: log[n][0] for n in kept}
