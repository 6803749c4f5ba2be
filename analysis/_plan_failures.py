"""Lines of a plan: how often it will be interrupted, and which spares pay."""

from math import ceil, sqrt
from typing import Final

from analysis._plan_cost import DAY_S
from analysis._plan_known import REFERENCE_RATES
from analysis._plan_rules import Rule, Told
from analysis.poisson import NODE_DAYS, mean_interval

#: Unit of a rate of failures.
RATE: Final = "1/1000 node-days"

#: Hours of a day. [h]
_DAY_H: Final = 24

#: Nodes in repair at once up to which spares are weighed: more than any fleet has.
_MOST_DOWN: Final = 10**6

_SEEN: Final = ("reliability_interruptions", "reliability_observed_days")


def _mtbf(nodes: float, rate: float) -> Told:
    if not rate:
        return Told(None, "no interruption was seen: no mean time between them")
    return Told(NODE_DAYS * DAY_S / (nodes * rate), "")


def _observed(count: float, days: float) -> Told:
    if not count:
        low = days * DAY_S / mean_interval(0).high
        return Told(None, f"no interruption was seen: at least {low:.4g} s (95 %)")
    return Told(days * DAY_S / count, "")


def _end(which: str) -> Rule:
    """Return an end of the interval of the mean time between interruptions."""

    def compute(count: float, days: float) -> Told:
        ends = mean_interval(int(count))
        mean = ends.high if which == "low" else ends.low
        if not mean:
            return Told(None, "unbounded: no interruption was seen")
        return Told(days * DAY_S / mean, "")

    return Rule(
        *("failures", f"observed_mtbf_{which}", "s"),
        "exact 95 % interval of a Poisson count (Garwood 1936)",
        _SEEN,
        compute,
    )


def _rate(which: str) -> Rule:
    def compute(count: float, days: float, nodes: float) -> float:
        ends = mean_interval(int(count))
        mean = {"low": ends.low, "high": ends.high}.get(which, count)
        return mean / (nodes * days) * NODE_DAYS

    name = f"observed_rate_{which}" if which else "observed_rate"
    return Rule(
        *("failures", name, RATE),
        "exact 95 % interval of a Poisson count (Garwood 1936)"
        if which
        else "interruptions / (nodes x observed_days) x 1000",
        (*_SEEN, "nodes"),
        compute,
    )


def _spares(nodes: float, rate: float, repair_h: float) -> Told:
    """Return how many spare nodes pay for themselves. [1]

    Nodes in repair are Poisson (Palm 1943). The whole run waits while more are in
    repair than there are spares; each spare costs one node all the time.
    """
    import numpy as np
    from scipy.special import pdtrc

    down = nodes * rate / NODE_DAYS * repair_h / _DAY_H
    if down > _MOST_DOWN:
        raise OverflowError
    spares = np.arange(ceil(down + 10 * sqrt(down)) + 40)
    best = int(np.argmin(nodes * pdtrc(spares, down) + spares))
    return Told(best, f"{down:.3g} nodes in repair at once, on average")


def _reference(name: str) -> tuple[Rule, Rule]:
    rate, source = REFERENCE_RATES[name]
    return (
        Rule(
            *("failures", f"expected_{name}", "1"),
            f"node_days x {rate} / 1000",
            ("node_days",),
            lambda node_days: node_days * rate / NODE_DAYS,
            f"at the rate of {source}",
        ),
        Rule(
            *("failures", f"mtbf_{name}", "s"),
            f"1000 d / (nodes x {rate})",
            ("nodes",),
            lambda nodes: NODE_DAYS * DAY_S / (nodes * rate),
            f"at the rate of {source}",
        ),
    )


FAILURES: Final = (
    Rule(
        *("failures", "node_days", "1", "nodes x run_time / 1 d"),
        ("nodes", "run_time"),
        lambda nodes, seconds: nodes * seconds / DAY_S,
    ),
    Rule(
        *("failures", "expected_interruptions", "1"),
        "node_days x per_1000_node_days / 1000",
        ("node_days", "reliability_per_1000_node_days"),
        lambda node_days, rate: node_days * rate / NODE_DAYS,
        "in the run's productive time",
    ),
    Rule(
        *("failures", "run_mtbf", "s", "1000 d / (nodes x per_1000_node_days)"),
        ("nodes", "reliability_per_1000_node_days"),
        _mtbf,
    ),
    *(rule for name in REFERENCE_RATES for rule in _reference(name)),
    Rule(
        *("failures", "observed_mtbf", "s", "observed_days / interruptions"),
        _SEEN,
        _observed,
    ),
    *(_end(which) for which in ("low", "high")),
    *(_rate(which) for which in ("", "low", "high")),
    Rule(
        *("failures", "spares_that_pay", "1"),
        "k with the least nodes x P(more than k in repair) + k",
        ("nodes", "reliability_per_1000_node_days", "reliability_repair_h"),
        _spares,
        "without time to swap a spare in",
    ),
)
