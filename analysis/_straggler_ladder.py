"""The ladder of causes: what makes each rung hold, and what is said of it."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

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

#: Share of the excess that something must make up to be its cause.
MOST_OF_IT: Final = 0.5

#: Correlation of forward with backward passes from which lengths of sequences speak.
#: Source: arXiv 2505.05713, section 5.3.
MOST_ALIKE: Final = 0.9

#: Sd of a stage's micro-batches below which they are all as long. [1]
LEAST_SPREAD: Final = 0.05

#: Share of slow micro-batches from which they are not scattered, but all. [1]
ALL_CELLS: Final = 0.9

#: Share of forward passes with a pause above which it is no pause. [1]
MOST_PAUSED: Final = 0.5

#: Power over the job's median below which a busy GPU does not work, but waits; and
#: the share of the time in which it is then busy. [1]
LITTLE_POWER: Final = 0.9
BUSY: Final = 0.9

#: What a thing looks like that waits for others: it clears, and is never a cause.
VICTIM: Final = "victim"


class Rung(NamedTuple):
    """A cause, when it holds (null: no data), what is said, and what was read."""

    cause: str
    holds: pl.Expr
    said: pl.Expr
    missing: str
    table: str
    rows: str


def ladder() -> Iterator[Rung]:
    """Go down the ladder, the strongest evidence first."""
    yield _throttled("thermal_slowdown", "thermal_counter", "slowed for heat")
    yield _throttled("power_cap", "power_counter", "slowed for power")
    yield _throttled("thermal_slowdown", "thermal_bits", "thermal bits set")
    yield _throttled("power_brake", "brake_bits", "power brake bit set")
    yield _throttled("power_cap", "power_bits", "power cap bit set")
    yield _low_clock()
    yield _at_limit()
    yield _failures()
    yield _link("link_errors", "errors", "errors")
    yield _link("congestion", "queues", "pauses, marks and packets sent again")
    yield _garbage()
    yield _stage()
    yield _lengths()
    yield _transfer()
    yield _data_loading()
    yield _victim()


def _throttled(cause: str, name: str, said: str) -> Rung:
    evidence = phrase(
        f"{said} {{}} % of the time, the job's median {{}} %",
        _percent(pl.col(name)),
        _percent(pl.col(f"{name}_job")),
    )
    missing = f"no samples that tell how long it was {said.removesuffix(' set')}"
    if name.endswith("bits"):
        missing = "no samples with reasons for a lowered clock"
    return Rung(cause, _more(name, MORE_OFTEN), evidence, missing, *_POWER)


def _low_clock() -> Rung:
    clock, of_job = pl.col("clock_mhz"), pl.col("clock_mhz_job")
    evidence = phrase(
        "SM clock {} MHz, the job's median {} MHz", _whole(clock), _whole(of_job)
    )
    holds = clock < LOW_CLOCK * of_job
    return Rung("low_clock", holds, evidence, "no samples with a clock", *_POWER)


def _at_limit() -> Rung:
    limit, of_job = pl.col("limit_w"), pl.col("limit_w_job")
    is_lower = (limit < LOW_CLOCK * of_job) & _more("at_limit", 0)
    evidence = phrase(
        "at its limit of {} W in {} % of the samples, the job's median {} W",
        _whole(limit),
        _percent(pl.col("at_limit")),
        _whole(of_job),
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
        _whole(own),
        _whole(job),
    )
    holds = (pl.col(name) > 0) & (own > MORE_ON_LINK * job)
    missing = f"no counters of {said} of its node's ports"
    return Rung(cause, holds, evidence, missing, "link_samples", "link_rows")


def _garbage() -> Rung:
    forward, backward = pl.col("forward_pause_ns"), pl.col("backward_pause_ns")
    is_pause = (pl.col("paused") < MOST_PAUSED) & (backward < (1 - MOST_OF_IT) * forward)
    told = pl.col("has_gc").fill_null(value=False)
    share = _share(pl.when(told).then("gc_ns").otherwise(forward))
    holds = (share >= MOST_OF_IT) & (told | is_pause)
    said = pl.when(told).then(pl.lit("garbage collection")).otherwise(
        pl.lit("pauses over 100 ms in forward passes alone")
    )
    evidence = phrase("{}: {} % of the excess", said, _percent(share))
    missing = "no traced passes of it"
    return Rung("garbage_collection", holds, evidence, missing, *_PASSES)


def _stage() -> Rung:
    holds = pl.col("scope") == "stage"
    said = pl.when(holds).then(pl.lit("a whole stage")).otherwise(
        pl.lit("its stage is not slow as a whole")
    )
    # a stage is compared by the waits of all its ranks
    return Rung("stage_imbalance", holds, said, "", *_STEPS)


def _lengths() -> Rung:
    scattered = pl.col("slow_cells") < ALL_CELLS
    half = 1 + MOST_OF_IT * (pl.col("slowdown_ratio") - 1)
    holds = (
        (pl.col("correlation") >= MOST_ALIKE)
        & (pl.col("spread") >= LEAST_SPREAD)
        & scattered
        & (pl.col("shortest") <= half)
    )
    evidence = phrase(
        "forward and backward passes correlate at {} over micro-batches, {} % of them"
        " slow, the shortest at {} of the stage's",
        pl.col("correlation").round(2),
        _percent(pl.col("slow_cells")),
        pl.col("shortest").round(2),
    )
    missing = "no traced micro-batches of it"
    return Rung("sequence_length", holds, evidence, missing, *_PASSES)


def _transfer() -> Rung:
    share = _share(pl.col("excess_transfer_ns"))
    evidence = phrase("{} % of the excess is transfer, not work", _percent(share))
    missing = "its steps do not tell transfers apart"
    holds = share >= MOST_OF_IT
    return Rung("slow_link", holds, evidence, missing, *_STEPS)


def _data_loading() -> Rung:
    share = _share(pl.col("excess_data_ns"))
    evidence = phrase("{} % of the excess is waiting for input", _percent(share))
    missing = "its steps do not tell the wait for input"
    holds = share >= MOST_OF_IT
    return Rung("data_loading", holds, evidence, missing, *_STEPS)


def _victim() -> Rung:
    power, job = pl.col("power_w"), pl.col("power_w_job")
    busy = pl.col("utilization")
    evidence = phrase(
        "{} W at {} % utilization, the job's median {} W",
        _whole(power),
        _percent(busy),
        _whole(job),
    )
    holds = (power < LITTLE_POWER * job) & (busy >= BUSY)
    missing = "no samples with power and utilization"
    return Rung(VICTIM, holds, evidence, missing, *_POWER)


#: Stands for the table that the steps of the run come from.
STEPS: Final = "steps"

_STEPS: Final = (STEPS, "step_rows")
_POWER: Final = ("power_samples", "power_rows")
_PASSES: Final = ("operations", "operation_rows")


def _share(part: pl.Expr) -> pl.Expr:
    return pl.when(pl.col("excess_ns") > 0).then(part / pl.col("excess_ns"))


def _more(name: str, share: float) -> pl.Expr:
    return pl.col(name) - pl.col(f"{name}_job") > share


def _percent(share: pl.Expr) -> pl.Expr:
    return (share * 100).round(1)


def _whole(value: pl.Expr) -> pl.Expr:
    return value.round().cast(pl.Int64)
