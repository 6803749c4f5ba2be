"""What an answer claims beside its number: of what, how sure, on which assumption."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from analysis._repairs import Repair

#: First and last step of a repair that holds for the whole run.
ALL_STEPS: Final = (-(2**62), 2**62)

#: What several repairs together are called in `scope`.
JOINT: Final = "joint"


@dataclass(frozen=True, slots=True)
class Part:
    """A repair, and the steps in which it holds: first and last of each spell."""

    repair: Repair
    spells: tuple[tuple[int, int], ...] = (ALL_STEPS,)


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked: one repair, or several together.

    Attributes:
        name: What it is called.
        parts: Its repairs.
        is_flagged: Whether what is repaired was found slow, beyond chance.
        left_out: Slow things that no question was asked of. [1]
    """

    name: str
    parts: tuple[Part, ...]
    is_flagged: bool = False
    left_out: int = 0

    @property
    def is_joint(self) -> bool:
        """Whether several things are repaired together."""
        return len({part.repair for part in self.parts}) > 1


@dataclass(frozen=True, slots=True)
class Claim:
    """What an answer claims beside its number.

    Attributes:
        scope: What sort of thing is repaired.
        ranks: Which ranks, as ranges; empty where all are.
        assumption: What it takes for granted, in words.
        is_bound: Whether the saving is an upper bound, scatter and all.
        peers: Fewest peers of what is repaired; None where none are needed. [1]
        doubt: Why it may be nothing, in words; empty where nothing speaks against it.
    """

    scope: str
    ranks: str
    assumption: str
    is_bound: bool = False
    peers: int | None = None
    doubt: str = ""


def together(claims: Sequence[Claim]) -> Claim:
    """Return the claim of several repairs together."""
    if len(claims) == 1:
        return claims[0]
    peers = [claim.peers for claim in claims if claim.peers is not None]
    said = dict.fromkeys(claim.assumption for claim in claims)
    doubts = [claim.doubt for claim in claims]
    return Claim(
        scope=JOINT,
        ranks="; ".join(dict.fromkeys(c.ranks for c in claims if c.ranks)),
        assumption="; ".join(said),
        is_bound=any(claim.is_bound for claim in claims),
        peers=min(peers, default=None),
        doubt=doubts[0] if all(doubts) else "",
    )
