"""What an answer claims beside its number: of what, how sure, on which assumption."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from analysis._repairs import Repair

#: First and last step of a repair that holds for the whole run.
ALL_STEPS: Final = (-(2**62), 2**62)

#: What the answer to `everything` is not: a bound of what single repairs save.
NO_BOUND: Final = "slow ones included: a single repair can save more"

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


class Effect(NamedTuple):
    """How much slower than its peers something was.

    Attributes:
        ratio: Its work over that of its peers. [1]
        least: The least of it that is more than workers scatter. [1]
    """

    ratio: float
    least: float


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
        flaw: Why it cannot be relied on, in words; empty where it can.
        effect: Work of what is repaired over that of its peers, and the least of it
            that is not scatter; None where it is not compared with any.
    """

    scope: str
    ranks: str
    assumption: str
    is_bound: bool = False
    peers: int | None = None
    doubt: str = ""
    flaw: str = ""
    effect: Effect | None = None


def together(claims: Sequence[Claim]) -> Claim:
    """Return the claim of several repairs together."""
    if len(claims) == 1:
        return claims[0]
    peers = [claim.peers for claim in claims if claim.peers is not None]
    said = dict.fromkeys(claim.assumption for claim in claims)
    doubts = [claim.doubt for claim in claims]
    flaws = dict.fromkeys(claim.flaw for claim in claims if claim.flaw)
    effects = [claim.effect for claim in claims if claim.effect is not None]
    return Claim(
        scope=JOINT,
        ranks="; ".join(dict.fromkeys(c.ranks for c in claims if c.ranks)),
        assumption="; ".join(said),
        is_bound=any(claim.is_bound for claim in claims),
        peers=min(peers, default=None),
        doubt=doubts[0] if all(doubts) else "",
        flaw="; ".join(flaws),
        effect=max(effects, key=lambda one: one.ratio - one.least, default=None),
    )
