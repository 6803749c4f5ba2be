"""How much slower than its peers what is repaired was: the least that is not scatter.

A saving alone does not tell: of many healthy workers one is slowest in each step, and
a pipeline waits for it. What is slow step after step has more work than its peers.
"""

from typing import Final

import polars as pl

from analysis._replay_kinds import PASSES
from analysis._replay_steps import Replay
from analysis._straggler_limits import GATE_SDS, MIN_PEERS
from analysis._whatif_claims import Effect
from analysis.robust import MAD_TO_SD, leave_one_out_median

_OWN: Final = pl.col("own_ns").cast(pl.Float64)


def of_ranks(replay: Replay, ranks: pl.DataFrame) -> Effect | None:
    """Return the effect of the slowest of some ranks; None where none is known.

    The passes of a rank in a step over the median of the other ranks' of its stage; of
    the steps the median.

    Args:
        replay: A trace.
        ranks: Column `rank`.
    """
    effects = _of_workers(_works(replay))
    return _told(effects.join(ranks.select("rank"), on="rank", how="semi"), effects)


def of_stage(replay: Replay, stage: int) -> Effect | None:
    """Return the effect of a stage, held against the others; None where none is.

    Args:
        replay: A trace.
        stage: The stage.
    """
    works = _works(replay)
    stages = works.group_by("step", "pp_rank").agg(pl.col("work").median())
    found = _over_peers(stages, ["step"], "pp_rank")
    return _told(found.filter(pl.col("pp_rank") == stage), _of_workers(works))


def _told(some: pl.DataFrame, workers: pl.DataFrame) -> Effect | None:
    """Return the greatest effect of some, beside the scatter of all workers."""
    most = some["effect"].max()
    if most is None:
        return None
    from_median = (pl.col("effect") - pl.col("effect").median()).abs().median()
    mad = workers.select(from_median).item() if workers.height >= MIN_PEERS else None
    return Effect(float(str(most)), 1 + GATE_SDS * MAD_TO_SD * (mad or 0.0))


def _works(replay: Replay) -> pl.DataFrame:
    """Return `work` of each rank and step: the sum of its passes. [ns]"""
    return _passes(replay).group_by("step", "pp_rank", "rank").agg(work=_OWN.sum())


def _of_workers(works: pl.DataFrame) -> pl.DataFrame:
    return _over_peers(works, ["step", "pp_rank"], "rank")


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
