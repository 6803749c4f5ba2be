"""Time that GPUs were slowed, by the hours that their samples were condensed to."""

from typing import Final

import polars as pl

from analysis._energy_bridges import Bridges
from analysis._power_rolled import Lot, placed_hours
from analysis._throttle_times import CAUSES, COUNTERS, LOADS, Drawn, risen, told_best

_KEY: Final = ("run_id", "device")

_SPAN: Final = (*_KEY, "from_ns", "to_ns")

_TIMES: Final = (
    "bits_observed_ns",
    *(f"{cause}_bits_ns" for cause in CAUSES),
    *(f"{cause}_{name}_ns" for cause in COUNTERS for name in ("counter", "observed")),
)

#: Columns of hours that time slowed is told by.
OF_SLOWED: Final = (*_TIMES, *LOADS, *LOADS.values())


def slowed_hours(lot: Lot, held: pl.DataFrame, bridges: Bridges) -> Drawn:
    """Return how long devices were slowed while runs held them.

    Args:
        lot: Devices, their days and hours.
        held: `run_id`, `device`, `from_ns` and `to_ns`.
        bridges: For how long a sample stands for what follows it.

    Returns:
        What `throttled` does.
    """
    mine = held.join(lot.devices, on="device", how="semi").select(_SPAN)
    placed = placed_hours(lot.hours, mine)
    shared = [
        (pl.col(name) * pl.col("share")).round().cast(pl.Int64).alias(name)
        for name in _TIMES
    ]
    hours = placed.select(
        *_KEY,
        *(
            pl.when(pl.col("share") == 1).then(name).otherwise(part).alias(name)
            for name, part in zip(_TIMES, shared, strict=True)
        ),
    )
    nights = [
        _bits(lot.days, mine, bridges),
        *(_counters(lot.days, mine, cause) for cause in COUNTERS),
    ]
    every = pl.concat([hours, *nights], how="diagonal_relaxed")
    times = every.group_by(_KEY).agg(
        pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()).alias(name)
        for name in _TIMES
    )
    return Drawn(told_best(times), _loads(placed))


def _nights(days: pl.DataFrame, held: pl.DataFrame, what: str) -> pl.DataFrame:
    """Return the time between days in which one hold lasted on."""
    first, last = f"{what}_first_ns", f"{what}_last_ns"
    ordered = days.drop_nulls(first).sort("device", first)
    following = [
        pl.col(name).shift(-1).over("device").alias(f"_next_{name}")
        for name in days.columns
        if name.startswith(f"{what}_first")
    ]
    pairs = ordered.with_columns(
        pl.col(f"{what}_interval_ns").median().over("device").alias("_usual")
        if what == "reasons"
        else pl.lit(None).alias("_usual"),
        *following,
    ).drop_nulls(f"_next_{first}")
    placed = (
        pairs.drop("run_id", strict=False)
        .sort(last)
        .join_asof(
            held.rename({"from_ns": "_from", "to_ns": "_to"}).sort("_from"),
            left_on=last,
            right_on="_from",
            by="device",
            strategy="backward",
            check_sortedness=False,
        )
    )
    length = pl.col(f"_next_{first}") - pl.col(last)
    inside = placed.filter(pl.col(f"_next_{first}") <= pl.col("_to"))
    return inside.with_columns(_length=length).filter(pl.col("_length") > 0)


def _bits(days: pl.DataFrame, held: pl.DataFrame, bridges: Bridges) -> pl.DataFrame:
    between = _nights(days, held, "reasons")
    usual = (bridges.intervals * pl.col("_usual")).clip(bridges.floor_ns)
    allowed = usual.clip(upper_bound=bridges.ceiling_ns).cast(pl.Int64)
    stands = pl.min_horizontal("_length", allowed)
    return between.select(
        *_KEY,
        bits_observed_ns=stands,
        **{
            f"{cause}_bits_ns": pl.when((pl.col("reasons_last") & mask) != 0)
            .then(stands)
            .otherwise(0)
            for cause, (mask, _) in CAUSES.items()
        },
    )


def _counters(days: pl.DataFrame, held: pl.DataFrame, cause: str) -> pl.DataFrame:
    between = _nights(days, held, cause)
    rise = risen(
        pl.col(f"{cause}_last_counter_ns"), pl.col(f"_next_{cause}_first_counter_ns")
    )
    return between.select(
        *_KEY,
        pl.min_horizontal(rise, "_length").alias(f"{cause}_counter_ns"),
        pl.col("_length").alias(f"{cause}_observed_ns"),
    )


def _loads(placed: pl.DataFrame) -> pl.DataFrame:
    """Return the means over samples of all hours, the longer ones weighed so."""
    means = []
    for name, count in LOADS.items():
        weight = pl.col(count) * pl.col("share")
        weighed = (pl.col(name) * weight).sum() / weight.filter(
            pl.col(name).is_not_null()
        ).sum()
        means.append(pl.when(pl.col(name).count() > 0).then(weighed).alias(name))
    told = placed.group_by(_KEY).agg(means)
    return told.select(
        *_KEY,
        "utilization_ratio",
        mean_clock_mhz="loaded_clock_mhz",
        mean_w="loaded_w",
    )
