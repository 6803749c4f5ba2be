"""The published closed form of the expected useful share, and where it may be used."""

from math import inf
from typing import Final, NamedTuple

from analysis._checkpoint_intervals import Costs
from analysis._checkpoint_renewal import exact_ettr
from ingest.times import DAY_NS, SECOND_NS

_DAY_S: Final = DAY_NS / SECOND_NS

#: Up to this share of the exact form the closed one is as good: it leaves out failures
#: during a restart, a repetition or a stall. [1]
WITHIN_RATIO: Final = 0.01

#: What the closed form is worth.
WITHIN: Final = "within 1 % of the exact form"
ROUGH: Final = "rough: more than 1 % from the exact form"
CANNOT: Final = "cannot make progress"


class ClosedEttr(NamedTuple):
    """The expected useful share by the closed form.

    Attributes:
        ratio: Useful share; None where the run cannot make progress. [1]
        load: Share of running time that failures cost: N r (u0 + T/2). [1]
        verdict: What the ratio is worth: WITHIN, ROUGH or CANNOT.
    """

    ratio: float | None
    load: float
    verdict: str


def closed_load(
    nodes: float, rate_per_node_day: float, restart_s: float, interval_s: float
) -> float:
    """Return the share of running time that failures cost: N r (u0 + T/2). [1]"""
    return nodes * rate_per_node_day * (restart_s + interval_s / 2) / _DAY_S


def ettr_closed_form(  # noqa: PLR0913 - the formula has as many symbols
    nodes: float,
    rate_per_node_day: float,
    restart_s: float,
    interval_s: float,
    *,
    stall_s: float = 0.0,
    queue_s: float = 0.0,
) -> ClosedEttr:
    """Return (1 - N r (u0 + T/2)) / (1 + w/T), over 1 + N r q where restarts queue.

    A queue is waited in, not run in: it makes the run longer and adds no failure.
    What it is worth is told by the exact form, which takes the queue as downtime.
    The first wait of a run is left out. At a load of 1 and more each failure costs
    more than the time to the next, and the quotient, zero or negative, means nothing.

    Source: arXiv 2410.21680, section III, for a queue of zero and rare failures.

    Args:
        nodes: Nodes N of the run. [1]
        rate_per_node_day: Failures r of a node and day. [1]
        restart_s: Time u0 from a failure to being back at work. [s]
        interval_s: Time T between two saves. [s]
        stall_s: Stall w of a save. [s]
        queue_s: Wait q of every restart in the queue. [s]
    """
    load = closed_load(nodes, rate_per_node_day, restart_s, interval_s)
    if load >= 1:
        return ClosedEttr(None, load, CANNOT)
    daily = nodes * rate_per_node_day
    ratio = (1 - load) / (1 + stall_s / interval_s) / (1 + daily * queue_s / _DAY_S)
    mtbf_s = _DAY_S / daily if daily else inf
    exact = exact_ettr(interval_s, Costs(mtbf_s, stall_s, restart_s, queue_s))
    is_near = abs(ratio - exact) <= WITHIN_RATIO * exact
    return ClosedEttr(ratio, load, WITHIN if is_near else ROUGH)
