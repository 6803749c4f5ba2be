"""Own work of the watched, and of those that pause, before faults make it longer."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from ingest.synthetic.cluster._pauses import Pauses
from ingest.synthetic.cluster._raw_steps import RawSteps
from ingest.synthetic.cluster._work import Floats, Work

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Watched:
    """What the watched do, as if nothing happened to them.

    Nobody works longer than the longest of all ranks, but for pauses. So a rank that is
    watched changes no step, and a fault that is taken out of a scenario changes none
    but its own.

    Attributes:
        work: Work without pauses: steps x watched. [us]
        cells: Step and column of each of their pauses.
        pause: What is added there. [us]
        others: Pauses of those that are not watched.
        others_work: Work of each of these, pause included. [us]
        is_alone: Whether all others pause in a step.
    """

    work: Floats
    cells: tuple[Ints, Ints]
    pause: Ints
    others: Pauses
    others_work: Ints
    is_alone: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, work: Work, raw: RawSteps, common: Floats) -> Self:
        """Find what they do in some steps.

        Args:
            work: Own work of the ranks.
            raw: Draws of these steps.
            common: What all work is multiplied by. [1]
        """
        pauses, longest = raw.pauses, raw.healthy * common
        is_watched = work.is_watched[pauses.rank]
        own = _paused_work(work, raw, common)
        others, rest = pauses.where(~is_watched), own[~is_watched]
        count = work.scenario.ranks - len(work.watched)
        is_alone = np.bincount(others.step, minlength=len(common)) == count
        column = np.searchsorted(work.watched, pauses.rank[is_watched])
        cells = pauses.step[is_watched], column
        found = raw.watched * common[:, None]
        np.minimum(found, longest[:, None], out=found)
        _take_lead(found, cells, longest, is_alone)
        found[cells] = own[is_watched]
        others_work = rest.astype(np.int64) + others.pause
        pause = pauses.pause[is_watched]
        return cls(found, cells, pause, others, others_work, is_alone)


def _paused_work(work: Work, raw: RawSteps, common: Floats) -> Floats:
    """Return what ranks work in the steps in which they pause, without the pause."""
    pauses = raw.pauses
    own = work.base_us[pauses.rank] * (1 + work.spread * pauses.noise)
    if raw.lengths.shape[1]:
        own = own * raw.lengths[pauses.step, work.replica[pauses.rank]]
    found: Floats = own * common[pauses.step]
    return found


def _take_lead(
    found: Floats,
    cells: tuple[Ints, Ints],
    longest: Floats,
    is_alone: npt.NDArray[np.bool_],
) -> None:
    """Give the longest work to one of the watched, where all others pause."""
    if not is_alone.any() or not found.shape[1]:
        return
    free = np.repeat(is_alone[:, None], found.shape[1], axis=1)
    free[cells] = False
    (rows,) = np.nonzero(free.any(axis=1))
    top = np.where(free[rows], found[rows], -1.0).argmax(axis=1)
    found[rows, top] = longest[rows]
