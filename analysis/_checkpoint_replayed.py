"""A run's own stops under another interval, restart or number of spare nodes."""

from typing import TYPE_CHECKING, NamedTuple

from analysis._checkpoint_intervals import Costs
from analysis._checkpoint_simulation import saved_work

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class History(NamedTuple):
    """Stops of a run, in the order of time. [s]

    Attributes:
        up_s: Time from each start to its stop.
        away_s: Time from the stop to the next start.
        is_failed: Whether the stop undid what was not saved.
        takes_node: Whether it took a node along.
    """

    up_s: "NDArray[np.float64]"
    away_s: "NDArray[np.float64]"
    is_failed: "NDArray[np.bool_]"
    takes_node: "NDArray[np.bool_]"


class Replayed(NamedTuple):
    """What each stop of a history leaves. [s]

    Attributes:
        useful_s: Work that is kept.
        rework_s: Work and stalls that are undone.
        whole_s: Time up and away.
    """

    useful_s: "NDArray[np.float64]"
    rework_s: "NDArray[np.float64]"
    whole_s: "NDArray[np.float64]"

    @property
    def ratio(self) -> float:
        """Useful share of the whole history. [1]"""
        return float(self.useful_s.sum() / self.whole_s.sum())


def replay(
    history: History, interval_s: float, costs: Costs, away_s: "NDArray[np.float64]"
) -> Replayed:
    """Let a run stop when it did, and save and restart otherwise.

    A start takes the restart, then periods of work and stall follow. What a failure
    finds unsaved is undone; at other stops all work is kept.

    Args:
        history: The run's own stops.
        interval_s: Useful work between two saves. [s]
        costs: Stall, restart and lag; the rest plays no part.
        away_s: Time away after each stop. [s]
    """
    import numpy as np

    working = np.clip(history.up_s - costs.restart_s, 0.0, None)
    stalls = costs.stall_s * np.floor(working / (interval_s + costs.stall_s))
    kept = np.where(
        history.is_failed,
        saved_work(history.up_s, interval_s, costs),
        working - stalls,
    )
    stalled = np.where(history.is_failed, kept / interval_s * costs.stall_s, stalls)
    return Replayed(kept, working - kept - stalled, history.up_s + away_s)


def waits_for_nodes(
    history: History, repair_s: float, spares: int
) -> "NDArray[np.float64]":
    """Return how long each stop waits for a node. [s]

    A failed node is repaired in a fixed time and is then a spare. A stop that takes a
    node takes the spare that is ready first, the repaired node itself among them.

    Args:
        history: Stops, in order.
        repair_s: Time until a failed node is back. [s]
        spares: Nodes held in reserve at the start. [1]
    """
    import heapq

    import numpy as np

    waits, clock = np.zeros(len(history.up_s)), 0.0
    ready = [0.0] * spares
    for place, (up, away) in enumerate(zip(history.up_s, history.away_s, strict=True)):
        clock += up
        if history.takes_node[place] and history.is_failed[place]:
            heapq.heappush(ready, clock + repair_s)
            waits[place] = max(heapq.heappop(ready) - clock, 0.0)
        clock += away + waits[place]
    return waits
