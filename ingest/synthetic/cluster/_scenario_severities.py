"""How bad faults may be, and how many at once, so that no run stands still."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ingest.synthetic.cluster._scenario_faults import Fault
    from ingest.synthetic.cluster.scenario import Scenario

#: How much worse than its severity a fault is in single steps at most. [1]
_WORST: Final = {"flow_collision": 2.0, "data_stall": 1.5}

#: Fields that say how many slow things an era has: at single ranks, and at all at once.
_OF_RANKS: Final = (
    *("slow_gpus", "thermal_caps", "power_caps", "slow_links", "flow_collisions"),
)
_OF_ALL: Final = ("data_stalls", "checkpoint_storms")

_DAY_S: Final = 86_400


def too_bad(scenario: "Scenario", fault: "Fault") -> Iterator[str]:
    """Yield a severity with which others wait longer than the watchdog lets them."""
    schedule, watchdog_s = scenario.schedule, scenario.calendar.watchdog_s
    shares = schedule.communication_share + schedule.idle_share
    work_s = schedule.step_s * (1 - shares) - schedule.data_s
    link_s = schedule.step_s * schedule.communication_share
    parts_s = {"slow_gpu": work_s, "thermal_cap": work_s, "power_cap": work_s}
    parts_s |= {"slow_link": link_s, "flow_collision": link_s}
    parts_s["checkpoint_storm"] = schedule.checkpoint_s
    if fault.kind == "data_stall":
        most = watchdog_s
    elif parts_s.get(fault.kind):
        most = watchdog_s / parts_s[fault.kind]
    else:
        return
    most /= _WORST.get(fault.kind, 1.0)
    most += fault.kind != "data_stall"
    if fault.badness > most:
        yield (
            f"severity: {fault.badness:g}: expected at most {_down(most):g}, with which"
            f" a step is longer by calendar.watchdog_s, {watchdog_s:g} s; lower it"
        )


def _down(value: float) -> float:
    """Return a number of three decimals that is no greater."""
    return math.floor(value * 1_000) / 1_000


def too_many(scenario: "Scenario") -> Iterator[str]:
    """Yield slow things of which there were more at once than there are places."""
    drawn = scenario.faults_drawn
    length_s = drawn.slow_least_s
    if drawn.slow_s:
        length_s += drawn.slow_s * math.exp(-drawn.slow_least_s / drawn.slow_s)
    eras = length_s / (drawn.era_days * _DAY_S)
    for names, places in ((_OF_RANKS, scenario.ranks), (_OF_ALL, 1)):
        for name in names:
            rate = getattr(drawn, name)
            if rate * eras > places:
                yield (
                    f"faults_drawn.{name}: {rate:g}: some {rate * eras:.3g} at once:"
                    f" expected at most {places:,}; lower it, or raise"
                    " faults_drawn.era_days"
                )
