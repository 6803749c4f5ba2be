"""Why a slow thing is slow: the strongest cause that its telemetry speaks for."""

from typing import Final, NamedTuple

import polars as pl

from analysis._straggler_failures import failures_of
from analysis._straggler_power import STATISTICS, gpu_keys, power_of
from analysis._straggler_things import RANK
from ingest.phrases import phrase

#: Share of its time that a GPU must be slowed beyond its peers. Under one power limit
#: all GPUs touch it now and then: what all share slows nobody in particular.
MORE_OFTEN: Final = 0.05

#: Share beyond that of the peers from which being at the limit is a cause: samples of
#: a second apart catch a limit less often than counters do.
MORE_AT_LIMIT: Final = 0.25

#: Clock over the job's median below which the clock is a cause.
LOW_CLOCK: Final = 0.97

#: Share of the excess that waiting for input must make up to be its cause.
MOST_OF_IT: Final = 0.5

UNKNOWN: Final = "unknown"


class _Rung(NamedTuple):
    """A cause, when it holds, and what then speaks for it."""

    cause: str
    holds: pl.Expr
    evidence: pl.Expr


def find_causes(
    slow: pl.DataFrame,
    spans: pl.DataFrame,
    seats: pl.DataFrame,
    samples: pl.LazyFrame,
    failures: pl.LazyFrame,
) -> pl.DataFrame:
    """Go down a ladder of causes, the strongest evidence first.

    Args:
        slow: Slow things: `spell`, `run_id`, `scope`, `excess_ns`, `excess_data_ns`.
        spans: When each of their ranks was slow: `spell`, RANK, `from_ns`, `to_ns`.
        seats: Where ranks sit.
        samples: Rows of PowerSamples.
        failures: Rows of Failures.

    Returns:
        Columns `spell`, `cause` and `evidence`: all that holds, the cause's first.
    """
    told = slow.join(_power(spans, seats, samples), on="spell", how="left")
    told = told.join(failures_of(spans, seats, failures), on="spell", how="left")
    rungs = _ladder()
    cause = pl.coalesce(
        *(pl.when(rung.holds).then(pl.lit(rung.cause)) for rung in rungs),
        pl.lit(UNKNOWN),
    )
    said = pl.concat_str(
        [pl.when(rung.holds).then(rung.evidence) for rung in rungs],
        separator="; ",
        ignore_nulls=True,
    )
    evidence = pl.when(said.str.len_chars() > 0).then(said)
    return told.select("spell", cause=cause, evidence=evidence)


def _power(
    spans: pl.DataFrame, seats: pl.DataFrame, samples: pl.LazyFrame
) -> pl.DataFrame:
    """Return the statistics of each thing's GPUs, and the median of its job's."""
    keys = gpu_keys(seats)
    runs = spans.group_by("run_id").agg(pl.col("from_ns").min(), pl.col("to_ns").max())
    own = power_of(samples, spans.join(keys, on=list(RANK)), "spell")
    all_of_run = power_of(samples, keys.join(runs, on="run_id"), "run_id")
    means = own.group_by("spell", "run_id").agg(pl.col(STATISTICS).mean())
    job = all_of_run.group_by("run_id").agg(pl.col(STATISTICS).median())
    return means.join(job, on="run_id", suffix="_job").drop("run_id")


def _ladder() -> tuple[_Rung, ...]:
    return (
        _throttled("thermal_slowdown", "thermal_counter", "slowed for heat"),
        _throttled("power_cap", "power_counter", "slowed for power"),
        _throttled("thermal_slowdown", "thermal_bits", "thermal bits set"),
        _throttled("power_brake", "brake_bits", "power brake bit set"),
        _throttled("power_cap", "power_bits", "power cap bit set"),
        _low_clock(),
        _at_limit(),
        _Rung("failure_events", pl.col("events").is_not_null(), pl.col("events")),
        _Rung("stage_imbalance", pl.col("scope") == "stage", pl.lit("a whole stage")),
        _data_loading(),
    )


def _throttled(cause: str, name: str, said: str) -> _Rung:
    evidence = phrase(
        f"{said} {{}} % of the time, the job's median {{}} %",
        _percent(pl.col(name)),
        _percent(pl.col(f"{name}_job")),
    )
    return _Rung(cause, _more(name, MORE_OFTEN), evidence)


def _low_clock() -> _Rung:
    clock, of_job = pl.col("clock_mhz"), pl.col("clock_mhz_job")
    evidence = phrase(
        "SM clock {} MHz, the job's median {} MHz", _whole(clock), _whole(of_job)
    )
    return _Rung("low_clock", clock < LOW_CLOCK * of_job, evidence)


def _at_limit() -> _Rung:
    limit, of_job = pl.col("limit_w"), pl.col("limit_w_job")
    is_lower = (limit < LOW_CLOCK * of_job) & _more("at_limit", 0)
    evidence = phrase(
        "at its limit of {} W in {} % of the samples, the job's median {} W",
        _whole(limit),
        _percent(pl.col("at_limit")),
        _whole(of_job),
    )
    return _Rung("power_cap", _more("at_limit", MORE_AT_LIMIT) | is_lower, evidence)


def _data_loading() -> _Rung:
    is_known = pl.col("excess_ns") > 0
    share = pl.when(is_known).then(pl.col("excess_data_ns") / pl.col("excess_ns"))
    evidence = phrase("{} % of the excess is waiting for input", _percent(share))
    return _Rung("data_loading", share >= MOST_OF_IT, evidence)


def _more(name: str, share: float) -> pl.Expr:
    return pl.col(name) - pl.col(f"{name}_job") > share


def _percent(share: pl.Expr) -> pl.Expr:
    return (share * 100).round(1)


def _whole(value: pl.Expr) -> pl.Expr:
    return value.round().cast(pl.Int64)
