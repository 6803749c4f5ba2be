"""Rungs of the ladder of causes that are about machines: power, faults and links."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._straggler_cause_limits import CauseLimits
from analysis._straggler_rung import Rung, percent, whole
from ingest.phrases import phrase

#: What a thing looks like that waits for others: it clears, and is never a cause.
VICTIM: Final = "victim"

_POWER: Final = ("power_samples", "power_rows")

#: What lowers clocks by design: its cause, the share of time, and its words.
_THROTTLED: Final = (
    ("thermal_slowdown", "thermal_counter", "slowed for heat"),
    ("power_cap", "power_counter", "slowed for power"),
    ("thermal_slowdown", "thermal_bits", "thermal bits set in"),
    ("power_brake", "brake_bits", "power brake bit set in"),
    ("power_cap", "power_bits", "power cap bit set in"),
)


def of_power(limits: CauseLimits) -> Iterator[Rung]:
    """Go down the rungs that power telemetry tells."""
    for cause, name, said in _THROTTLED:
        yield _throttled(cause, name, said, limits)
    yield _low_clock(limits)
    yield _at_limit(limits)


def of_faults(limits: CauseLimits) -> Iterator[Rung]:
    """Go down the rungs that events and counters of nodes and ports tell."""
    yield _failures()
    yield _link("link_errors", "errors", "errors", limits)
    queues = "pauses, marks and packets sent again"
    yield _link("congestion", "queues", queues, limits)


def _throttled(cause: str, name: str, said: str, limits: CauseLimits) -> Rung:
    of, missing = "of the time", f"no samples that tell how long it was {said}"
    if name.endswith("bits"):
        of = "of the samples under load"
        missing = "no samples with reasons for a lowered clock"
    evidence = phrase(
        f"{said} {{}} % {of}, the job's median {{}} %",
        percent(pl.col(name)),
        percent(pl.col(f"{name}_job")),
    )
    holds = _more(name, limits.slowed_share)
    return Rung(cause, holds, evidence, missing, *_POWER)


def _low_clock(limits: CauseLimits) -> Rung:
    clock, of_job = pl.col("clock_median_mhz"), pl.col("clock_median_mhz_job")
    evidence = phrase(
        "median SM clock {} MHz, the job's {} MHz", whole(clock), whole(of_job)
    )
    holds = clock < limits.low_clock_ratio * of_job
    return Rung("low_clock", holds, evidence, "no samples with a clock", *_POWER)


def _at_limit(limits: CauseLimits) -> Rung:
    limit, of_job = pl.col("limit_w"), pl.col("limit_w_job")
    is_lower = (limit < limits.low_limit_ratio * of_job) & _more("at_limit", 0)
    evidence = phrase(
        "at its limit of {} W in {} % of the samples, the job's median {} W",
        whole(limit),
        percent(pl.col("at_limit")),
        whole(of_job),
    )
    holds = _more("at_limit", limits.at_limit_share) | is_lower
    return Rung("power_cap", holds, evidence, "no samples with a limit", *_POWER)


def _failures() -> Rung:
    found = pl.col("events").is_not_null()
    holds = pl.when(found | pl.col("has_failures")).then(found)
    said = pl.coalesce("events", pl.lit("no failure event on it while it was slow"))
    missing = "no failure events were read, or its node is not known"
    return Rung("failure_events", holds, said, missing, "failures", "event_rows")


def _link(cause: str, name: str, said: str, limits: CauseLimits) -> Rung:
    own, job = pl.col(f"{name}_per_hour"), pl.col(f"{name}_per_hour_job")
    evidence = phrase(
        f"{said} on port {{}}: {{}}, that is {{}} an hour, the job's median port {{}}",
        f"{name}_port",
        name,
        whole(own),
        whole(job),
    )
    holds = (pl.col(name) > 0) & (own > limits.link_ratio * job)
    missing = f"no counters of {said} of its node's ports"
    return Rung(cause, holds, evidence, missing, "link_samples", "link_rows")


def victim(limits: CauseLimits) -> Rung:
    """Return what clears a thing: it draws little power, and is busy waiting.

    One whose clock is held down draws little, too, and works.
    """
    power, job = pl.col("power_w"), pl.col("power_w_job")
    busy = pl.col("utilization")
    is_low = power < limits.victim_power_ratio * job
    rungs = [rung.holds.fill_null(value=False) for rung in of_power(limits)]
    is_held = pl.any_horizontal(rungs)
    why = pl.when(is_low & is_held).then(pl.lit(": its clock is held down"))
    evidence = phrase(
        "{} W at {} % utilization, the job's median {} W{}",
        whole(power),
        percent(busy),
        whole(job),
        why.fill_null(""),
    )
    holds = is_low & (busy >= limits.victim_busy_share) & ~is_held
    missing = "no samples with power and utilization"
    return Rung(VICTIM, holds, evidence, missing, *_POWER)


def _more(name: str, share: float) -> pl.Expr:
    return pl.col(name) - pl.col(f"{name}_job") > share
