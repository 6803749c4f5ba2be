"""What a repair does to the own work of ranks."""

from dataclasses import dataclass
from typing import Self

import polars as pl


@dataclass(frozen=True, slots=True)
class Change:
    """What a repair, or several together, does to the own work of ranks.

    Attributes:
        seats: Ranks that come to their peers' median: `attempt`, `rank`,
            `first_step`, `last_step`.
        staged: Ranks whose stage comes to the other stages' median, with the same
            columns.
        gone: Parts of the work that take no time.
        is_hidden: Whether communication runs beside the rest.
        stalls: Stalls for checkpoints that are left, over those that were. [1]
        clocks: How much faster ranks compute at the job's clock: `attempt`, `rank`,
            `clock_ratio`.
        is_even: Whether every rank does what is typical of the step.
    """

    seats: pl.DataFrame | None = None
    staged: pl.DataFrame | None = None
    gone: frozenset[str] = frozenset()
    is_hidden: bool = False
    stalls: float | None = None
    clocks: pl.DataFrame | None = None
    is_even: bool = False

    @property
    def has_parts(self) -> bool:
        """Whether work changes before ranks are compared with their peers."""
        is_some = self.stalls is not None or self.clocks is not None
        return bool(self.gone) or self.is_hidden or is_some

    @property
    def needs_peers(self) -> bool:
        """Whether ranks are compared with their peers."""
        return self.is_even or self.seats is not None or self.staged is not None

    def beside(self, other: Self) -> Self:
        """Return both changes together.

        Where both say how many checkpoints are left, the fewer are.
        """
        stalls = [one.stalls for one in (self, other) if one.stalls is not None]
        return type(self)(
            seats=_both(self.seats, other.seats),
            staged=_both(self.staged, other.staged),
            gone=self.gone | other.gone,
            is_hidden=self.is_hidden or other.is_hidden,
            stalls=min(stalls, default=None),
            clocks=self.clocks if other.clocks is None else other.clocks,
            is_even=self.is_even or other.is_even,
        )


def _both(one: pl.DataFrame | None, other: pl.DataFrame | None) -> pl.DataFrame | None:
    if one is None or other is None:
        return other if one is None else one
    return pl.concat([one, other]).unique(maintain_order=True)
