"""How much slower than its peers what is repaired was: the least that is not scatter.

A saving alone does not tell: of many healthy workers one is slowest in each step, and
a pipeline waits for it. What is slow step after step has more work than its peers.
"""

from typing import Final

import polars as pl

from analysis._replay_kinds import PASSES
from analysis._replay_steps import Replay
from analysis.robust import leave_one_out_median

_OWN: Final = pl.col("own_ns").cast(pl.Float64)


def worker_effects(replay: Replay) -> pl.DataFrame:
    """Return `rank` and `effect`: its passes over those of its peers in the stage. [1]

    Of each step the sum over its passes, over the median of the other ranks' sums;
    of the steps the median.

    Args:
        replay: A trace.
    """
    works = _passes(replay).group_by("step", "pp_rank", "rank").agg(work=_OWN.sum())
    return _over_peers(works, ["step", "pp_rank"], "rank")


def stage_effect(replay: Replay, stage: int) -> float | None:
    """Return the work of a stage over that of the others; None where none is. [1]

    Args:
        replay: A trace.
        stage: The stage.
    """
    works = _passes(replay).group_by("step", "pp_rank", "rank").agg(work=_OWN.sum())
    stages = works.group_by("step", "pp_rank").agg(pl.col("work").median())
    found = _over_peers(stages, ["step"], "pp_rank")
    return of_some(found.filter(pl.col("pp_rank") == stage))


def of_some(effects: pl.DataFrame) -> float | None:
    """Return the greatest effect of some; None where none is known. [1]"""
    most = effects["effect"].max()
    return None if most is None else float(str(most))


def _passes(replay: Replay) -> pl.DataFrame:
    return replay.operations.filter(pl.col("kind").cast(pl.String).is_in(PASSES))


def _over_peers(works: pl.DataFrame, cell: list[str], thing: str) -> pl.DataFrame:
    cells = works.select(cell).unique().sort(cell).with_row_index("cell")
    placed = works.join(cells, on=cell)
    compared = leave_one_out_median(placed, "cell", "work")
    known = compared.filter(pl.col("peers_median") > 0)
    ratio = pl.col("work") / pl.col("peers_median")
    effects = known.group_by(thing).agg(effect=ratio.median())
    return effects.sort(thing)
