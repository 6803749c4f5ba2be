"""Scores and repairs of runs whose steps are kept by day are those of their steps."""

from typing import Final

import polars as pl
import pytest

from analysis import Frames
from analysis._repairs_grammar import parse
from analysis._whatif_day_things import things_by_text
from analysis.gpus import Gpus
from analysis.section_scores import score_sections
from analysis.straggler_days import ROLLUP
from analysis.stragglers import StragglerRanks, find_stragglers
from analysis.whatif import answer_fixes, answer_repairs
from ingest.tables import StepTimings, Table
from tests.analysis.condensed import condensed
from tests.analysis.fleets import healthy, seats, step_log

WHERE = seats(32, lambda rank: {"host": f"node-{rank // 8}", "gpu_uuid": f"GPU-{rank}"})

#: What the scatter of steps comes to: squares are rounded.
OF_SCATTER: Final = {"saved_low_gpu_ns": None, "saved_high_gpu_ns": None}


def both(
    slow: slice = slice(7, 8), steps: slice = slice(300, 900)
) -> tuple[Frames, Frames]:
    """A run whose ranks are slow for a while, by its steps and by two days."""
    work = healthy(32, 1200, 1)
    work[steps, slow] *= 1.1
    log = step_log(work)
    halves = [log.filter(pl.col("step") < 600), log.filter(pl.col("step") >= 600)]
    days = [
        condensed(half, (Gpus, WHERE), day=f"2023-11-{14 + number}")
        for number, half in enumerate(halves)
    ]
    kept = {t: pl.concat([day[t] for day in days]).lazy() for t in ROLLUP.outputs}
    return _found({StepTimings: log.lazy()}), _found(kept)


def _found(told: dict[type[Table], pl.LazyFrame]) -> Frames:
    every: dict[type[Table], pl.LazyFrame] = {**told, Gpus: WHERE.lazy()}
    slow = find_stragglers(Frames(every))[StragglerRanks]
    return Frames({**every, StragglerRanks: slow.lazy()})


@pytest.mark.parametrize(
    ("slow", "at", "repair"),
    [
        (slice(7, 8), slice(300, 900), "rank=7"),
        (slice(7, 8), slice(570, 620), "rank=7"),
        (slice(8, 16), slice(300, 900), "host=node-1"),
    ],
)
def test_repairs_of_days_are_those_of_the_steps(
    slow: slice, at: slice, repair: str
) -> None:
    steps, days = both(slow, at)
    told = {row["repair"]: row for row in answer_repairs(steps).to_dicts()}
    kept = {row["repair"]: row for row in answer_repairs(days).to_dicts()}
    for name in ("everything", repair):
        assert kept[name] | OF_SCATTER == told[name] | OF_SCATTER
        for end in OF_SCATTER:
            assert float(kept[name][end]) == pytest.approx(float(told[name][end]))
    assert kept["data"]["method"] == "none"
    assert "kept by day" in kept["data"]["doubt"]


def asked(frames: Frames, *texts: str) -> tuple[dict[str, int], dict[str, str]]:
    """What some repairs save, and why others cannot be told."""
    repairs = [parse(text) for text in texts]
    rows, refused = answer_fixes(frames, "run", repairs, {})
    return dict(rows.select("repair", "saved_gpu_ns").rows()), refused


def test_what_cannot_be_told_of_days_has_its_reason() -> None:
    _, days = both()
    rows, refused = asked(days, "data", "host=unknown", "rank=3", "rank=40", "gc")
    assert rows == {}
    assert "kept by day" in refused["data"]
    assert "kept by day" in refused["rank=3"]
    assert refused["host=unknown"] == (
        "the run has hosts node-0, node-1, node-2, node-3"
    )
    assert refused["rank=40"] == "the run has ranks 0-31"
    assert "only a trace of operations" in refused["gc"]


def test_what_is_slow_for_too_few_steps_about_midnight_saves_nothing() -> None:
    _, days = both(steps=slice(590, 602))
    rows, refused = asked(days, "rank=7")
    assert rows == {}
    assert "kept by day" in refused["rank=7"]


def test_a_slow_rank_may_be_called_by_its_gpu() -> None:
    _, days = both()
    rows, refused = asked(days, "gpu=GPU-7", "rank=7", "host=node-0")
    assert list(refused) == ["host=node-0"]
    assert rows["gpu=GPU-7"] == rows["rank=7"] > 0


def test_a_rank_on_two_gpus_that_were_slow_is_both() -> None:
    rows = [
        {"scope": "gpu", "scope_id": name, "rank": 7} for name in ("GPU-a", "GPU-b")
    ]
    things = things_by_text(pl.DataFrame(rows), None)
    assert things["rank=7"] == things["gpu=GPU-a"] | things["gpu=GPU-b"]


def test_the_last_stage_may_be_called_so() -> None:
    rows = [{"scope": "stage", "scope_id": "3", "rank": None}]
    assert "stage=last" in things_by_text(pl.DataFrame(rows), 3)
    assert "stage=last" not in things_by_text(pl.DataFrame(rows), 4)


def test_a_run_of_which_one_rank_tells_waits_has_a_reason() -> None:
    log = step_log(healthy(16, 40, 1))
    waits = pl.when(pl.col("rank") == 0).then("wait_ns").alias("wait_ns")
    for rows in (log.filter(pl.col("rank") == 0), log.with_columns(waits)):
        day = condensed(rows, (Gpus, WHERE))
        frames = _found({table: kept.lazy() for table, kept in day.items()})
        told = {row["repair"]: row for row in answer_repairs(frames).to_dicts()}
        assert {row["method"] for row in told.values()} == {"none"}
        assert "nobody to be held against" in told["everything"]["doubt"]
        _, refused = asked(frames, "everything")
        assert "nobody to be held against" in refused["everything"]


def test_scores_of_days_are_those_of_the_steps() -> None:
    steps, days = both()
    one, other = score_sections(steps), score_sections(days)
    exact = ["rank", "individual_score", "lowest_individual_score", "reports_count"]
    for name in exact:
        assert other[name].to_list() == pytest.approx(one[name].to_list(), rel=1e-6)
    medians = other["median_ns"].to_list()
    assert medians == pytest.approx(one["median_ns"].to_list(), rel=0.005)
