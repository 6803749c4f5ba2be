"""The search for stragglers, from steps to names, costs and causes."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._straggler_costs import Costs, cost_of
from analysis._straggler_dates import date
from analysis._straggler_joint import with_joint_spells
from analysis._straggler_limits import Limits
from analysis._straggler_losses import totals_of
from analysis._straggler_operated import operated_seats
from analysis._straggler_portions import Steps
from analysis._straggler_scopes import widest_names
from analysis._straggler_scores import blocks_of
from analysis._straggler_seats import seats_near, seats_of
from analysis._straggler_sources import gather
from analysis._straggler_spells import find_spells
from analysis._straggler_tests import judge
from analysis._straggler_things import NAME, RANK, blocks_of_things, cover_ranks
from analysis._straggler_work import PORTION_ROWS, plan_portions
from analysis._unlike_traces import of_one_run
from analysis.gpus import Gpus
from ingest.tables import Operations

_UNIT: Final = ["rank", "unit_scope", "unit"]


@dataclass(frozen=True, slots=True)
class Search:
    """What was compared, and what was found slow.

    Attributes:
        steps: The steps of ranks, to be read in portions.
        sources: Where the steps of each run come from, and what that cannot tell.
        totals: What each step took and what slow things cost in it.
        blocks: Blocks of ranks with enough peers.
        cover: Which things each rank belongs to.
        judged: What the test says of each thing.
        slow: Spells of slow things, with their bounds.
        costs: What each spell costs alone, and when each of its ranks was slow.
    """

    steps: Steps
    sources: pl.DataFrame
    totals: pl.DataFrame
    blocks: pl.DataFrame
    cover: pl.DataFrame
    judged: pl.DataFrame
    slow: pl.DataFrame
    costs: Costs


def search(frames: Frames, limits: Limits, portion_rows: int = PORTION_ROWS) -> Search:
    """Compare all ranks with their peers, name the slow and count what they cost."""
    sources = gather(frames)
    steps = _steps(frames, sources.steps, limits, portion_rows)
    ranks, stages, totals = _compare(steps)
    compared = ranks.select(*RANK, "unit_scope", "unit").unique()
    cover = cover_ranks(compared, steps.seats, limits.min_peers)
    blocks = blocks_of_things(ranks, stages, cover)
    tested = cover.filter("is_tested").select("thing", *NAME).unique()
    judged = judge(blocks, tested, limits)
    spells = with_joint_spells(find_spells(blocks, judged, limits), cover)
    slow = date(steps.near, widest_names(spells, blocks, cover, judged), cover)
    costs = cost_of(steps, slow, cover, totals)
    return Search(steps, sources.runs, costs.totals, ranks, cover, judged, slow, costs)


def _steps(
    frames: Frames, steps: pl.LazyFrame, limits: Limits, portion_rows: int
) -> Steps:
    plan = plan_portions(steps, limits.block_steps, portion_rows)
    told = operated_seats(of_one_run(frames[Operations]))
    seats = seats_of(seats_near(frames[Gpus], steps, plan), told)
    return Steps(steps, plan, seats, limits)


def _compare(steps: Steps) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return blocks of ranks, blocks of stages and totals of steps."""
    ranks, stages, totals = [], [], []
    for units, of_stages in steps.portions():
        ranks.append(blocks_of(units, _UNIT))
        stages.append(blocks_of(of_stages, ["stage"]))
        totals.append(totals_of(units.with_columns(repaired_ns="work_ns")))
    return pl.concat(ranks), pl.concat(stages), pl.concat(totals)
