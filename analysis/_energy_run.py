"""What the energy of runs is held against."""

from dataclasses import dataclass
from typing import Final, Self

import polars as pl

from analysis._analysis import Frames
from analysis._energy_bridges import Bridges
from analysis._energy_fleet import Fleet
from analysis._energy_holdings import Holdings
from analysis._energy_steps import kept_spans, step_windows
from analysis._step_rollup_log import spanned_steps
from analysis.attempts import Attempts

#: Level of the supply of a node; the others are of GPUs.
NODE: Final = "node_ac"


@dataclass(frozen=True, slots=True)
class RunEnergy:
    """What energy is held against.

    Attributes:
        holdings: Who held what.
        kept: Spans of kept steps, as `kept_spans` gives them.
        bridges: Which silences are bridged.
    """

    holdings: Holdings
    kept: pl.DataFrame
    bridges: Bridges

    @classmethod
    def of(cls, frames: Frames, bridges: Bridges) -> Self:
        """Take what is held against energy from the lake."""
        steps = step_windows(spanned_steps(frames), frames[Attempts])
        return cls(
            Holdings.of(frames, frames[Attempts].collect()),
            kept_spans(steps),
            bridges,
        )

    def held(self, fleet: Fleet, some: pl.DataFrame, level: str) -> pl.DataFrame:
        """Return when attempts held some devices of a level."""
        if level == NODE:
            return self.holdings.of_nodes(fleet, some)
        return self.holdings.of_gpus(fleet, some)
