"""What hiding costs: compute kernels beside communication against the same alone."""

from statistics import NormalDist
from typing import ClassVar, Final

import polars as pl

from analysis._overlap_hiding import WITHIN_95
from ingest.tables import Table
from ingest.tables import _columns as c

#: Chance that any kernel of a run is called slower though none is. [1]
FALSE_ALARM: Final = 0.01

#: Slowdown that a kernel is called slower from: healthy GPUs differ by up to 1 %. [1]
LEAST_SLOWDOWN: Final = 1.01

#: Least relative error of a ratio: clocks tick in whole nanoseconds. [1]
_LEAST_ERROR: Final = 1e-6


class HidingCosts(Table):
    """One row per device and compute kernel that ran beside communication and alone."""

    key: ClassVar = ("run_id", "attempt", "trace_id", "device", "name")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    trace_id = c.identifier("Trace that was measured.")
    rank = c.index("Global rank; null where the trace does not tell.", nullable=True)
    device = c.index("Device inside the trace.")
    name = c.identifier("Name of the kernel.")
    alone_count = c.count(
        "Kernels without any communication at the same time, among the first million of"
        " the device."
    )
    overlapped_count = c.count("Kernels beside communication for half of their time.")
    alone_ns = c.quantity("Median length of those alone.", "ns")
    overlapped_ns = c.quantity("Median length of those beside communication.", "ns")
    slowdown_ratio = c.ratio("Second median over the first.")
    slowdown_low_ratio = c.ratio(
        "Lower end of its 95 % interval, from the spread of either sort's middle; wide"
        " where kernels of one name do work of several sizes."
    )
    slowdown_high_ratio = c.ratio("Upper end of that interval.")
    cost_ns = c.quantity(
        "Difference of the medians times the overlapped kernels: what hiding costs;"
        " negative where these are the shorter ones.",
        "ns",
        minimum=None,
    )


def by_name(costs: pl.DataFrame) -> pl.DataFrame:
    """Bring the devices of a run together, kernel by kernel.

    Ratios are averaged by the inverse of their variance, as logarithms. A kernel is
    slower where its ratio is beyond chance, at the level of FALSE_ALARM shared among
    the kernels of the run (Bonferroni), and at least LEAST_SLOWDOWN.

    Args:
        costs: Rows of HidingCosts.

    Returns:
        Columns `run_id`, `name`, `slowdown_ratio` [1], `cost_ns` [ns], `is_slower`, the
        most expensive first.
    """
    far = (pl.col("slowdown_high_ratio") / pl.col("slowdown_low_ratio")).log()
    error = (far / (2 * WITHIN_95)).clip(_LEAST_ERROR)
    weight = 1 / error**2
    log_ratio = (pl.col("slowdown_ratio").log() * weight).sum() / weight.sum()
    named = costs.sort(HidingCosts.key).group_by("run_id", "name", maintain_order=True)
    told = named.agg(
        pl.col("cost_ns").sum(),
        slowdown_ratio=log_ratio.exp(),
        z=log_ratio * weight.sum().sqrt(),
    )
    level = FALSE_ALARM / max(told.height, 1)
    beyond = pl.col("z") > NormalDist().inv_cdf(1 - level)
    is_slower = beyond & (pl.col("slowdown_ratio") >= LEAST_SLOWDOWN)
    order = ["cost_ns", "run_id", "name"]
    return (
        told.with_columns(is_slower=is_slower)
        .drop("z")
        .sort(order, descending=[True, False, False])
    )
