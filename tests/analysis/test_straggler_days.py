"""A day that is condensed tells of stragglers what its steps do."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from analysis.gpus import Gpus
from analysis.straggler_days import (
    StragglerDays,
    StragglerDaysRanks,
    StragglerDaysSpells,
    StragglerDaysSteps,
)
from analysis.stragglers import StragglerRanks, StragglerSteps
from ingest.tables import StepTimings
from tests.analysis.condensed import condensed
from tests.analysis.fleets import Times, found, healthy, seats, step_log

_SPELL = ["scope", "scope_id", "attempt", "first_step", "last_step", "steps_late"]
_STEP = ["attempt", "step", "slowest_rank", "slowest_work_ns", "typical_work_ns"]
_STEP += ["ranks_seen", "lost_gpu_ns", "jitter_gpu_ns"]


def placed(ranks: int, stages: int = 1) -> pl.DataFrame:
    """Seats: eight ranks a host, two hosts a rack, ranks of a stage side by side."""
    return seats(
        ranks,
        lambda rank: {
            "host": f"node-{rank // 8}",
            "rack": f"rack-{rank // 16}",
            "gpu_uuid": f"GPU-{rank}",
            "pp_rank": rank * stages // ranks,
        },
    )


def several() -> Times:
    """A slow GPU for ever, one for 60 steps, and a slow host for a while."""
    work = healthy(64, 600, 3)
    work[:, 5] *= 1.08
    work[200:260, 40] *= 1.1
    work[100:400, 16:24] *= 1.06
    return work


def same(log: pl.DataFrame, where: pl.DataFrame | None = None, **told: Any) -> None:
    """Assert that a day tells what the steps do."""
    others = () if where is None else ((Gpus, where),)
    steps, day = found((StepTimings, log), *others), condensed(log, *others, **told)
    spells = day[StragglerDaysSpells].select(_SPELL).sort(_SPELL)
    assert spells.equals(steps[StragglerRanks].select(_SPELL).sort(_SPELL))
    lost = day[StragglerDaysSpells].sort(_SPELL)["lost_gpu_ns"].to_list()
    assert lost == steps[StragglerRanks].sort(_SPELL)["lost_gpu_ns"].to_list()
    totals = day[StragglerDaysSteps].select(_STEP).sort(_STEP[:2])
    assert totals.equals(steps[StragglerSteps].select(_STEP).sort(_STEP[:2]))


@pytest.mark.parametrize("stages", [1, 4])
def test_a_day_finds_dates_and_prices_what_its_steps_do(stages: int) -> None:
    same(step_log(several()), placed(64, stages))


def test_a_slow_stage_is_found_and_priced() -> None:
    work = healthy(80, 300, 4, stages=1)
    work[120:220, 48:64] *= 1.2
    same(step_log(work), placed(80, 5))


def test_ranks_that_are_missing_go_the_general_way() -> None:
    log = step_log(several())
    lost = (pl.col("rank") == 9) & (pl.col("step") % 7 == 3)
    same(log.filter(~lost), placed(64, 4))


def test_attempts_are_placed_by_time_and_steps_may_come_twice() -> None:
    log = step_log(several())
    again = log.filter(pl.col("step") < 20).with_columns(pl.col("start_ns") + 5)
    same(pl.concat([log, again]), placed(64))


def test_a_day_without_waits_says_so() -> None:
    log = step_log(healthy(16, 40, 1)).with_columns(wait_ns=pl.lit(None, pl.Int64))
    (row,) = condensed(log)[StragglerDays].to_dicts()
    assert (row["ranks_seen"], row["steps_tested"], row["first_step"]) == (16, 0, None)


def test_each_rank_keeps_its_median_ratio() -> None:
    work = healthy(16, 300, 2)
    work[:, 3] *= 1.1
    rows = condensed(step_log(work))[StragglerDaysRanks].sort("rank")
    others = np.delete(work, 3, axis=1)
    ratio = np.median(work[:, 3] / np.median(others, axis=1))
    assert rows["slowdown_ratio"][3] == pytest.approx(ratio, rel=1e-3)
    assert rows["blocks_count"].to_list() == [30] * 16
