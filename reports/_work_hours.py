"""Own work of ranks over a run whose steps are condensed, as a field of cells."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.rank_hours import RankHours
from analysis.step_rollups import StepRollups
from reports import _runs
from reports._section import About, Scope
from reports._work_grid import Grid, grid_of

ABOUT: Final = About(
    definition="Greatest of the ranks' medians over an hour of duration minus waiting,"
    " over the median of all ranks in the steps of the cell.",
    source="rollups by rank and hour, and by step",
    blind_spots="What lasts less than half an hour hardly moves the median of an hour;"
    " pipeline stages differ in work, so that a whole stage may look slow and is not.",
)

SQL: Final = """\
WITH typical AS (
  SELECT step // $width * $width AS from_step,
         median(typical_work_ns) AS typical_ns
  FROM step_rollups
  WHERE run_id = $run AND scope = 'rank' AND typical_work_ns IS NOT NULL
  GROUP BY ALL
), slowest AS (
  SELECT rank // $height * $height AS from_rank,
         first_step // $width * $width AS from_step,
         max(typical_work_ns) AS work_ns
  FROM rank_hours
  WHERE run_id = $run AND typical_work_ns IS NOT NULL
  GROUP BY ALL
)
SELECT from_rank, from_step, work_ns / typical_ns AS work_ratio
FROM slowest JOIN typical USING (from_step)
WHERE typical_ns > 0
ORDER BY from_rank, from_step"""


def grid(frames: Frames, scope: Scope) -> Grid | None:
    """Return how the dearest run is drawn whose condensed steps tell waits."""
    steps = _steps(frames)
    sizes = (
        scope.of_runs(steps)
        .group_by("run_id")
        .agg(
            ranks=pl.col("ranks").max(),
            steps=pl.col("step").n_unique(),
            first=pl.col("step").min(),
            last=pl.col("step").max(),
        )
        .filter(pl.col("ranks") > 1)
    )
    tops = frames[RankHours].group_by("run_id").agg(top=pl.col("rank").max() + 1)
    known = sizes.join(tops, on="run_id").collect(engine="streaming")
    return grid_of(known, _runs.order(frames, scope))


def cells(frames: Frames, of: Grid) -> pl.DataFrame:
    """Return the cells: from_rank, from_step and work_ratio. [1]"""
    is_mine = pl.col("run_id") == of.run_id
    bins = pl.col("step") // of.width * of.width
    typical = (
        _steps(frames)
        .filter(is_mine)
        .group_by(from_step=bins)
        .agg(typical=pl.col("typical_work_ns").median())
        .filter(pl.col("typical") > 0)
    )
    slowest = (
        frames[RankHours]
        .filter(is_mine & pl.col("typical_work_ns").is_not_null())
        .group_by(
            from_rank=pl.col("rank") // of.height * of.height,
            from_step=pl.col("first_step") // of.width * of.width,
        )
        .agg(work=pl.col("typical_work_ns").max())
    )
    ratio = pl.col("work") / pl.col("typical")
    told = slowest.join(typical, on="from_step").select(
        "from_rank", "from_step", work_ratio=ratio
    )
    return told.sort("from_rank", "from_step").collect(engine="streaming")


def _steps(frames: Frames) -> pl.LazyFrame:
    is_known = pl.col("typical_work_ns").is_not_null()
    return frames[StepRollups].filter((pl.col("scope") == "rank") & is_known)
