"""One row per series of transfers: its fixed part, its bandwidth, its tail."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._latency_groups import describe_groups
from analysis._latency_lines import TAIL_COUNT, beside_lines, lines
from analysis._latency_pieces import FLOOR_RATIO, LAST_SHARE
from analysis._latency_series import (
    SERIES,
    number_series,
    points,
    told,
    transfers,
)
from analysis._latency_told import anatomy, sizes
from analysis.bandwidth_checks import BandwidthChecks
from analysis.collective_waits import CollectiveWaits
from analysis.gpus import Gpus
from ingest.tables import Collectives, Table
from ingest.tables import _columns as c

_SOURCES: Final = ("trace", "benchmark")
_SCOPES: Final = ("group", "parallel_kind", "hosts", "test")

_TAIL: Final = "; null below 100 transfers of that size."


class LatencyAnatomy(Table):
    """One row per series of transfers: its fixed part, its bandwidth, its tail."""

    key: ClassVar = SERIES

    run_id = c.identifier("Run that the row belongs to.")
    source = c.choice("Where the times are from.", _SOURCES)
    scope = c.choice("What was brought together.", _SCOPES)
    group_id = c.identifier(
        "Group of ranks, parallel kind of several groups, nodes or test."
    )
    kind = c.identifier("Kind of collective; send_recv for a send and its receive.")
    ranks = c.number("Ranks of the group.", nullable=True)
    in_place = c.flag("Whether results replaced the input.", nullable=True)
    parallel_kind = c.identifier("What the group is for.", nullable=True)
    nodes = c.number(
        "Nodes that the ranks are on; null where not of every rank, or they differ.",
        nullable=True,
    )
    groups_count = c.count("Groups or tests that were brought together.")
    seen_count = c.count("Transfers that were seen.")
    timed_count = c.count("Transfers whose time is known.")
    sizes_count = c.count("Sizes among them; many are brought together.")
    smallest_bytes = c.size_bytes("Smallest of them.", nullable=True)
    largest_bytes = c.size_bytes("Largest of them.", nullable=True)
    alpha_ns = c.duration_ns(
        "Fixed part: time of a transfer without bytes.", nullable=True
    )
    alpha_low_ns = c.duration_ns("Lower end of its 95 % interval.", nullable=True)
    alpha_high_ns = c.duration_ns("Upper end of its 95 % interval.", nullable=True)
    beta_gbs = c.quantity(
        "Algbw of an endless message: bytes over time added.", "GB/s", nullable=True
    )
    beta_low_gbs = c.quantity("Lower end of its 95 % interval.", "GB/s", nullable=True)
    beta_high_gbs = c.quantity(
        "Upper end of its 95 % interval; null where it has none.", "GB/s", nullable=True
    )
    busbw_gbs = c.quantity(
        "The same, corrected for the kind; null where the kind has no factor.",
        "GB/s",
        nullable=True,
    )
    busbw_low_gbs = c.quantity("Lower end of its 95 % interval.", "GB/s", nullable=True)
    busbw_high_gbs = c.quantity(
        "Upper end of its 95 % interval; null where it has none.", "GB/s", nullable=True
    )
    half_bytes = c.size_bytes(
        "Size at which half the time is the fixed part.", nullable=True
    )
    residual_ratio = c.ratio(
        "How far medians are from the line, median of all sizes.", nullable=True
    )
    worst_ratio = c.ratio(
        "Median over line where it exceeds the line most: protocols change there.",
        nullable=True,
    )
    worst_bytes = c.size_bytes("Size where it does.", nullable=True)
    typical_bytes = c.size_bytes("Size seen most often.", nullable=True)
    typical_count = c.count("Transfers of it.")
    p50_ns = c.duration_ns("Median time of that size.", nullable=True)
    p99_ns = c.duration_ns(f"99th percentile of that size{_TAIL}", nullable=True)
    tail_ns = c.duration_ns(f"The latter less the former{_TAIL}", nullable=True)
    reason = c.text("Why a number is missing, or has but one bound.")


class LatencySizes(Table):
    """One row per size in a series of transfers, beside the line of the series."""

    key: ClassVar = (*SERIES, "bytes_total")

    run_id = c.identifier("Run that the row belongs to.")
    source = c.choice("Where the times are from.", _SOURCES)
    scope = c.choice("What was brought together.", _SCOPES)
    group_id = c.identifier(
        "Group of ranks, parallel kind of several groups, nodes or test."
    )
    kind = c.identifier("Kind of collective; send_recv for a send and its receive.")
    ranks = c.number("Ranks of the group.", nullable=True)
    in_place = c.flag("Whether results replaced the input.", nullable=True)
    bytes_total = c.size_bytes(
        "Size of the whole message; where there are over 64, the median of those within"
        " a quarter of an octave.",
        nullable=True,
    )
    low_bytes = c.size_bytes("Smallest size of the row.", nullable=True)
    high_bytes = c.size_bytes("Largest size of the row.", nullable=True)
    timed_count = c.count("Transfers whose time is known.")
    p05_ns = c.duration_ns("5th percentile of their times.")
    p50_ns = c.duration_ns("Median of their times.")
    p95_ns = c.duration_ns("95th percentile of their times.")
    tail_ns = c.duration_ns(f"99th percentile less the median{_TAIL}", nullable=True)
    line_ns = c.duration_ns("Time on the line of the series.", nullable=True)
    line_low_ns = c.duration_ns("Both ends low.", nullable=True)
    line_high_ns = c.duration_ns("Both ends high.", nullable=True)
    over_line_ratio = c.ratio("Median over line.", nullable=True)
    busbw_gbs = c.quantity("Bus bandwidth of the median.", "GB/s", nullable=True)
    busbw_low_gbs = c.quantity(
        "Bus bandwidth of the 95th percentile of times.", "GB/s", nullable=True
    )
    busbw_high_gbs = c.quantity(
        "Bus bandwidth of the 5th percentile of times.", "GB/s", nullable=True
    )
    line_busbw_gbs = c.quantity("Bus bandwidth of the line.", "GB/s", nullable=True)
    line_busbw_low_gbs = c.quantity(
        "Bus bandwidth of the line's high end.", "GB/s", nullable=True
    )
    line_busbw_high_gbs = c.quantity(
        "Bus bandwidth of the line's low end.", "GB/s", nullable=True
    )


#: What may be set, with its default.
THRESHOLDS: Final = {
    "latency_floor_ratio": FLOOR_RATIO,
    "latency_last_share": LAST_SHARE,
    "latency_tail_count": float(TAIL_COUNT),
}


def measure_latency(
    frames: Frames, thresholds: Thresholds = THRESHOLDS
) -> tuple[dy.DataFrame[LatencyAnatomy], dy.DataFrame[LatencySizes]]:
    """Take the times of transfers apart: fixed part, time per byte, tail.

    Args:
        frames: Waits of collectives, checked benchmarks, collectives and GPUs.
        thresholds: Those of THRESHOLDS.

    Returns:
        A row per series, and one per size in it, both in the order of their keys.
    """
    groups = describe_groups(frames[Collectives], frames[Gpus])
    rows = told(frames[CollectiveWaits], frames[BandwidthChecks])
    series = number_series(rows, groups)
    parted = transfers(rows, series)
    named = series.unique("series").select("series", *SERIES, "factor")
    found = points(parted).collect().join(named, on="series")
    ordered = found.sort("series", "bytes_total")
    floor_ratio, last_share, tail_count = (thresholds[name] for name in THRESHOLDS)
    fitted = lines(ordered, floor_ratio, last_share)
    beside = beside_lines(ordered, fitted, tail_count)
    fits = anatomy(parted, series, beside, fitted)
    return (
        LatencyAnatomy.validate(_ordered(fits, LatencyAnatomy), cast=True),
        LatencySizes.validate(_ordered(sizes(beside), LatencySizes), cast=True),
    )


def _ordered(rows: pl.DataFrame, table: type[Table]) -> pl.DataFrame:
    return rows.select(table.column_names()).sort(table.key)


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    fits, by_size = measure_latency(frames, thresholds)
    return {LatencyAnatomy: fits, LatencySizes: by_size}


ANALYSIS: Final = Analysis(
    name="latency_anatomy",
    version=1,
    describes="What a transfer takes without bytes, for each byte, and at its worst",
    inputs=(Collectives, Gpus, CollectiveWaits, BandwidthChecks),
    needs=(Collectives, CollectiveWaits, BandwidthChecks),
    outputs=(LatencyAnatomy, LatencySizes),
    compute=_compute,
    thresholds=THRESHOLDS,
)
