"""A second look at the steps, once it is known what is slow."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._straggler_losses import losses_of, totals_of, with_repairs
from analysis._straggler_portions import Steps
from analysis._straggler_things import RANK

#: Kinds of spells of a rank, each with the column of its slowdown.
KINDS: Final = (("unit_spell", "ratio"), ("stage_spell", "stage_ratio"))

_STEP: Final = ("run_id", "attempt", "step")


@dataclass(frozen=True, slots=True)
class Costs:
    """What slow things cost.

    Attributes:
        totals: Of each step, with all of them repaired together.
        losses: Of each spell alone: its slowdown, first, last and late steps, and loss.
        spans: When each of its ranks was slow: `spell`, RANK, `from_ns`, `to_ns`.
    """

    totals: pl.DataFrame
    losses: pl.DataFrame
    spans: pl.DataFrame


def cost_of(
    steps: Steps, slow: pl.DataFrame, cover: pl.DataFrame, totals: pl.DataFrame
) -> Costs:
    """Take the steps of spells again with slow things at their peers' median.

    Args:
        steps: Steps of ranks.
        slow: Spells, dated.
        cover: Which things each rank belongs to.
        totals: What each step took, with nothing repaired.
    """
    if slow.is_empty():
        return Costs(totals, pl.DataFrame(), pl.DataFrame())
    bounds = slow.select("spell", "thing", "moment_from", "moment_to")
    is_stage = (pl.col("scope") == "stage").alias("is_stage")
    ranks = cover.select(*RANK, "thing", is_stage).join(bounds, on="thing")
    repaired, losses, spans = [], [], []
    for units, stages in steps.near(about(slow)):
        rows = with_repairs(units, stages, ranks)
        repaired.append(totals_of(rows))
        losses += [losses_of(rows, spell, ratio) for spell, ratio in KINDS]
        spans += [spans_of(rows, spell) for spell, _ in KINDS]
    taken = pl.concat(repaired)
    others = totals.join(taken, on=list(_STEP), how="anti")
    sums = sums_of(pl.concat(losses), steps.limits.null_ratio)
    return Costs(pl.concat([others, taken]), sums, hull(pl.concat(spans)))


def about(slow: pl.DataFrame) -> pl.DataFrame:
    """Return the blocks that dated spells may reach into."""
    first = pl.min_horizontal("place_from", "before_first")
    last = pl.max_horizontal("place_to", "after_last")
    return slow.select("run_id", place_from=first, place_to=last)


def spans_of(rows: pl.DataFrame, spell: str) -> pl.DataFrame:
    """Return when each rank of a spell was slow: `spell`, RANK and its bounds."""
    slow = rows.filter(pl.col(spell).is_not_null())
    end = pl.col("start_ns") + pl.col("duration_ns")
    return slow.select(*RANK, spell=spell, from_ns="start_ns", to_ns=end).pipe(hull)


def hull(spans: pl.DataFrame) -> pl.DataFrame:
    """Return the first and last moment of each rank of a spell."""
    return spans.group_by("spell", *RANK).agg(
        pl.col("from_ns").min(), pl.col("to_ns").max()
    )


def sums_of(losses: pl.DataFrame, normal: float) -> pl.DataFrame:
    """Return what each spell costs, from its losses in steps."""
    late = (pl.col("ratio") > normal).cast(pl.Int64)
    # sums of decimals depend on their order
    ordered = losses.sort("spell", "attempt", "step")
    return ordered.group_by("spell", maintain_order=True).agg(
        attempt=pl.col("attempt").min(),
        first_step=pl.col("step").min(),
        last_step=pl.col("step").max(),
        slowdown_ratio=pl.col("ratio").median(),
        steps_late=late.sum(),
        lost_gpu_ns=pl.col("lost_gpu_ns").sum(),
        excess_ns=pl.col("excess_ns").sum(),
        excess_data_ns=_sum_if_told("excess_data_ns"),
        excess_transfer_ns=_sum_if_told("excess_transfer_ns"),
        step_rows=pl.col("step_rows").sum(),
    )


def _sum_if_told(name: str) -> pl.Expr:
    """Return a sum that is null where no step tells a part of it. [ns]"""
    return pl.when(pl.col(name).is_not_null().any()).then(pl.col(name).sum())
