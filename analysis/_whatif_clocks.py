"""GPUs whose clock is below that of their job."""

from typing import Final

import polars as pl

from analysis._straggler_power import gpu_keys, power_of
from ingest.tables import PowerSamples

#: Clock over the job's median below which a GPU counts as throttled. [1]
LOW_CLOCK: Final = 0.97

_UNKNOWN: Final = "no clocks of its GPUs are known: power telemetry by GPU tells them"


def slow_clocks(
    spans: pl.DataFrame, seats: pl.DataFrame, samples: pl.LazyFrame
) -> pl.DataFrame | str:
    """Return the throttled ranks of a run, or why there are none.

    Args:
        spans: When each rank was at work: `attempt`, `rank`, `from_ns`, `to_ns`.
        seats: Where ranks sit.
        samples: Rows of PowerSamples.

    Returns:
        Columns `attempt`, `rank` and `clock_ratio`, its mean clock over the job's
        median, for those below LOW_CLOCK. [1]
    """
    at_work = spans.select("attempt", "rank", "from_ns", "to_ns")
    keys = gpu_keys(seats).drop_nulls("key")
    owned = keys.join(at_work, on=["attempt", "rank"])
    clocked = samples.filter(PowerSamples.sm_clock_mhz.col.is_not_null())
    if owned.is_empty():
        return _UNKNOWN
    told = power_of(clocked, owned, "run_id").drop_nulls("clock_mhz")
    if told.is_empty():
        return _UNKNOWN
    ratio = pl.col("clock_mhz") / pl.col("clock_mhz").median()
    rated = told.select("attempt", "rank", clock_ratio=ratio).sort("attempt", "rank")
    slow = rated.filter(pl.col("clock_ratio") < LOW_CLOCK)
    if slow.is_empty():
        below = 100 * (1 - float(str(rated["clock_ratio"].min())))
        return f"no GPU is throttled: the slowest is {below:.1f} % below the median"
    return slow
