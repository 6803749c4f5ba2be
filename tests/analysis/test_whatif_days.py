"""Scores and repairs of runs whose steps are kept by day are those of their steps."""

from typing import Final

import polars as pl
import pytest

from analysis import Frames
from analysis.gpus import Gpus
from analysis.section_scores import score_sections
from analysis.straggler_days import ROLLUP
from analysis.stragglers import StragglerRanks, find_stragglers
from analysis.whatif import answer_repairs
from ingest.tables import StepTimings, Table
from tests.analysis.condensed import condensed
from tests.analysis.fleets import healthy, seats, step_log

WHERE = seats(32, lambda rank: {"host": f"node-{rank // 8}", "gpu_uuid": f"GPU-{rank}"})

#: What the scatter of steps comes to, which days keep by stretches.
OF_SCATTER: Final = {"saved_low_gpu_ns": None, "saved_high_gpu_ns": None}


def both(slow: slice = slice(7, 8)) -> tuple[Frames, Frames]:
    """A run whose ranks are slow for a while, by its steps and by two days."""
    work = healthy(32, 1200, 1)
    work[300:900, slow] *= 1.1
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
    ("slow", "repair"), [(slice(7, 8), "rank=7"), (slice(8, 16), "host=node-1")]
)
def test_repairs_of_days_are_those_of_the_steps(slow: slice, repair: str) -> None:
    steps, days = both(slow)
    told = {row["repair"]: row for row in answer_repairs(steps).to_dicts()}
    kept = {row["repair"]: row for row in answer_repairs(days).to_dicts()}
    for name in ("everything", repair):
        assert kept[name] | OF_SCATTER == told[name] | OF_SCATTER
    assert kept["data"]["method"] == "none"
    assert "kept by day" in kept["data"]["doubt"]


def test_scores_of_days_are_those_of_the_steps() -> None:
    steps, days = both()
    one, other = score_sections(steps), score_sections(days)
    exact = ["rank", "individual_score", "lowest_individual_score", "reports_count"]
    for name in exact:
        assert other[name].to_list() == pytest.approx(one[name].to_list(), rel=1e-6)
    medians = other["median_ns"].to_list()
    assert medians == pytest.approx(one["median_ns"].to_list(), rel=0.005)
