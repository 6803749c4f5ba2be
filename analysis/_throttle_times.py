"""Time that a GPU was slowed: by counters that a reset may start anew, or by bits."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import polars as pl

from analysis._energy_bridges import Bridges
from analysis._energy_segments import LEAST_LIMIT_W
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

#: Counter of each cause that has one.
COUNTERS: Final = {cause: counter for cause, (_, counter) in CAUSES.items() if counter}

_KEY: Final = ("run_id", "device")

#: Means of a GPU under load, and how many samples each is of.
LOADS: Final = {
    "loaded_clock_mhz": "loaded_clock_count",
    "loaded_w": "loaded_w_count",
    "utilization_ratio": "utilization_count",
}


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
    placed = placed_in(samples, held)
    return Drawn(
        told_best(slowed(placed, _KEY, bridges)),
        loads(placed, _KEY).select(
            *_KEY,
            "utilization_ratio",
            mean_clock_mhz="loaded_clock_mhz",
            mean_w="loaded_w",
        ),
    )


def placed_in(samples: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """Give samples the run that held their device; copies of a board make one.

    Args:
        samples: Rows of PowerSamples with `device`.
        held: `run_id`, `device`, `from_ns` and `to_ns`.
    """
    of_time = _one_per_time(samples)
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


def _one_per_time(samples: pl.DataFrame) -> pl.DataFrame:
    """Make one of the rows of a device and time, if there are several."""
    limit = PowerSamples.power_limit_w.col
    needed = samples.select(
        *("device", "time_ns", *COUNTERS.values(), "throttle_reasons", "sm_clock_mhz"),
        *("power_average_w", "power_instant_w", "utilization_ratio"),
        # a driver that knows no limit says zero
        power_limit_w=pl.when(limit >= LEAST_LIMIT_W).then(limit),
    )
    ordered = needed.sort("device", "time_ns")
    is_copy = pl.all_horizontal(
        pl.col(name) == pl.col(name).shift(1) for name in ("device", "time_ns")
    )
    if not ordered.select(is_copy.any()).item():
        return ordered
    return ordered.group_by("device", "time_ns").agg(pl.all().max())


def slowed(placed: pl.DataFrame, key: Sequence[str], bridges: Bridges) -> pl.DataFrame:
    """Return how long each was slowed, by bits and by counters.

    Args:
        placed: Rows of `placed_in`.
        key: Columns to add up by.
        bridges: For how long a sample stands for what follows it.

    Returns:
        The key, `bits_observed_ns`, `<cause>_bits_ns`, and of causes that have a
        counter `<cause>_observed_ns` and `<cause>_counter_ns`.
    """
    found = _by_bits(placed, key, bridges)
    for cause, counter in COUNTERS.items():
        found = found.join(
            _by_counter(placed, key, cause, counter),
            on=key,
            how="full",
            coalesce=True,
        )
    return found


def _by_bits(
    placed: pl.DataFrame, key: Sequence[str], bridges: Bridges
) -> pl.DataFrame:
    reasons = PowerSamples.throttle_reasons.col
    known = placed.filter(reasons.is_not_null())
    length = until_next()
    held_ns = pl.min_horizontal(length, bridges.allowed(length).cast(pl.Int64))
    spans = known.with_columns(_held=pl.when(length.is_not_null()).then(held_ns))
    return spans.group_by(key).agg(
        pl.col("_held").sum().alias("bits_observed_ns"),
        *(
            pl.col("_held")
            .filter((reasons & mask) != 0)
            .sum()
            .alias(f"{cause}_bits_ns")
            for cause, (mask, _) in CAUSES.items()
        ),
    )


def _by_counter(
    placed: pl.DataFrame, key: Sequence[str], cause: str, counter: str
) -> pl.DataFrame:
    """Add up what a counter rose by; one that fell began anew, at zero.

    It cannot rise by more than the time between: what it does then is not believed.
    """
    value = pl.col(counter)
    known = placed.filter(value.is_not_null())
    shown = value.shift(-1).over("device", "from_ns")
    rises = known.with_columns(_rise=risen(value, shown), _length=until_next())
    return rises.group_by(key).agg(
        pl.min_horizontal("_rise", "_length").sum().alias(f"{cause}_counter_ns"),
        pl.col("_length").sum().alias(f"{cause}_observed_ns"),
    )


def risen(value: pl.Expr, shown: pl.Expr) -> pl.Expr:
    """Return what a counter rose by until it showed something else."""
    return pl.when(shown < value).then(shown).otherwise(shown - value)


def until_next() -> pl.Expr:
    """Return the time until the next sample of the device in the same hold. [ns]"""
    time = pl.col("time_ns")
    return (time.shift(-1) - time).over("device", "from_ns")


def told_best(found: pl.DataFrame) -> pl.DataFrame:
    """Return the times of each cause by what tells most of it.

    Args:
        found: Rows of `slowed` by `run_id` and `device`.
    """
    parts = [
        found.select(
            *_KEY,
            throttled_ns=f"{cause}_{basis}_ns",
            observed_ns=observed,
            basis=pl.lit(basis),
            cause=pl.lit(cause),
        )
        for cause in CAUSES
        for basis, observed in (
            ("bits", "bits_observed_ns"),
            ("counter", f"{cause}_observed_ns"),
        )
        if basis == "bits" or cause in COUNTERS
    ]
    seen = pl.concat(parts).filter(pl.col("observed_ns") > 0)
    best = seen.sort(*_KEY, "cause", pl.col("basis") != "counter").unique(
        [*_KEY, "cause"], keep="first", maintain_order=True
    )
    ratio = pl.col("throttled_ns") / pl.col("observed_ns")
    return best.with_columns(throttled_ratio=ratio)


def loads(placed: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Return clock and power under load: by utilization, else by power.

    Args:
        placed: Rows of `placed_in`.
        key: Columns to average by.

    Returns:
        The key, and each of LOADS with its count.
    """
    power = pl.coalesce("power_average_w", "power_instant_w")
    is_loaded = pl.coalesce(
        pl.col("utilization_ratio") >= LOADED,
        power >= LOADED * pl.col("power_limit_w"),
        pl.lit(value=True),
    )
    values = {
        "loaded_clock_mhz": pl.col("sm_clock_mhz").filter(is_loaded),
        "loaded_w": power.filter(is_loaded),
        "utilization_ratio": pl.col("utilization_ratio"),
    }
    return placed.group_by(key, maintain_order=True).agg(
        *(values[name].mean().alias(name) for name in LOADS),
        *(
            values[name].count().cast(pl.Int64).alias(count)
            for name, count in LOADS.items()
        ),
    )
