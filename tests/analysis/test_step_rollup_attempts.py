"""Attempts, pauses and GPUs of rollups are those of the rows that they are made of.

Where rows of a large share of the ranks are missing, raw rows tell more: which ranks
went back. Of those no more is asked than that the totals are right.
"""

import polars as pl
from hypothesis import given

from analysis import Frames, attempts, gpus, runs
from analysis._step_rollup_means import mean_steps
from analysis.attempts import Attempts, StepPauses
from analysis.gpus import Gpus
from analysis.rank_hours import RankHours
from analysis.step_rollups import StepRollups
from ingest.tables import StepTimings, Table
from tests.analysis.drawn_steps import step_logs
from tests.analysis.test_step_rollups import by_day, rolled


def found(tables: dict[type[Table], pl.LazyFrame]) -> dict[type[Table], pl.DataFrame]:
    """What the first analyses say of some tables."""
    known = dict(tables)
    for one in (attempts.ANALYSIS, runs.ANALYSIS, gpus.ANALYSIS):
        results = one.compute(Frames(known), one.thresholds)
        known |= {table: rows.lazy() for table, rows in results.items()}
    return {
        table: known[table].collect().sort(table.key)
        for table in (Attempts, StepPauses, Gpus)
    }


@given(step_logs(is_whole=True))
def test_they_are_those_of_the_rows(log: pl.DataFrame) -> None:
    kept = rolled(by_day(log))
    raw = found({StepTimings: log.lazy()})
    condensed = found(
        {
            StepTimings: mean_steps(kept[StepRollups].lazy()),
            StepRollups: kept[StepRollups].lazy(),
            RankHours: kept[RankHours].lazy(),
        }
    )
    for table, rows in raw.items():
        assert rows.to_dicts() == condensed[table].to_dicts()
