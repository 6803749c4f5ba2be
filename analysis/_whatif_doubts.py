"""What speaks against a saving: a poor model, few peers, scatter."""

from dataclasses import dataclass
from typing import Final

from analysis._replay_causes import STRAGGLES_FROM
from analysis._straggler_limits import BLOCK_STEPS, GATE_RATIO, MIN_PEERS
from analysis._whatif_claims import Claim
from analysis.replays import RELIABLE_UP_TO

#: Repairs of places that healthy scatter makes seem worth something.
PLACES: Final = ("rank", "gpu", "host", "rack", "replica", "stage", "joint")

#: Repairs that are worthwhile only where more than scatter speaks for them.
_LIMITED: Final = (*PLACES, "workers", "link", "sequence-lengths", "everything")

#: Share by which simulated steps miss the real ones from which no number means
#: anything: half of what is simulated is made up. [1]
FAR_OFF: Final = 0.5

#: Why steps without length have no answer.
_NO_TIME: Final = "steps take no time: there is nothing to save of"


@dataclass(frozen=True, slots=True)
class Limits:
    """From where on an answer is more than noise.

    Attributes:
        reliable_up_to: Share by which simulated steps may miss the real ones. [1]
        straggles_from: Slowdown from which a job straggles. [1]
        gate_ratio: Slowdown below which a repair would not pay. [1]
        min_peers: Peers below which a median is one of the suspects. [1]
        block_steps: Steps of a block. [1]
    """

    reliable_up_to: float = RELIABLE_UP_TO
    straggles_from: float = STRAGGLES_FROM
    gate_ratio: float = GATE_RATIO
    min_peers: int = MIN_PEERS
    block_steps: int = BLOCK_STEPS


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of a repair.

    Attributes:
        actual_ns: Length of the steps seen. [ns]
        simulated_ns: The same by the road's own model. [ns]
        repaired_ns: The same with the repair. [ns]
        is_scatter: Whether steps differ by more than it saves.
        too_much: Why the saving cannot be; empty where it can.
    """

    actual_ns: int
    simulated_ns: int
    repaired_ns: int
    is_scatter: bool
    too_much: str

    @property
    def fidelity(self) -> float | None:
        """Share by which simulated steps miss the real ones. [1]"""
        if not self.actual_ns:
            return None
        return abs(self.simulated_ns - self.actual_ns) / self.actual_ns

    @property
    def ratio(self) -> float | None:
        """Simulated over repaired. [1]"""
        return self.simulated_ns / self.repaired_ns if self.repaired_ns > 0 else None

    def why_no_number(self) -> str:
        """Return why no saving can be told; empty where it can."""
        fidelity = self.fidelity
        if fidelity is None:
            return _NO_TIME
        if fidelity > FAR_OFF:
            return f"{_missed(fidelity)}: no saving can be told"
        is_negative = self.repaired_ns < 0
        if is_negative or self.simulated_ns - self.repaired_ns > self.actual_ns:
            return "it would save more than the steps took: no saving can be told"
        return ""


def doubts(claim: Claim, found: Measured, limits: Limits) -> list[str]:
    """Return why an answer is not reliable; empty where it is.

    Args:
        claim: What it claims.
        found: What was measured.
        limits: From where on it is reliable.
    """
    no_number = found.why_no_number()
    why = [no_number or found.too_much, claim.flaw]
    fidelity = found.fidelity
    if not no_number and fidelity is not None and fidelity > limits.reliable_up_to:
        why.append(_missed(fidelity))
    peers = claim.peers
    if peers is not None and peers < limits.min_peers:
        told = f"only {peers} to compare with: fewer than {limits.min_peers} peers"
        why.append(told)
    return [one for one in why if one]


def _missed(fidelity: float) -> str:
    return f"simulated steps miss the real ones by {100 * fidelity:.1f} %"


def noise(
    claim: Claim, found: Measured, limits: Limits, *, is_flagged: bool, is_replay: bool
) -> str:
    """Return why an answer may be no more than scatter; empty where it is more.

    Args:
        claim: What it claims.
        found: What was measured.
        limits: From where on it is more than scatter.
        is_flagged: Whether what is repaired was found slow, beyond chance.
        is_replay: Whether a replay answers.
    """
    if claim.doubt:
        return claim.doubt
    if is_flagged or claim.scope not in _LIMITED:
        return ""
    if claim.scope == "everything":
        is_slow = found.ratio is not None and found.ratio >= limits.straggles_from
        return "" if is_slow else "no more than a healthy job scatters"
    if not is_replay:
        return "not found slow: it may be no more than healthy ranks scatter"
    return _scatter(found) or _small(claim, found, limits)


def _scatter(found: Measured) -> str:
    if found.simulated_ns <= found.repaired_ns:
        return "no more than healthy scatter: it saves nothing"
    if found.is_scatter:
        return "no more than healthy scatter: steps differ by more than it saves"
    return ""


def _small(claim: Claim, found: Measured, limits: Limits) -> str:
    """Return why what is repaired is hardly slower than its peers, or saves little."""
    if claim.effect is None:
        is_worth = found.ratio is not None and found.ratio >= limits.gate_ratio
        return "" if is_worth else "no more than healthy scatter"
    ratio, least = claim.effect.ratio, max(claim.effect.least, limits.gate_ratio)
    if ratio >= least:
        return ""
    return (
        f"no more than healthy scatter: its work is {100 * (ratio - 1):.1f} % over its"
        f" peers', and less than {100 * (least - 1):.1f} % is not slow"
    )
