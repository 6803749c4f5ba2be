"""Steps of the days of a run joined: each is one, whatever days have of it."""

from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._straggler_day_tables import StragglerDaysRanks, StragglerDaysSteps
from analysis._straggler_joined import kept_edges

_STEP: Final = ["run_id", "attempt", "step"]

_EDGE: Final = ["run_id", "day", "edge"]


def joined_steps(frames: Frames) -> pl.DataFrame:
    """Return rows of StragglerSteps; a step that two days have a part of is one.

    Where days have more ranks of a step than its attempt has, it was done again: of
    those with most ranks the first day counts.
    """
    kept = frames[StragglerDaysSteps].collect(engine="streaming")
    rows = _with_edges(kept, kept_edges(frames))
    if rows.select(_STEP).n_unique() == rows.height:
        return rows.drop("day")
    is_one = pl.len().over(_STEP) == 1
    told = rows.with_columns(is_one=is_one)
    ranks = frames[StragglerDaysRanks].group_by("run_id", "attempt")
    counts = ranks.agg(ranks=pl.col("rank").n_unique().cast(pl.Int64))
    several = told.filter(~pl.col("is_one")).join(
        counts.collect(engine="streaming"), on=["run_id", "attempt"], how="left"
    )
    seen = pl.col("ranks_seen").sum().over(_STEP)
    is_again = (seen > pl.col("ranks")).fill_null(value=False)
    again = several.filter(is_again).sort(
        *_STEP, "ranks_seen", "day", descending=[False] * 3 + [True, False]
    )
    joined = [
        told.filter("is_one"),
        again.unique(_STEP, keep="first", maintain_order=True),
        _parts_joined(several.filter(~is_again)),
    ]
    columns = [name for name in rows.columns if name != "day"]
    return pl.concat([part.select(columns) for part in joined]).sort(_STEP)


def _parts_joined(parts: pl.DataFrame) -> pl.DataFrame:
    ordered = parts.sort(*_STEP, "slowest_work_ns", "slowest_rank")
    return ordered.group_by(_STEP, maintain_order=True).agg(
        pl.col("slowest_rank", "slowest_work_ns").last(),
        pl.col("typical_work_ns", "even_work_ns").sort_by("ranks_seen").last(),
        pl.col("longest_ns").max(),
        pl.col("ranks_seen", "lost_gpu_ns", "jitter_gpu_ns").sum(),
    )


def _with_edges(steps: pl.DataFrame, edges: pl.DataFrame) -> pl.DataFrame:
    """Let short spells count in the costs of steps where they go on beyond midnight.

    Of an edge at which one does, all are in the costs of its few steps.
    """
    names = ("lost_gpu_ns", "jitter_gpu_ns")
    told = edges.select(*_EDGE).unique().with_columns(counts=pl.lit(value=True))
    marked = steps.join(told, on=_EDGE, how="left", maintain_order="left")
    costs = [
        pl.when("counts").then(pl.coalesce(f"edge_{name}", name)).otherwise(name)
        for name in names
    ]
    told_costs = [cost.alias(name) for cost, name in zip(costs, names, strict=True)]
    return marked.with_columns(told_costs).drop(
        "counts", "edge", *(f"edge_{name}" for name in names)
    )
