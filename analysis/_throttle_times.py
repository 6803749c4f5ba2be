"""Time that a GPU was slowed: by counters that a reset may start anew, or by bits."""

from typing import Final, NamedTuple

import polars as pl

from analysis._energy_segments import LEAST_LIMIT_W, Bridges
from analysis._straggler_cause_limits import LOADED
from ingest.tables import PowerSamples

#: Bits and counter of each cause, as NVML and DCGM number and name them. A counter goes
#: before bits: it misses nothing between samples.
CAUSES: Final[dict[str, tuple[int, str]]] = {
    "power_cap": (0x4, "throttle_power_ns"),
    "thermal": (0x20 | 0x40, "throttle_thermal_ns"),
    "power_brake": (0x80, ""),
    "hardware_slowdown": (0x8, ""),
    "sync_boost": (0x10, ""),
}

_KEY: Final = ("run_id", "device")

_COUNTERS: Final = tuple(counter for _, counter in CAUSES.values() if counter)


class Drawn(NamedTuple):
    """Time slowed for each cause, and the load, of devices in runs."""

    times: pl.DataFrame
    loads: pl.DataFrame


def throttled(samples: pl.DataFrame, held: pl.DataFrame, bridges: Bridges) -> Drawn:
    """Return how long devices were slowed while runs held them.

    Args:
        samples: Rows of PowerSamples with `device`.
        held: `run_id`, `device`, `from_ns` and `to_ns`.
        bridges: For how long a sample stands for what follows it.

    Returns:
        Times: `run_id`, `device`, `cause`, `basis`, `throttled_ns`, `observed_ns` and
        `throttled_ratio`, of causes that anything tells of. Loads: `mean_clock_mhz`,
        `mean_w` and `utilization_ratio` of each.
    """
    placed = _placed(samples, held)
    parts = [
        told
        for cause, (mask, counter) in CAUSES.items()
        for told in _of_cause(placed, cause, mask, counter, bridges)
    ]
    seen = pl.concat(parts).filter(pl.col("observed_ns") > 0)
    best = seen.sort(*_KEY, "cause", pl.col("basis") != "counter").unique(
        [*_KEY, "cause"], keep="first", maintain_order=True
    )
    ratio = pl.col("throttled_ns") / pl.col("observed_ns")
    return Drawn(best.with_columns(throttled_ratio=ratio), _loads(placed))


def _placed(samples: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """Give samples the run that held their device; copies of a board make one."""
    of_time = samples.group_by("device", "time_ns").agg(
        pl.col(*_COUNTERS, "throttle_reasons", "sm_clock_mhz").max(),
        pl.col("power_average_w", "power_instant_w").max(),
        _limit(),
        pl.col("utilization_ratio").max(),
    )
    joined = of_time.sort("time_ns").join_asof(
        held.sort("from_ns").select(*_KEY, "from_ns", "to_ns"),
        left_on="time_ns",
        right_on="from_ns",
        by="device",
        strategy="backward",
        check_sortedness=False,
    )
    inside = joined.filter(pl.col("time_ns") <= pl.col("to_ns"))
    return inside.sort("device", "from_ns", "time_ns")


def _limit() -> pl.Expr:
    """Return the highest limit; a driver that knows none says zero."""
    limit = PowerSamples.power_limit_w.col
    return limit.filter(limit >= LEAST_LIMIT_W).max()


def _of_cause(
    placed: pl.DataFrame, cause: str, mask: int, counter: str, bridges: Bridges
) -> list[pl.DataFrame]:
    bits = _by_bits(placed, mask, bridges).with_columns(basis=pl.lit("bits"))
    told = [bits]
    if counter:
        told += [_by_counter(placed, counter).with_columns(basis=pl.lit("counter"))]
    return [one.with_columns(cause=pl.lit(cause)) for one in told]


def _by_bits(placed: pl.DataFrame, mask: int, bridges: Bridges) -> pl.DataFrame:
    reasons = PowerSamples.throttle_reasons.col
    known = placed.filter(reasons.is_not_null())
    length = _until_next()
    held_ns = pl.min_horizontal(length, bridges.allowed(length).cast(pl.Int64))
    spans = known.with_columns(_held=pl.when(length.is_not_null()).then(held_ns))
    return spans.group_by(_KEY).agg(
        throttled_ns=pl.col("_held").filter((reasons & mask) != 0).sum(),
        observed_ns=pl.col("_held").sum(),
    )


def _by_counter(placed: pl.DataFrame, counter: str) -> pl.DataFrame:
    """Add up what a counter rose by; one that fell began anew, at zero.

    It cannot rise by more than the time between: what it does then is not believed.
    """
    value = pl.col(counter)
    known = placed.filter(value.is_not_null())
    shown = value.shift(-1).over("device", "from_ns")
    rise = pl.when(shown < value).then(shown).otherwise(shown - value)
    rises = known.with_columns(_rise=rise, _length=_until_next())
    slowed = pl.min_horizontal("_rise", "_length")
    return rises.group_by(_KEY).agg(
        throttled_ns=slowed.sum(), observed_ns=pl.col("_length").sum()
    )


def _until_next() -> pl.Expr:
    time = pl.col("time_ns")
    return (time.shift(-1) - time).over("device", "from_ns")


def _loads(placed: pl.DataFrame) -> pl.DataFrame:
    """Return clock and power under load: by utilization, else by power."""
    power = pl.coalesce("power_average_w", "power_instant_w")
    is_loaded = pl.coalesce(
        pl.col("utilization_ratio") >= LOADED,
        power >= LOADED * pl.col("power_limit_w"),
        pl.lit(value=True),
    )
    return placed.group_by(_KEY, maintain_order=True).agg(
        mean_clock_mhz=pl.col("sm_clock_mhz").filter(is_loaded).mean(),
        mean_w=power.filter(is_loaded).mean(),
        utilization_ratio=pl.col("utilization_ratio").mean(),
    )
