"""A repair of a trace: new lengths of its operations, and what it claims."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._replay_steps import Replay
from analysis._whatif_claims import Claim

#: What is changed first, where several things are: later ones take what is left.
LENGTHS, CLOCKS, PEERS_MEDIAN, IDEAL_PLACES, IDEAL_KINDS, GONE = range(6)

#: Length of an operation as far as repairs have changed it. [ns]
OWN: Final = pl.col("own")

#: What an ideal length takes for granted.
USUAL: Final = (
    "operations take what is usual of their kind in the trace, the mean of passes and"
    " the median of transfers"
)


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair of a trace: new lengths of its operations, and what it claims.

    Attributes:
        order: Its turn among several.
        own: New length of every operation, from `own` and the columns of a replay.
        claim: What the answer claims.
        is_hidden: Whether transfers run beside the passes.
    """

    order: int
    own: pl.Expr
    claim: Claim
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace to be repaired.

    Attributes:
        replay: Its replay.
        seen: Seats of its ranks: `attempt`, `rank`, `host`, `rack`, `gpu_uuid`,
            `pp_rank` and `dp_rank`.
        clocks: Returns the throttled ranks, as `slow_clocks` does.
    """

    replay: Replay
    seen: pl.DataFrame
    clocks: Callable[[], pl.DataFrame | str]


def ideal(is_one: pl.Expr, claim: Claim, order: int = IDEAL_KINDS) -> Fix:
    """Return the repair that gives some operations their ideal length."""
    return Fix(order, pl.when(is_one).then("ideal_ns").otherwise(OWN), claim)


def gone(is_one: pl.Expr, claim: Claim, *, is_hidden: bool = False) -> Fix:
    """Return the repair after which some operations take no time."""
    own = pl.when(is_one).then(pl.lit(0, pl.Int64)).otherwise(OWN)
    return Fix(GONE, own, claim, is_hidden)


def at_usual(is_one: pl.Expr, usual: pl.Expr, claim: Claim) -> Fix:
    """Return the repair after which some operations take what is usual of others.

    Those that were faster become slower: else the luck of a healthy rank would seem
    to be worth something.
    """
    own = pl.when(is_one).then(pl.coalesce(usual, OWN)).otherwise(OWN)
    return Fix(PEERS_MEDIAN, own, claim)
