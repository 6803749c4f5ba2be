"""The steps of ranks, compared with their peers, a portion at a time."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from analysis._straggler_limits import Limits
from analysis._straggler_scores import ATTEMPT, score_stages, score_units
from analysis._straggler_seats import seat
from analysis._straggler_work import portion_of


@dataclass(frozen=True, slots=True)
class Steps:
    """What the test is made from, not yet read.

    Attributes:
        steps: Steps of ranks.
        plan: The portions to take them in.
        seats: Where ranks sit.
        limits: What counts as slow.
    """

    steps: pl.LazyFrame
    plan: pl.DataFrame
    seats: pl.DataFrame
    limits: Limits

    def portions(self) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Yield the compared ranks and stages of each portion."""
        plans = self.plan.partition_by("portion", maintain_order=True)
        for plan in plans or [self.plan]:
            yield self._compared(plan)

    def near(self, bounds: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Yield the blocks within bounds, and no others, a portion at a time.

        Args:
            bounds: Columns `run_id`, `place_from` and `place_to`.
        """
        first, last = pl.col("place_from"), pl.col("place_to")
        same = first // ATTEMPT == last // ATTEMPT
        within = pl.col("block").is_between(first % ATTEMPT, last % ATTEMPT)
        blocks = self.plan.select("run_id", "block").unique()
        found = blocks.join(bounds.select("run_id", first, last).unique(), on="run_id")
        wanted = found.filter(~same | within)
        plans = self.plan.join(wanted, on=["run_id", "block"], how="semi")
        for plan in plans.partition_by("portion", maintain_order=True):
            yield self._compared(plan)

    def _compared(self, plan: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        rows = seat(portion_of(self.steps, plan), self.seats)
        least = self.limits.min_peers
        return score_units(rows, least), score_stages(rows, least)
