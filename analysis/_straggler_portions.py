"""The steps of ranks, compared with their peers, a portion at a time."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from analysis._straggler_limits import Limits
from analysis._straggler_scores import score_stages, score_units
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
            rows = seat(portion_of(self.steps, plan), self.seats)
            least = self.limits.min_peers
            yield score_units(rows, least), score_stages(rows, least)
