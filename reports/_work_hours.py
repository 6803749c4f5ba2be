"""Own work of ranks over a run whose steps are condensed, as a field of cells."""

from dataclasses import replace
from typing import Final

import polars as pl

from analysis import Frames
from analysis.rank_hours import RankHours
from analysis.step_rollups import StepRollups
from reports import _runs
from reports._section import About, Scope
from reports._work_grid import Grid, grid_of

#: Steps of an hour that tell something of a rank: the median of a few is what the
#: first step after a start took, or a single pause.
LEAST_STEPS: Final = 30

ABOUT: Final = About(
    definition="Greatest of the ranks' medians over an hour of duration minus waiting,"
    f" over the median of all ranks in that hour; hours of {LEAST_STEPS} steps and"
    " more.",
    source="rollups by rank and hour",
    blind_spots="What lasts less than half an hour hardly moves the median of an hour;"
    " pipeline stages differ in work, so that a whole stage may look slow and is not.",
)

SQL: Final = """\
WITH known AS (
  SELECT rank, attempt, hour_ns, first_step, typical_work_ns
  FROM rank_hours
  WHERE run_id = $run AND known_steps >= $least
), typical AS (
  SELECT attempt, hour_ns, median(typical_work_ns) AS typical_ns
  FROM known
  GROUP BY ALL
)
SELECT rank // $height * $height AS from_rank,
       first_step // $width * $width AS from_step,
       max(typical_work_ns / typical_ns) AS work_ratio
FROM known JOIN typical ON known.hour_ns = typical.hour_ns
  AND known.attempt IS NOT DISTINCT FROM typical.attempt
WHERE typical_ns > 0
GROUP BY ALL
ORDER BY from_rank, from_step""".replace("$least", str(LEAST_STEPS))


def grid(frames: Frames, scope: Scope) -> Grid | None:
    """Return how the dearest run is drawn whose condensed steps tell waits.

    A column is as many steps as an hour may have, or more: none is without an hour.
    """
    is_known = pl.col("typical_work_ns").is_not_null()
    steps = frames[StepRollups].filter((pl.col("scope") == "rank") & is_known)
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
    longest = (pl.col("last_step") - pl.col("first_step")).max() + 1
    tops = frames[RankHours].group_by("run_id").agg(top=pl.col("rank").max() + 1)
    hours = _known(frames).group_by("run_id").agg(least=longest)
    known = sizes.join(tops, on="run_id").join(hours, on="run_id")
    told = known.collect(engine="streaming")
    of = grid_of(told, _runs.order(frames, scope))
    if of is None:
        return None
    is_mine = pl.col("run_id") == of.run_id
    least = told.row(by_predicate=is_mine, named=True)["least"]
    return replace(of, width=max(of.width, least))


def cells(frames: Frames, of: Grid) -> pl.DataFrame:
    """Return the cells: from_rank, from_step and work_ratio. [1]"""
    hour = ("attempt", "hour_ns")
    known = _known(frames).filter(pl.col("run_id") == of.run_id)
    typical = known.group_by(hour).agg(typical=pl.col("typical_work_ns").median())
    ratio = pl.col("typical_work_ns") / pl.col("typical")
    told = (
        known.join(typical, on=hour, nulls_equal=True)
        .filter(pl.col("typical") > 0)
        .group_by(
            from_rank=pl.col("rank") // of.height * of.height,
            from_step=pl.col("first_step") // of.width * of.width,
        )
        .agg(work_ratio=ratio.max())
    )
    return told.sort("from_rank", "from_step").collect(engine="streaming")


def _known(frames: Frames) -> pl.LazyFrame:
    return frames[RankHours].filter(pl.col("known_steps") >= LEAST_STEPS)
