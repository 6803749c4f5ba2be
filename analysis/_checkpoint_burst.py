"""Ways to write a save: straight to the store, or to the node first.

The store takes its rate from all writers together; a burst lasts as long as the slower
of both needs. A node's copy is written beside those of all others, and the way from
there to the store stalls nothing. In turns, no more writers are let at the store than
it can serve: it is as fast, and others who use it are not shut out.
"""

from collections.abc import Iterator
from math import ceil, isinf
from typing import Any, Final, NamedTuple

from analysis._checkpoint_burst_costs import costed
from analysis._checkpoint_costs import Row
from ingest.tables._columns import LONGEST_NS

#: Ways to write a save, in the order of the table.
SCHEMES: Final = ("direct", "two_tier", "staggered")


#: Share of a quotient that may be rounding. [1]
_ROUNDING: Final = 1e-12


class Store(NamedTuple):
    """What takes the saves of a run.

    Attributes:
        gbs: Rate, all writers together; None where it is not known. [GB/s]
        basis: Where the rate is from.
        demand_gbs: What all writers can push; None where not known. [GB/s]
    """

    gbs: float | None
    basis: str
    demand_gbs: float | None


def store_of(run: Row) -> Store:
    """Return what a run writes to: its card's store, else the rate of its saves.

    Args:
        run: Row of CheckpointEvidence.
    """
    writers, link = run["writer_count"], run["network_gbs"]
    demand = writers * link if writers and link else None
    if run["store_gbs"]:
        return Store(run["store_gbs"], "card", demand)
    if run["bytes_basis"] == "saves" and run["bytes"] and run["flush_ns"]:
        return Store(run["bytes"] / run["flush_ns"], "saves", demand)
    return Store(None, "none", demand)


def bursts_of(run: Row) -> Iterator[dict[str, Any]]:
    """Yield a row of CheckpointBursts for each way of writing.

    Args:
        run: Row of CheckpointEvidence.
    """
    store = store_of(run)
    for scheme in SCHEMES:
        turns = _turns(store, scheme, run["writer_count"])
        demand = store.demand_gbs and store.demand_gbs / (turns or 1)
        yield {
            "run_id": run["run_id"],
            "scheme": scheme,
            "bytes": run["bytes"],
            "bytes_basis": run["bytes_basis"],
            "writer_count": run["writer_count"],
            "turn_count": turns,
            "demand_gbs": demand,
            "store_gbs": store.gbs,
            "store_basis": store.basis,
            "demand_ratio": _over(demand, store.gbs),
            "least_gbs": _least(run),
            **_times(run, store, scheme),
        }


def _over(demand: float | None, gbs: float | None) -> float | None:
    """Return a demand over a rate, None where that is more than a number holds. [1]"""
    ratio = demand / gbs if demand and gbs else None
    return None if ratio is None or isinf(ratio) else ratio


def _turns(store: Store, scheme: str, writers: int | None) -> int | None:
    """Return the turns in which no more writers write than the store serves. [1]"""
    if store.demand_gbs is None or store.gbs is None or writers is None:
        return None
    if scheme != "staggered":
        return min(1, writers)
    return turns_of(store.demand_gbs / store.gbs, writers)


def turns_of(over_ratio: float, writers: float) -> int:
    """Return the turns in which a store serves its writers, one in each at most. [1]

    Args:
        over_ratio: What all writers at once can push, over what the store takes. [1]
        writers: Writers of a save. [1]
    """
    # what rounding of the quotient adds is no turn
    turns = min(over_ratio * (1 - _ROUNDING), float(writers))
    return min(max(1, ceil(turns)), int(writers))


def _least(run: Row) -> float | None:
    """Return the rate of a save that is spread over the period in use. [GB/s]"""
    if not run["bytes"] or not run["interval_ns"]:
        return None
    return float(run["bytes"] / (run["interval_ns"] + (run["stall_ns"] or 0)))


def _times(run: Row, store: Store, scheme: str) -> dict[str, Any]:
    """Return burst, stall and flush of a scheme, and what they cost; else why not."""
    why = _why_not(run, store, scheme)
    if why or store.gbs is None:
        return {"reason": why}
    served = min(store.gbs, store.demand_gbs or store.gbs)
    burst_ns = stall_ns = flush_ns = run["bytes"] / served
    if scheme != "direct":
        stall_ns = run["bytes"] / run["node_count"] / run["local_gbs"]
        flush_ns = stall_ns + burst_ns
    # infinite where a rate is next to nothing
    if not max(stall_ns, flush_ns) <= LONGEST_NS:
        return {"reason": "a save would take longer than a year"}
    burst, stall = round(burst_ns), round(stall_ns)
    flush = burst if scheme == "direct" else stall + burst
    times = {"burst_ns": burst, "stall_ns": stall, "flush_ns": flush}
    return {**times, **costed(run, burst, stall, flush)}


def _why_not(run: Row, store: Store, scheme: str) -> str | None:
    if not run["bytes"]:
        return "the size of a save is not known"
    if store.gbs is None:
        return "the store's rate is not known: store_gbs on the run card"
    if scheme != "direct" and not run["local_gbs"]:
        return "no local tier is known: local_gbs on the run card"
    if scheme != "direct" and not run["node_count"]:
        return "the number of nodes is not known"
    return None
