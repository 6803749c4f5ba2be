"""The energy of windows that may lie in each other, by samples of power."""

from collections.abc import Callable
from typing import Final

import polars as pl

from analysis._energy_bridges import Bridges
from analysis._energy_measure import integrate
from analysis._energy_names import identity, is_global
from analysis._host_names import host_names, spelled_alike
from ingest.tables import PowerSamples
from ingest.times import SECOND_NS

#: How far around a window samples are read: one is needed on each side, and at 30 s a
#: scrape may be lost. [ns]
MARGIN_NS: Final = 65 * SECOND_NS

_DEVICE: Final = ("_key", "level")

#: Columns that rows near a window have of it.
NEAR: Final = ("_key", "_cluster", "_host", "_from", "_to")

#: What is found of a window.
FOUND: Final = {
    "w": pl.UInt32(),
    "energy_j": pl.Float64(),
    "least_j": pl.Float64(),
    "most_j": pl.Float64(),
    "method": pl.String(),
    "coverage_ratio": pl.Float64(),
    "quality": pl.String(),
    "refresh_ns": pl.Float64(),
}

#: Measures windows of single devices.
Measure = Callable[[pl.DataFrame], pl.DataFrame]


def sampled_windows(
    samples: pl.LazyFrame, windows: pl.DataFrame, bridges: Bridges
) -> pl.DataFrame:
    """Measure windows by the samples of their device.

    Args:
        samples: Rows of PowerSamples.
        windows: Rows of EnergyWindows that are dated, with a number `w`.
        bridges: Which silences are bridged.

    Returns:
        The columns of FOUND, of windows of which any sample is there; the energy is
        between `least_j` and `most_j`.
    """
    read = _copied(samples, windows)
    measured = integrate(read, as_devices(windows), bridges).join(
        read.select("device").unique(), on="device", how="semi"
    )
    return measured.select(
        pl.col("device").cast(pl.UInt32).alias("w"),
        "energy_j",
        least_j="energy_j",
        most_j="energy_j",
        method="method",
        coverage_ratio="coverage_ratio",
        quality="quality",
        refresh_ns=pl.col("refresh_ns").cast(pl.Float64),
    )


def as_devices(windows: pl.DataFrame) -> pl.DataFrame:
    """Return windows as `integrate` takes them, each of a device of its own.

    Args:
        windows: Rows of EnergyWindows, with a number `w`.
    """
    spans = windows.select(
        device=pl.col("w").cast(pl.Int64),
        window=pl.lit(0, pl.Int64),
        from_ns="start_ns",
        to_ns="end_ns",
        is_shared=pl.lit(value=False),
        is_assumed=pl.lit(value=False),
    )
    return spans.filter(pl.col("from_ns") < pl.col("to_ns"))


def _copied(samples: pl.LazyFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Return the samples near each window, once for each that they are near."""
    time = PowerSamples.time_ns.col
    bounds = windows.select(
        first=pl.col("start_ns").min() - MARGIN_NS, last=pl.col("end_ns").max()
    )
    first, last = bounds.row(0)
    among = samples.filter(time.is_between(first, last + MARGIN_NS))
    start, end = pl.col("_from") - MARGIN_NS, pl.col("_to") + MARGIN_NS
    mine = near_windows(among, windows).filter(time.is_between(start, end))
    return mine.drop(NEAR).collect()


def near_windows(rows: pl.LazyFrame, windows: pl.DataFrame) -> pl.LazyFrame:
    """Return rows of the devices of windows, once for each window.

    Args:
        rows: Rows with `cluster`, `host`, `gpu_uuid` and `level`.
        windows: Rows of EnergyWindows, with a number `w`.

    Returns:
        The rows with the number of the window as their `device`, and NEAR.
    """
    near = windows.select(
        "level",
        _key=identity("gpu_uuid"),
        _cluster="cluster",
        _host="host",
        device=pl.col("w").cast(pl.Int64),
        _from="start_ns",
        _to="end_ns",
    )
    keyed = rows.with_columns(_key=identity("gpu_uuid"))
    found = keyed.join(near.lazy(), on=_DEVICE)
    is_same_host = (pl.col("host") == pl.col("_host")).fill_null(value=True)
    is_same = is_same_host & (pl.col("cluster") == pl.col("_cluster"))
    return found.filter(is_same | is_global("gpu_uuid"))


def windows_of_nodes(
    rows: pl.LazyFrame, windows: pl.DataFrame, measure: Measure
) -> pl.DataFrame:
    """Measure windows of all GPUs of a node together, GPU by GPU.

    Args:
        rows: Rows of the boards that were sampled: `cluster`, `host`, `gpu_uuid`.
        windows: Rows of EnergyWindows of nodes that are known, with a number `w`.
        measure: Measures those of single boards.

    Returns:
        What `measure` does; the energy is the sum over the GPUs that were sampled, the
        coverage that of the least covered.
    """
    seen = rows.select("cluster", "host", gpu="gpu_uuid").unique().collect()
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
        return pl.DataFrame(schema=FOUND)
    joules = pl.col("energy_j", "least_j", "most_j")
    is_known = pl.col("energy_j").null_count() == 0
    return (
        measure(apart)
        .join(apart.select("w", "_of"), on="w")
        .sort("w")
        .group_by("_of", maintain_order=True)
        .agg(
            pl.when(is_known).then(joules.sum()),
            method=pl.col("method").first(),
            coverage_ratio=pl.col("coverage_ratio").min(),
            quality=pl.col("quality").drop_nulls().sort().first(),
            refresh_ns=pl.col("refresh_ns").max(),
        )
        .select(pl.col("_of").alias("w"), *(name for name in FOUND if name != "w"))
    )
