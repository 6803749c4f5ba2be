"""A few steps of ranks, compared: as many as fit in a cache."""

from dataclasses import dataclass

import numpy as np

from analysis._straggler_day_grid import NO_STAGE, Grid
from analysis._straggler_middle import (
    Middle,
    Number,
    Real,
    Whole,
    block_medians,
    middle_of,
    peers_median,
)

#: A stage, and where its ranks begin and end in the order of stages.
Part = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How steps are brought together.

    Attributes:
        block: Steps of a block. [1]
        report: Steps of a report. [1]
        min_peers: Peers that a unit must have. [1]
    """

    block: int
    report: int
    min_peers: int

    @property
    def unit(self) -> int:
        """Steps that stay together: whole blocks, and whole reports. [1]"""
        return int(np.lcm(self.block, self.report))


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages of a piece.

    Attributes:
        order: Ranks by stage.
        parts: Every stage.
        tested: Those with enough ranks to be compared.
    """

    order: Whole
    parts: list[Part]
    tested: list[Part]

    @property
    def kept(self) -> Whole:
        """Ranks that are compared, in the order of stages."""
        return np.concatenate(
            [self.order[:0], *(self.order[a:b] for _, a, b in self.tested)]
        )


@dataclass(frozen=True, slots=True)
class Tile:
    """Some whole blocks; `steps` has each step's typical and even work. [ns]"""

    ratios: Number
    stage_ratios: Number
    steps: Real
    report_work: Number


def tile_of(grid: Grid, start: int, stages: Stages, sizes: Sizes) -> Tile | None:
    """Compare the steps of a unit; None where some peers did nothing.

    Args:
        grid: Steps by ranks.
        start: First of the steps.
        stages: The stages of its ranks.
        sizes: How many steps.
    """
    work = grid.work_ns[start : start + sizes.unit]
    staged = work if len(stages.parts) == 1 else work[:, stages.order]
    middles = [_middle(staged[:, a:b]) for _, a, b in stages.parts]
    ratios = np.empty((len(work), len(stages.kept)), np.float32)
    at = 0
    for (_, a, b), middle in zip(stages.parts, middles, strict=True):
        if b - a <= sizes.min_peers or middle is None:
            continue
        peers = peers_median(staged[:, a:b], middle)
        if peers.min() <= 0:
            return None
        into = ratios[:, at : at + b - a]
        np.divide(staged[:, a:b], peers, out=into, casting="same_kind")
        at += b - a
    medians = np.concatenate(
        [
            staged[:, a:b] / 1 if middle is None else middle.median
            for (_, a, b), middle in zip(stages.parts, middles, strict=True)
        ],
        axis=1,
    )
    compared = _stages(medians, [name for name, _, _ in stages.parts], sizes)
    if compared is None:
        return None
    return Tile(
        block_medians(ratios, sizes.block),
        compared,
        np.stack([np.median(work, axis=1), medians.mean(axis=1)]),
        block_medians(work.astype(np.float64), sizes.report),
    )


def _middle(own: Whole) -> Middle | None:
    return middle_of(own) if own.shape[1] > 1 else None


def _stages(medians: Real, names: list[int], sizes: Sizes) -> Number | None:
    """Return each stage's ratio in each block; None where some did nothing."""
    known = medians[:, [name != NO_STAGE for name in names]]
    if known.shape[1] <= sizes.min_peers:
        return np.empty((-(-len(medians) // sizes.block), 0))
    peers = peers_median(known, middle_of(known))
    if peers.min() <= 0:
        return None
    return block_medians(known / peers, sizes.block)
