"""Faults that a scenario has drawn: stops by a published mix, and slow things."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from ingest.synthetic._history_causes import TABLE_5, UPGRADE, Cause
from ingest.synthetic.cluster._draws import draws, number_of
from ingest.synthetic.cluster._placing import Maker
from ingest.synthetic.cluster.faults import PlacedFault
from ingest.synthetic.cluster.scenario import Scenario
from ingest.times import DAY_NS, SECOND_NS

#: Kinds of slow things, and the field that says how many an era has.
_SLOW: Final = (
    ("slow_gpu", "slow_gpus"),
    ("thermal_cap", "thermal_caps"),
    ("power_cap", "power_caps"),
    ("slow_link", "slow_links"),
    ("flow_collision", "flow_collisions"),
    ("data_stall", "data_stalls"),
    ("checkpoint_storm", "checkpoint_storms"),
)

#: How much worse links and checkpoints are than GPUs: their part of a step is smaller,
#: so that the step is longer by about as much. [1]
_LINK_FACTOR: Final = 8.0
_SAVE_FACTOR: Final = 40.0

#: How long another job takes the nodes: mean, exponential. [s]
_PREEMPTED_S: Final = 3_600.0


def drawn_faults(scenario: Scenario) -> Iterator[PlacedFault]:
    """Draw the faults of every era that the calendar touches.

    An era is drawn from its own number, so that a longer calendar begins alike.
    """
    drawn = scenario.faults_drawn
    for era in range(-(-scenario.calendar.days // drawn.era_days)):
        slow = (
            _slow(scenario, era, kind, getattr(drawn, count)) for kind, count in _SLOW
        )
        for same in (_stops(scenario, era), _preemptions(scenario, era), *slow):
            for number, fault in enumerate(same):
                draw = number_of("drawn", fault.kind, era, number)
                yield replace(fault, draw=draw)


def _times(
    scenario: Scenario, era: int, draw: np.random.Generator, count: int
) -> list[int]:
    """Draw moments of an era, in order: whole milliseconds. [ns]"""
    length = scenario.faults_drawn.era_days * DAY_NS
    begun = scenario.begun_ns + era * length
    at = np.sort(draw.integers(length // 1_000_000, size=count)) * 1_000_000
    return [begun + int(one) for one in at]


def _stops(scenario: Scenario, era: int) -> Iterator[PlacedFault]:
    """Draw the stops: their counts by cause as near to the table's as can be."""
    drawn = scenario.faults_drawn
    draw = draws(scenario.seed, "stops", era)
    causes = [*_mix(drawn.stops), *[UPGRADE] * drawn.planned]
    order = draw.permutation(len(causes))
    lemon = int(draw.integers(scenario.fleet.hosts))
    make = Maker(scenario)
    for at, which in zip(_times(scenario, era, draw, len(causes)), order, strict=True):
        cause = causes[which]
        host = int(draw.integers(scenario.fleet.hosts))
        if draw.random() < drawn.lemon_share:
            host = lemon
        yield make.stop(
            at, cause, host, int(draw.integers(scenario.fleet.gpus_per_node))
        )


def _mix(count: int) -> list[Cause]:
    """Return causes in the table's shares: largest remainders, exact at its size."""
    total = sum(cause.count for cause in TABLE_5)
    shares = [cause.count * count / total for cause in TABLE_5]
    whole = [int(share) for share in shares]
    rest = sorted(range(len(shares)), key=lambda one: (whole[one] - shares[one], one))
    for one in rest[: count - sum(whole)]:
        whole[one] += 1
    return [
        cause
        for cause, number in zip(TABLE_5, whole, strict=True)
        for _ in range(number)
    ]


def _preemptions(scenario: Scenario, era: int) -> Iterator[PlacedFault]:
    draw = draws(scenario.seed, "preemptions", era)
    make = Maker(scenario)
    count = int(draw.poisson(scenario.faults_drawn.preemptions))
    for at in _times(scenario, era, draw, count):
        length = round(draw.exponential(_PREEMPTED_S)) * SECOND_NS
        yield make.preemption(at, at + length)


def _slow(
    scenario: Scenario, era: int, kind: str, expected: float
) -> Iterator[PlacedFault]:
    """Draw slow things: exponential lengths, lognormal severities."""
    drawn = scenario.faults_drawn
    draw = draws(scenario.seed, kind, era)
    make = Maker(scenario)
    for at in _times(scenario, era, draw, int(draw.poisson(expected))):
        length = max(drawn.slow_least_s, draw.exponential(drawn.slow_s))
        worse = drawn.slow_median * float(
            np.exp(drawn.slow_sigma * draw.standard_normal())
        )
        worse = min(worse, drawn.slow_most)
        host = int(draw.integers(scenario.fleet.hosts))
        local = int(draw.integers(scenario.fleet.gpus_per_node))
        until = at + round(length) * SECOND_NS
        place = (None, None) if kind == "data_stall" else (host, local)
        yield make.slow(kind, (at, until), _severity(scenario, kind, worse), *place)


def _severity(scenario: Scenario, kind: str, worse: float) -> float:
    if kind == "data_stall":
        return round(worse * scenario.schedule.step_s, 3)
    factor = {
        "slow_link": _LINK_FACTOR,
        "flow_collision": _LINK_FACTOR,
        "checkpoint_storm": _SAVE_FACTOR,
    }.get(kind, 1.0)
    return round(1 + worse * factor, 4)
