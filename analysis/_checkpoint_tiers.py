"""Two tiers of saves: a near one on the node, a far one that outlives it."""

from typing import Final

from analysis._checkpoint_costs import Row
from analysis._checkpoint_levels import Nested, Tier, multi_level
from ingest.times import SECOND_NS

#: Below this share of interruptions, none is taken to need a tier. [1]
LEAST_RATIO: Final = 0.001


def levels_of(run: Row) -> Nested | None:
    """Return the intervals of two tiers that cost a run least, None for one tier.

    Failures that take the node need the far tier, the rest is well with the near one.
    The share of downtime, in which nothing fails, is exact and taken off at the end.

    Args:
        run: Row of CheckpointEvidence with a stall and an MTBF.
    """
    if why_no_levels(run):
        return None
    mtbf, away = run["mtbf_ns"] / SECOND_NS, (run["downtime_ns"] or 0) / SECOND_NS
    restart, step = ((run[name] or 0) / SECOND_NS for name in ("restart_ns", "step_ns"))
    near, far = (run[name] / SECOND_NS for name in ("near_stall_ns", "far_stall_ns"))
    flush = max((run["flush_ns"] or 0) / SECOND_NS - far, step)
    tiers = (
        Tier(mtbf / (1 - run["far_ratio"]), near, restart, step),
        Tier(mtbf / run["far_ratio"], far, restart, flush),
    )
    told = multi_level(tiers)
    useful = (1 - told.waste_ratio) * mtbf / (mtbf + away)
    return told._replace(waste_ratio=1 - useful)


def why_no_levels(run: Row) -> str:
    """Return why two tiers make no plan, empty where they do.

    Args:
        run: Row of CheckpointEvidence with a stall and an MTBF.
    """
    if run["near_stall_ns"] is None and not run["local_gbs"]:
        return "no second tier is known: no tiers of saves, no local_gbs on the card"
    if run["near_stall_ns"] is None:
        return "a copy on the node would stall no less than a save does now"
    if run["near_stall_ns"] >= run["far_stall_ns"]:
        return "the far tier stalls no more than the near one"
    if not LEAST_RATIO <= run["far_ratio"] <= 1 - LEAST_RATIO:
        return "all interruptions need the same tier"
    if not (run["near_stall_ns"] or run["step_ns"]):
        return "a near save costs nothing, and no step is known"
    return ""
