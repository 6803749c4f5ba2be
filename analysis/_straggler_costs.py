"""A second look at the steps, once it is known what is slow."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._straggler_losses import losses_of, totals_of, with_repairs
from analysis._straggler_portions import Steps
from analysis._straggler_things import RANK

_KINDS: Final = (("unit_thing", "ratio"), ("stage_thing", "stage_ratio"))


@dataclass(frozen=True, slots=True)
class Costs:
    """What slow things cost.

    Attributes:
        totals: Of each step, with all of them repaired together.
        losses: Of each slow thing alone: its late steps and its loss.
        spans: When each of its ranks was slow: `thing`, RANK, `from_ns`, `to_ns`.
    """

    totals: pl.DataFrame
    losses: pl.DataFrame
    spans: pl.DataFrame


def cost_of(steps: Steps, slow: pl.DataFrame, cover: pl.DataFrame) -> Costs:
    """Take the steps again with slow things at their peers' median."""
    bounds = slow.select("thing", "place_from", "place_to")
    is_stage = (pl.col("scope") == "stage").alias("is_stage")
    ranks = cover.select(*RANK, "thing", is_stage).join(bounds, on="thing")
    totals, losses, spans = [], [], []
    for units, stages in steps.portions() if slow.height else ():
        rows = with_repairs(units, stages, ranks)
        totals.append(totals_of(rows))
        losses += [losses_of(rows, thing, ratio) for thing, ratio in _KINDS]
        spans += [_spans(rows, thing) for thing, _ in _KINDS]
    if not totals:
        return Costs(pl.DataFrame(), pl.DataFrame(), pl.DataFrame())
    normal = steps.limits.null_ratio
    return Costs(
        pl.concat(totals), _sums(pl.concat(losses), normal), _hull(pl.concat(spans))
    )


def _spans(rows: pl.DataFrame, thing: str) -> pl.DataFrame:
    slow = rows.filter(pl.col(thing).is_not_null())
    end = pl.col("start_ns") + pl.col("duration_ns")
    return slow.select(*RANK, thing=thing, from_ns="start_ns", to_ns=end).pipe(_hull)


def _hull(spans: pl.DataFrame) -> pl.DataFrame:
    return spans.group_by("thing", *RANK).agg(
        pl.col("from_ns").min(), pl.col("to_ns").max()
    )


def _sums(losses: pl.DataFrame, normal: float) -> pl.DataFrame:
    late = (pl.col("ratio") > normal).cast(pl.Int64)
    return losses.group_by("thing").agg(
        steps_late=late.sum(),
        lost_gpu_ns=pl.col("lost_gpu_ns").sum(),
        excess_ns=pl.col("excess_ns").sum(),
        excess_data_ns=pl.col("excess_data_ns").sum(),
    )
