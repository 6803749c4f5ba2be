"""What the slow things of a day cost: their steps read again, the others' summed up."""

from typing import Final

import polars as pl

from analysis._straggler_costs import KINDS, Costs, about, hull, spans_of, sums_of
from analysis._straggler_day_edges import IS_SHORT, with_edge_costs, without_edges
from analysis._straggler_day_near import DaySteps
from analysis._straggler_losses import losses_among, priced, with_repairs
from analysis._straggler_things import RANK

_STEP: Final = ["attempt", "step"]


def cost_of_day(
    steps: DaySteps,
    slow: pl.DataFrame,
    cover: pl.DataFrame,
    totals: pl.DataFrame,
    normal: float,
) -> tuple[Costs, pl.DataFrame]:
    """Take the steps of spells again with slow things at their peers' median.

    Args:
        steps: Steps of the day.
        slow: Spells, dated, with their `edge`.
        cover: Which things each rank belongs to.
        totals: What each step took, with nothing repaired.
        normal: Slowdown that is normal. [1]

    Returns:
        What `cost_of` does, steps with what `with_edge_costs` adds: short spells at
        edges of the day do not count in them yet. And what each spell alone cost in
        each step.
    """
    if slow.is_empty():
        unrepaired = totals.with_columns(repaired_ns="slowest_work_ns")
        nothing = pl.DataFrame()
        totals = without_edges(priced(unrepaired))
        return Costs(totals, nothing, nothing), nothing
    bounds = slow.select("spell", "thing", "moment_from", "moment_to", "edge")
    is_stage = (pl.col("scope") == "stage").alias("is_stage")
    ranks = cover.select(*RANK, "thing", is_stage).join(bounds, on="thing")
    wanted = ranks["rank"].unique().sort().cast(pl.Int64).to_numpy()
    long_ones = ranks.filter(~IS_SHORT)
    repaired, sure, losses, spans = [], [], [], []
    for near in steps.near(about(slow), wanted):
        rows = with_repairs(near.units, near.stages, ranks)
        repaired.append(_repaired(rows, near.others))
        if long_ones.height < ranks.height:
            kept = with_repairs(near.units, near.stages, long_ones)
            sure.append(_repaired(kept, near.others))
        losses += [losses_among(rows, near.others, *kind) for kind in KINDS]
        spans += [spans_of(rows, spell) for spell, _ in KINDS]
    every = pl.concat(losses)
    told = _together(totals, pl.concat(repaired))
    of_long = _together(totals, pl.concat(sure)) if sure else told
    costs = Costs(
        with_edge_costs(of_long, told, every, slow),
        sums_of(every, normal),
        hull(pl.concat(spans)),
    )
    return costs, every


def _repaired(rows: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Return each step's slowest work once all slow things are repaired. [ns]"""
    most = rows.group_by(_STEP).agg(pl.col("repaired_ns").max())
    told = others.join(most, on=_STEP, how="left")
    work = pl.max_horizontal("repaired_ns", "others_ns")
    return told.select(*_STEP, repaired_ns=work)


def _together(totals: pl.DataFrame, repaired: pl.DataFrame) -> pl.DataFrame:
    told = totals.join(repaired, on=_STEP, how="left")
    work = pl.coalesce("repaired_ns", "slowest_work_ns")
    return priced(told.with_columns(repaired_ns=work))
