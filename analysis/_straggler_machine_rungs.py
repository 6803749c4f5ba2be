"""Rungs of the ladder of causes that are about machines: power, faults and links."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._straggler_rung import Rung, percent, whole
from ingest.phrases import phrase

#: Share of its time that a GPU must be slowed beyond its peers. Under one power limit
#: all GPUs touch it now and then: what all share slows nobody in particular.
MORE_OFTEN: Final = 0.05

#: Share beyond that of the peers from which being at the limit is a cause: samples of
#: a second apart catch a limit less often than counters do.
MORE_AT_LIMIT: Final = 0.25

#: Clock over the job's median below which the clock is a cause.
LOW_CLOCK: Final = 0.97

#: Rate of a port's counters over that of the job's median port.
MORE_ON_LINK: Final = 3.0

#: Power over the job's median below which a busy GPU does not work, but waits. [1]
LITTLE_POWER: Final = 0.9

#: Share of the time in which it is then busy. [1]
BUSY: Final = 0.9

#: What a thing looks like that waits for others: it clears, and is never a cause.
VICTIM: Final = "victim"

_POWER: Final = ("power_samples", "power_rows")


def of_power() -> Iterator[Rung]:
    """Go down the rungs that power telemetry tells."""
    yield _throttled("thermal_slowdown", "thermal_counter", "slowed for heat")
    yield _throttled("power_cap", "power_counter", "slowed for power")
    yield _throttled("thermal_slowdown", "thermal_bits", "thermal bits set")
    yield _throttled("power_brake", "brake_bits", "power brake bit set")
    yield _throttled("power_cap", "power_bits", "power cap bit set")
    yield _low_clock()
    yield _at_limit()


def of_faults() -> Iterator[Rung]:
    """Go down the rungs that events and counters of nodes and ports tell."""
    yield _failures()
    yield _link("link_errors", "errors", "errors")
    yield _link("congestion", "queues", "pauses, marks and packets sent again")


def _throttled(cause: str, name: str, said: str) -> Rung:
    evidence = phrase(
        f"{said} {{}} % of the time, the job's median {{}} %",
        percent(pl.col(name)),
        percent(pl.col(f"{name}_job")),
    )
    missing = f"no samples that tell how long it was {said.removesuffix(' set')}"
    if name.endswith("bits"):
        missing = "no samples with reasons for a lowered clock"
    return Rung(cause, _more(name, MORE_OFTEN), evidence, missing, *_POWER)


def _low_clock() -> Rung:
    clock, of_job = pl.col("clock_mhz"), pl.col("clock_mhz_job")
    evidence = phrase(
        "SM clock {} MHz, the job's median {} MHz", whole(clock), whole(of_job)
    )
    holds = clock < LOW_CLOCK * of_job
    return Rung("low_clock", holds, evidence, "no samples with a clock", *_POWER)


def _at_limit() -> Rung:
    limit, of_job = pl.col("limit_w"), pl.col("limit_w_job")
    is_lower = (limit < LOW_CLOCK * of_job) & _more("at_limit", 0)
    evidence = phrase(
        "at its limit of {} W in {} % of the samples, the job's median {} W",
        whole(limit),
        percent(pl.col("at_limit")),
        whole(of_job),
    )
    holds = _more("at_limit", MORE_AT_LIMIT) | is_lower
    return Rung("power_cap", holds, evidence, "no samples with a limit", *_POWER)


def _failures() -> Rung:
    found = pl.col("events").is_not_null()
    holds = pl.when(found | pl.col("has_failures")).then(found)
    said = pl.coalesce("events", pl.lit("no failure event on it while it was slow"))
    missing = "no failure events were read, or its node is not known"
    return Rung("failure_events", holds, said, missing, "failures", "event_rows")


def _link(cause: str, name: str, said: str) -> Rung:
    own, job = pl.col(f"{name}_per_hour"), pl.col(f"{name}_per_hour_job")
    evidence = phrase(
        f"{said} on port {{}}: {{}}, that is {{}} an hour, the job's median port {{}}",
        f"{name}_port",
        name,
        whole(own),
        whole(job),
    )
    holds = (pl.col(name) > 0) & (own > MORE_ON_LINK * job)
    missing = f"no counters of {said} of its node's ports"
    return Rung(cause, holds, evidence, missing, "link_samples", "link_rows")


def victim() -> Rung:
    """Return what clears a thing: it draws little power, and is busy waiting."""
    power, job = pl.col("power_w"), pl.col("power_w_job")
    busy = pl.col("utilization")
    evidence = phrase(
        "{} W at {} % utilization, the job's median {} W",
        whole(power),
        percent(busy),
        whole(job),
    )
    holds = (power < LITTLE_POWER * job) & (busy >= BUSY)
    missing = "no samples with power and utilization"
    return Rung(VICTIM, holds, evidence, missing, *_POWER)


def _more(name: str, share: float) -> pl.Expr:
    return pl.col(name) - pl.col(f"{name}_job") > share
