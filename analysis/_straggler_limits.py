"""What counts as slow: every threshold of the straggler test, with its reason."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from analysis._analysis import Thresholds
from analysis._straggler_cause_limits import CAUSE_THRESHOLDS, CauseLimits

#: Slowdown that healthy GPUs show for ever: their persistent sd is 0.3 %. What is
#: tested is whether one is slower than this, not whether it differs. [1]
NULL_RATIO: Final = 1.01

#: Share of false names among those flagged. [1]
FALSE_SHARE: Final = 0.01

#: Slowdown below which a repair would not pay. [1]
GATE_RATIO: Final = 1.02

#: Slowdown to flag, in robust sds of the persistent medians of its kind: of 16,384
#: healthy GPUs none is expected beyond five. [1]
GATE_SDS: Final = 5.0

#: Peers that a unit must have: among fewer the median is one of the suspects. [1]
MIN_PEERS: Final = 4

#: Steps of a block. A block's median forgets single slow steps, and blocks hardly
#: depend on each other where steps correlate up to 0.4. [1]
BLOCK_STEPS: Final = 10

#: Thresholds that may be set, by name.
THRESHOLDS: Final[Mapping[str, float]] = {
    "straggler_null_ratio": NULL_RATIO,
    "straggler_false_share": FALSE_SHARE,
    "straggler_gate_ratio": GATE_RATIO,
    "straggler_gate_sds": GATE_SDS,
    "straggler_min_peers": MIN_PEERS,
    "straggler_block_steps": BLOCK_STEPS,
    **CAUSE_THRESHOLDS,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What counts as slow.

    Attributes:
        null_ratio: Slowdown that is normal. [1]
        false_share: Share of false names among those flagged. [1]
        gate_ratio: Smallest slowdown to flag. [1]
        gate_sds: Smallest slowdown to flag, in sds of its kind. [1]
        min_peers: Peers that a unit must have. [1]
        block_steps: Steps of a block. [1]
        causes: When something is a cause.
    """

    null_ratio: float = NULL_RATIO
    false_share: float = FALSE_SHARE
    gate_ratio: float = GATE_RATIO
    gate_sds: float = GATE_SDS
    min_peers: int = MIN_PEERS
    block_steps: int = BLOCK_STEPS
    causes: CauseLimits = field(default_factory=CauseLimits)

    @classmethod
    def of(cls, thresholds: Thresholds) -> Self:
        """Take the limits from settings."""
        return cls(
            null_ratio=thresholds["straggler_null_ratio"],
            false_share=thresholds["straggler_false_share"],
            gate_ratio=thresholds["straggler_gate_ratio"],
            gate_sds=thresholds["straggler_gate_sds"],
            min_peers=int(thresholds["straggler_min_peers"]),
            block_steps=int(thresholds["straggler_block_steps"]),
            causes=CauseLimits.of(thresholds),
        )
