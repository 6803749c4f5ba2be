"""How large a scenario may be: what a clock and a window of steps can hold."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ingest.synthetic.cluster.scenario import Scenario

#: GPUs, with spares: a block of steps of all of them takes about a GB. [1]
MOST_GPUS: Final = 131_072

#: Steps of the calendar: a clock takes some 400 B for each, where none stops it. [1]
MOST_STEPS: Final = 8_000_000

#: Faults that are listed and drawn: each is felt and paid for by itself. [1]
MOST_FAULTS: Final = 100_000

_DAY_S: Final = 86_400

#: Fields that say how many faults an era has.
_RATES: Final = (
    *("stops", "planned", "slow_gpus", "thermal_caps", "power_caps", "slow_links"),
    *("flow_collisions", "data_stalls", "checkpoint_storms", "preemptions"),
)


def too_much(scenario: "Scenario") -> Iterator[str]:
    """Yield what of a scenario is more than can be made."""
    fleet, calendar = scenario.fleet, scenario.calendar
    gpus = (fleet.hosts + fleet.spares) * fleet.gpus_per_node
    if gpus > MOST_GPUS:
        yield (
            f"fleet: hosts and spares have {gpus:,} GPUs: expected at most"
            f" {MOST_GPUS:,}; lower fleet.hosts"
        )
    steps = round(calendar.days * _DAY_S / scenario.schedule.step_s)
    if steps > MOST_STEPS:
        yield (
            f"calendar.days: {calendar.days} days have {steps:,} steps: expected at"
            f" most {MOST_STEPS:,}; lower it, or raise schedule.step_s"
        )
    drawn = scenario.faults_drawn
    eras = -(-calendar.days // drawn.era_days)
    listed = sum(
        one.badness if one.kind == "lemon_node" else 1 for one in scenario.faults
    )
    faults = round(listed + eras * sum(getattr(drawn, rate) for rate in _RATES))
    if faults > MOST_FAULTS:
        yield (
            f"faults_drawn: some {faults:,} faults: expected at most {MOST_FAULTS:,};"
            " lower its numbers, or raise faults_drawn.era_days"
        )
    first_s = calendar.queue_s[1] + calendar.load_s[1]
    if first_s >= calendar.days * _DAY_S:
        yield (
            f"calendar.queue_s: the first step may come after {first_s:,.0f} s:"
            " expected before the calendar's end; lower it or calendar.load_s"
        )
