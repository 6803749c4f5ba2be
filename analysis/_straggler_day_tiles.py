"""A few steps of ranks, compared: as many as fit in a cache."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from analysis._straggler_day_grid import NO_STAGE
from analysis._straggler_middle import (
    Number,
    Real,
    Whole,
    block_medians,
    middle_of,
    peers_median,
)

#: Values of a tile: 4 MB.
_TILE: Final = 1 << 19

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

    def tile(self, ranks: int) -> int:
        """Return how many steps of so many ranks fit in a cache: some units. [1]"""
        return self.unit * max(1, _TILE // (self.unit * max(1, ranks)))


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


def tile_of(work: Whole, stages: Stages, sizes: Sizes) -> Tile:
    """Compare some steps, in which all ranks did something.

    Args:
        work: Own work, steps by ranks: whole units, but at the end. [ns]
        stages: The stages of its ranks.
        sizes: How many steps.
    """
    staged = work if len(stages.parts) == 1 else work[:, stages.order]
    ratios = np.empty((len(work), len(stages.kept)), np.float32)
    medians = []
    at = 0
    for _, first, end in stages.parts:
        own = staged[:, first:end]
        middle = middle_of(own) if end - first > 1 else None
        medians.append(own / 1 if middle is None else middle.median)
        if middle is not None and end - first > sizes.min_peers:
            into = ratios[:, at : at + end - first]
            at += end - first
            np.divide(own, peers_median(own, middle), out=into, casting="same_kind")
    of_stages = np.concatenate(medians, axis=1)
    return Tile(
        block_medians(ratios, sizes.block),
        _stages(of_stages, [name for name, _, _ in stages.parts], sizes),
        np.stack([np.median(work, axis=1), of_stages.mean(axis=1)]),
        block_medians(work.astype(np.float64), sizes.report),
    )


def _stages(medians: Real, names: list[int], sizes: Sizes) -> Number:
    """Return each stage's ratio in each block. [1]"""
    known = medians[:, [name != NO_STAGE for name in names]]
    if known.shape[1] <= sizes.min_peers:
        return np.empty((-(-len(medians) // sizes.block), 0))
    peers = peers_median(known, middle_of(known))
    return block_medians(known / peers, sizes.block)
