"""What the straggler test could have seen in a run whose steps are kept by day."""

import polars as pl

from analysis._analysis import Frames
from analysis._straggler_day_tables import StragglerDays, StragglerDaysRanks
from analysis._straggler_sources import CANNOT_TELL, DP_CANNOT_TELL, LOG


def joined_tests(frames: Frames, steps: pl.DataFrame, runs: list[str]) -> pl.DataFrame:
    """Return rows of StragglerTests.

    Args:
        frames: Tables of days.
        steps: Joined steps.
        runs: Runs whose steps are kept by day.
    """
    rank = pl.col("rank")
    ranks = (
        frames[StragglerDaysRanks]
        .group_by("run_id")
        .agg(
            ranks_told=rank.n_unique().cast(pl.Int64),
            ranks_tested=rank.filter("is_tested").n_unique().cast(pl.Int64),
        )
        .collect(engine="streaming")
    )
    days = (
        frames[StragglerDays]
        .group_by("run_id")
        .agg(
            pl.col("ranks_seen", "ranks_compared", "sees_replicas").max(),
            pl.col("smallest_visible_ratio", "shortest_spell_count").max(),
        )
        .collect(engine="streaming")
    )
    counts = steps.group_by("run_id").agg(steps_tested=pl.len().cast(pl.Int64))
    every = pl.DataFrame({"run_id": runs}, schema={"run_id": pl.String})
    for told in (ranks, days, counts):
        every = every.join(told, on="run_id", how="left")
    seen = pl.max_horizontal("ranks_seen", "ranks_told")
    sees_less = pl.when("sees_replicas").then(pl.lit(DP_CANNOT_TELL))
    return every.with_columns(
        pl.col("ranks_tested", "steps_tested").fill_null(0),
        ranks_untested=(seen - pl.col("ranks_tested").fill_null(0)).clip(0),
        source=pl.lit(LOG),
        cannot_tell=sees_less.otherwise(pl.lit(CANNOT_TELL[LOG])),
        verdict=_verdict(),
    )


def _verdict() -> pl.Expr:
    return (
        pl.when(pl.col("ranks_tested") > 0)
        .then(pl.lit("tested"))
        .when(pl.col("ranks_compared") > 0)
        .then(pl.lit("too_few_steps"))
        .otherwise(pl.lit("too_few_peers"))
    )
