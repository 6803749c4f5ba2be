"""What can be wrong with a synthetic pipeline."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SlowWorker:
    """One worker that computes slower: a replica's stage."""

    dp_rank: int
    stage: int
    ratio: float


@dataclass(frozen=True, slots=True)
class SlowStage:
    """One stage that has more to compute in every replica.

    The defaults are the last stage of arXiv 2505.05713, which computes the loss.
    """

    stage: int
    forward_ratio: float = 2.07
    backward_ratio: float = 1.41


@dataclass(frozen=True, slots=True)
class LongSequences:
    """Micro-batches of unequal cost, the same at every stage, forward and backward.

    Attributes:
        sd: Standard deviation of the logarithm of their cost; the mean cost stays. [1]
    """

    sd: float


@dataclass(frozen=True, slots=True)
class Pauses:
    """Garbage collection that holds up forward computations by chance.

    Attributes:
        chance: Chance that a forward computation is hit. [1]
        pause_ns: Length of a pause. [ns]
    """

    chance: float
    pause_ns: int


@dataclass(frozen=True, slots=True)
class SlowLink:
    """A slow link between a stage and the next, in both directions, of all replicas."""

    stage: int
    ratio: float


Fault = SlowWorker | SlowStage | LongSequences | Pauses | SlowLink
