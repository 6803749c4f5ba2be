"""The energy of windows that may lie in each other, by samples of power."""

from typing import Final

import polars as pl

from analysis._energy_measure import integrate
from analysis._energy_names import identity, is_global
from analysis._energy_segments import Bridges
from analysis._host_names import host_names, spelled_alike
from ingest.tables import PowerSamples
from ingest.times import SECOND_NS

#: How far around a window samples are read: one is needed on each side, and at 30 s a
#: scrape may be lost. [ns]
MARGIN_NS: Final = 65 * SECOND_NS

_DEVICE: Final = ("_key", "level")


def sampled_windows(
    samples: pl.LazyFrame, windows: pl.DataFrame, bridges: Bridges
) -> pl.DataFrame:
    """Measure windows by the samples of their device.

    Args:
        samples: Rows of PowerSamples.
        windows: Rows of EnergyWindows that are dated, with a number `w`.
        bridges: Which silences are bridged.

    Returns:
        `w`, `energy_j`, `method`, `coverage_ratio`, `quality` and `refresh_ns` of
        windows of which any sample is there.
    """
    read = _copied(samples, windows)
    pieces = windows.select(
        device=pl.col("w").cast(pl.Int64),
        window=pl.lit(0, pl.Int64),
        from_ns="start_ns",
        to_ns="end_ns",
        is_shared=pl.lit(value=False),
        is_assumed=pl.lit(value=False),
    ).filter(pl.col("from_ns") < pl.col("to_ns"))
    measured = integrate(read, pieces, bridges).join(
        read.select("device").unique(), on="device", how="semi"
    )
    return measured.select(
        pl.col("device").cast(pl.UInt32).alias("w"),
        "energy_j",
        "method",
        "coverage_ratio",
        "quality",
        pl.col("refresh_ns").cast(pl.Float64),
    )


def _copied(samples: pl.LazyFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Return the samples near each window, once for each that they are near."""
    time = PowerSamples.time_ns.col
    near = windows.select(
        "level",
        _key=identity("gpu_uuid"),
        _cluster="cluster",
        _host="host",
        device=pl.col("w").cast(pl.Int64),
        _from=pl.col("start_ns") - MARGIN_NS,
        _to=pl.col("end_ns") + MARGIN_NS,
    )
    among = samples.filter(time.is_between(near["_from"].min(), near["_to"].max()))
    keyed = among.with_columns(_key=identity("gpu_uuid"))
    found = keyed.join(near.lazy(), on=_DEVICE)
    is_same_host = (pl.col("host") == pl.col("_host")).fill_null(value=True)
    is_same = is_same_host & (pl.col("cluster") == pl.col("_cluster"))
    inside = time.is_between(pl.col("_from"), pl.col("_to"))
    mine = found.filter(inside & (is_same | is_global("gpu_uuid")))
    return mine.drop("_key", "_cluster", "_host", "_from", "_to").collect()


def windows_of_nodes(
    samples: pl.LazyFrame, windows: pl.DataFrame, bridges: Bridges
) -> pl.DataFrame:
    """Measure windows of all GPUs of a node together, GPU by GPU.

    Args:
        samples: Rows of PowerSamples.
        windows: Rows of EnergyWindows of nodes that are known, with a number `w`.
        bridges: Which silences are bridged.

    Returns:
        What `sampled_windows` does; the energy is the sum over the GPUs that were
        sampled, the coverage that of the least covered.
    """
    boards = samples.filter(PowerSamples.level.col == "gpu_board")
    seen = boards.select("cluster", "host", gpu="gpu_uuid").unique().collect()
    names = host_names([windows.lazy(), seen.lazy()])
    gpus = spelled_alike(seen.lazy(), names).unique().collect()
    apart = (
        windows.join(gpus, on=["cluster", "host"])
        .sort("w", "gpu")
        .with_columns(
            _of="w",
            gpu_uuid="gpu",
            level=pl.lit("gpu_board"),
            w=pl.int_range(pl.len(), dtype=pl.UInt32),
        )
    )
    if apart.is_empty():
        return sampled_windows(samples.limit(0), windows.head(0), bridges)
    found = sampled_windows(samples, apart, bridges)
    return (
        found.join(apart.select("w", "_of"), on="w")
        .sort("w")
        .group_by("_of", maintain_order=True)
        .agg(
            energy_j=pl.when(pl.col("energy_j").null_count() == 0).then(
                pl.col("energy_j").sum()
            ),
            method=pl.col("method").first(),
            coverage_ratio=pl.col("coverage_ratio").min(),
            quality=pl.col("quality").drop_nulls().sort().first(),
            refresh_ns=pl.col("refresh_ns").max(),
        )
        .rename({"_of": "w"})
    )
