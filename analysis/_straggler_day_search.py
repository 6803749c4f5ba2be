"""The search for stragglers in one run and day, from raw rows to costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from analysis._analysis import Frames
from analysis._rollup import Day
from analysis._straggler_costs import Costs
from analysis._straggler_dates import date
from analysis._straggler_day_blocks import Blocks, blocks_of_day
from analysis._straggler_day_costs import cost_of_day
from analysis._straggler_day_edges import FIRST, LAST, edges_of, with_edges
from analysis._straggler_day_general import compare_rows
from analysis._straggler_day_grid import Places
from analysis._straggler_day_near import DaySteps
from analysis._straggler_day_pass import TOTALS, UNITS, Compared, Ready, compare
from analysis._straggler_day_pieces import pieces
from analysis._straggler_day_rows import Seated
from analysis._straggler_day_stats import may_be_slow, statistics_of
from analysis._straggler_day_tiles import Sizes
from analysis._straggler_joint import with_joint_spells
from analysis._straggler_limits import Limits
from analysis._straggler_operated import operated_seats
from analysis._straggler_scopes import widest_names
from analysis._straggler_seats import seats_of
from analysis._straggler_spells import find_spells
from analysis._straggler_stretches import WINDOW_BLOCKS
from analysis._straggler_tests import judge_statistics
from analysis._straggler_things import NAME, cover_ranks, parts_of
from analysis._threads import in_threads
from analysis._unlike_traces import of_one_run
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from ingest.tables import Operations


@dataclass(frozen=True, slots=True)
class DaySearch:
    """What was compared on a day, and what was found slow.

    Attributes:
        compared: What is kept of each piece.
        blocks: Blocks of things.
        seats: Where ranks sit.
        cover: Which things each rank belongs to.
        judged: What the test of the day says of each thing.
        slow: Spells of slow things, dated; `edge` of those too short by themselves.
        costs: What they cost.
        losses: What each cost in each step.
        limits: What counts as slow.
        unseen: Ranks that told of steps, but maybe not of waits.
    """

    compared: list[Compared]
    blocks: Blocks
    seats: pl.DataFrame
    cover: pl.DataFrame
    judged: pl.DataFrame
    slow: pl.DataFrame
    costs: Costs
    losses: pl.DataFrame
    limits: Limits
    unseen: frozenset[int]

    def reach(self) -> pl.DataFrame:
        """Return whether each spell was there from the day's first blocks, to its last.

        Returns:
            Columns `spell`, `is_from_before` and `is_going_on`.
        """
        places = self.blocks.columns["place"]
        begun = places[min(WINDOW_BLOCKS, len(places)) - 1]
        open_ = places[-min(WINDOW_BLOCKS, len(places))]
        from_before = (pl.col("place_from") <= begun) & (pl.col("edge") != LAST)
        going_on = (pl.col("place_to") >= open_) & (pl.col("edge") != FIRST)
        return self.slow.select(
            "spell", is_from_before=from_before, is_going_on=going_on
        )


def search_day(day: Day, frames: Frames, limits: Limits, sizes: Sizes) -> DaySearch:
    """Compare all ranks of a run and day, name the slow and count what they cost.

    Args:
        day: The raw rows.
        frames: Seats, attempts and operations.
        limits: What counts as slow.
        sizes: How steps are brought together.
    """
    told = operated_seats(of_one_run(frames[Operations]))
    seats = seats_of(frames[Gpus], told).filter(pl.col("run_id") == day.owner)
    unseen: set[int] = set()
    compared = _compared(day, frames[Attempts], seats, sizes, unseen)
    ranks = _units(compared, day.owner)
    cover = cover_ranks(ranks, seats, limits.min_peers)
    blocks = blocks_of_day(compared, cover)
    tested = cover.filter("is_tested").select("thing", *NAME).unique()
    judged = judge_statistics(statistics_of(blocks, tested), limits)
    spells = _spells(blocks, judged, cover, limits)
    seated = Seated(day.owner, seats, sizes)
    steps = DaySteps(day, frames[Attempts], blocks.columns, seated)
    dated = date(partial(_near, steps, spells, cover), spells, cover)
    slow = with_edges(dated, blocks.columns)
    totals = pl.concat([pl.DataFrame(schema=TOTALS), *(one.totals for one in compared)])
    costs, losses = cost_of_day(steps, slow, cover, totals, limits.null_ratio)
    return DaySearch(
        compared,
        blocks,
        seats,
        cover,
        judged,
        slow,
        costs,
        losses,
        limits,
        frozenset(unseen),
    )


def _compared(
    day: Day,
    attempts: pl.LazyFrame,
    seats: pl.DataFrame,
    sizes: Sizes,
    unseen: set[int],
) -> list[Compared]:
    places: dict[int, Places] = {}

    general = partial(compare_rows, owner=day.owner, seats=seats, sizes=sizes)

    def of_piece(ready: Ready) -> Compared:
        attempt = ready.piece.attempt
        if attempt not in places:
            places[attempt] = Places.of(seats, attempt)
        return compare(ready, places[attempt], sizes, general)

    every = map(Ready.of, pieces(day, attempts, sizes.unit, unseen))
    return list(in_threads(of_piece, every, day.jobs))


def _units(compared: list[Compared], run_id: str) -> pl.DataFrame:
    empty = pl.DataFrame(schema={"attempt": pl.Int32, **UNITS})
    attempts = [
        one.units.select(pl.lit(one.attempt, pl.Int32).alias("attempt"), *UNITS)
        for one in compared
    ]
    every = pl.concat([empty, *attempts]).unique().sort("attempt", "rank")
    return every.select(pl.lit(run_id).alias("run_id"), "attempt", *UNITS)


def _spells(
    blocks: Blocks, judged: pl.DataFrame, cover: pl.DataFrame, limits: Limits
) -> pl.DataFrame:
    """Return spells of slow things, from the blocks of those that may have one."""
    things = may_be_slow(blocks, judged)
    wholes = pl.concat([parts_of(cover, "gpu", whole) for whole in ("host", "rack")])
    parts = wholes.filter(pl.col("whole").is_in(things.tolist()))["part"]
    wanted = np.unique(np.concatenate([things, parts.to_numpy().astype(np.int64)]))
    some = blocks.of(wanted)
    mine = some.filter(pl.col("thing").is_in(things.tolist()))
    found = find_spells(mine, judged, limits, edges_of(blocks.columns))
    return widest_names(with_joint_spells(found, cover), some, cover, judged)


def _near(
    steps: DaySteps, spells: pl.DataFrame, cover: pl.DataFrame, bounds: pl.DataFrame
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    slow = cover.join(spells.select("thing").unique(), on="thing", how="semi")
    ranks = slow.filter(pl.col("scope") != "stage")["rank"].unique().sort()
    wanted = ranks.cast(pl.Int64).to_numpy()
    for near in steps.near(bounds, wanted):
        yield near.units, near.stages
