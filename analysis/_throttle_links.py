"""Which GPUs that were slowed were flagged as slow for that."""

from typing import Final

import polars as pl

from analysis._energy_names import OF_FILE, identity, is_global
from analysis._straggler_power import gpu_keys
from analysis._straggler_things import RANK
from ingest.phrases import phrase

#: Causes of a slow rank, by what slowed its GPU; a low clock may be of any.
CAUSES_OF_RANKS: Final = {
    "power_cap": ("power_cap", "low_clock"),
    "thermal": ("thermal_slowdown", "low_clock"),
    "power_brake": ("power_brake", "low_clock"),
    "hardware_slowdown": ("thermal_slowdown", "power_brake", "low_clock"),
}

_BUS: Final = r"([0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-9a-f])?$"


def stragglers_of(
    slow: pl.DataFrame, gpus: pl.LazyFrame, devices: pl.DataFrame
) -> pl.DataFrame:
    """Return what slow spells of single GPUs cost, by device and cause.

    Args:
        slow: Rows of StragglerRanks.
        gpus: Rows of Gpus.
        devices: Rows of `devices_of`.

    Returns:
        `run_id`, `device`, `cause`, `slowdown_ratio` and `lost_gpu_ns`.
    """
    causes = pl.DataFrame(
        [
            {"cause": cause, "_of": of}
            for cause, names in CAUSES_OF_RANKS.items()
            for of in names
        ]
    )
    single = slow.drop_nulls("rank").select(
        "run_id", "attempt", "rank", "slowdown_ratio", "lost_gpu_ns", _of="cause"
    )
    seats = gpus.join(single.lazy(), on=list(RANK), how="semi").collect()
    name = pl.col("gpu_uuid").str.replace(OF_FILE, "")
    bus = phrase("pci:{}", name.str.to_lowercase().str.extract(_BUS))
    known = devices.select(
        "device",
        _host="host",
        key=pl.when(name.str.starts_with("pci:"))
        .then(bus)
        .when(is_global("gpu_uuid"))
        .then(identity("gpu_uuid"))
        .otherwise(name),
    )
    keys = gpu_keys(seats).join(known, on="key")
    is_there = (pl.col("at") == pl.col("_host")).fill_null(value=True)
    placed = keys.filter(is_there).select("run_id", "attempt", "rank", "device")
    found = single.join(placed.unique(), on=["run_id", "attempt", "rank"])
    return (
        found.join(causes, on="_of")
        .group_by("run_id", "device", "cause")
        .agg(pl.col("slowdown_ratio").max(), pl.col("lost_gpu_ns").sum())
    )
