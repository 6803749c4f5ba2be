"""One row per row of a link benchmark, its bandwidths recomputed."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._collective_kinds import bus_factor
from analysis._latency_printed import half_printed, with_digits
from analysis._latency_ranks import SLACK, with_ranks
from ingest.tables import BandwidthTests, Table
from ingest.tables import _columns as c

_AGREEMENTS: Final = ("exact", "within_rounding", "differs", "not_comparable")


class BandwidthChecks(Table):
    """One row per row of a link benchmark, its bandwidths recomputed."""

    key: ClassVar = ("run_id", "test_id", "position")

    run_id = c.identifier("Run or test that the row belongs to.")
    test_id = c.identifier("Table of results that the row is in.")
    position = c.index("Position of the row in its file.")
    hosts = c.text("Nodes that took part, separated by commas.")
    kind = c.identifier("Kind of collective; unknown where the source does not tell.")
    bytes_total = c.size_bytes("Size of the whole message.")
    in_place = c.flag("Whether the result replaced the input.", nullable=True)
    duration_ns = c.duration_ns("Time of one operation, as printed.")
    ranks = c.number("Ranks that took part.", nullable=True)
    ranks_basis = c.choice(
        "How the ranks are known: bandwidths, where busbw over algbw of a test leaves"
        " one number only.",
        ("told", "bandwidths", "unknown"),
    )
    algbw_gbs = c.quantity("Size over time, recomputed.", "GB/s", nullable=True)
    busbw_gbs = c.quantity(
        "Size over time, corrected for the kind, recomputed.", "GB/s", nullable=True
    )
    busbw_low_gbs = c.quantity(
        "Least that it can be, as the time was rounded.", "GB/s", nullable=True
    )
    busbw_high_gbs = c.quantity(
        "Most that it can be, as the time was rounded.", "GB/s", nullable=True
    )
    printed_algbw_gbs = c.quantity("Algbw as printed.", "GB/s", nullable=True)
    printed_busbw_gbs = c.quantity("Busbw as printed.", "GB/s", nullable=True)
    algbw_agreement = c.choice(
        "Algbw against the printed one: equal to the printed digits, equal for some"
        " time that is printed alike, or not.",
        _AGREEMENTS,
    )
    busbw_agreement = c.choice("Busbw against the printed one, alike.", _AGREEMENTS)


def check_bandwidths(
    tests: dy.LazyFrame[BandwidthTests],
) -> dy.DataFrame[BandwidthChecks]:
    """Recompute the bandwidths of a benchmark from sizes and times.

    Bytes over ns are GB/s, at 1e9 B to the GB. Times are printed rounded, so that a
    recomputed bandwidth has an interval; a printed one outside of it is of other
    numbers than those beside it.

    Args:
        tests: Rows of link benchmarks.

    Returns:
        One row per row of a benchmark, in the order of the key.
    """
    rows = with_ranks(with_digits(tests))
    size, time = pl.col("bytes_total"), pl.col("duration_ns")
    factor = benchmark_factor()
    slow, fast = time + pl.col("time_half_ns"), time - pl.col("time_half_ns")
    told = rows.rename(
        {"algbw_gbs": "printed_algbw_gbs", "busbw_gbs": "printed_busbw_gbs"}
    ).with_columns(
        algbw_gbs=pl.when(time > 0).then(size / time),
        algbw_low=pl.when(time > 0).then(size / slow),
        algbw_high=pl.when(fast > 0).then(size / fast),
    )
    bus = {
        "busbw_gbs": pl.col("algbw_gbs") * factor,
        "busbw_low_gbs": pl.col("algbw_low") * factor,
        "busbw_high_gbs": pl.col("algbw_high") * factor,
    }
    found = told.with_columns(**bus).with_columns(
        algbw_agreement=_agreement("algbw_gbs", "algbw_low", "algbw_high"),
        busbw_agreement=_agreement("busbw_gbs", "busbw_low_gbs", "busbw_high_gbs"),
    )
    ordered = found.select(BandwidthChecks.column_names()).sort(BandwidthChecks.key)
    return BandwidthChecks.validate(ordered.collect(), cast=True)


def benchmark_factor() -> pl.Expr:
    """Return busbw over algbw of a benchmark's row. [1]"""
    swaps = pl.when(pl.col("kind") == "sendrecv").then(1.0)
    return swaps.otherwise(bus_factor(pl.col("ranks"), "kind"))


def _agreement(exact: str, low: str, high: str) -> pl.Expr:
    printed, half = pl.col(f"printed_{exact}"), half_printed() * SLACK
    value = pl.col(exact)
    # the nearest number with so many decimals is the same float, however it was made
    rounded = (value * pl.lit(10.0).pow("decimals")).round()
    shown = (printed * pl.lit(10.0).pow("decimals")).round()
    is_inside = (printed >= pl.col(low) - half) & (printed <= pl.col(high) + half)
    return (
        pl.when(value.is_null() | printed.is_null())
        .then(pl.lit("not_comparable"))
        .when(rounded == shown)
        .then(pl.lit("exact"))
        .when(is_inside)
        .then(pl.lit("within_rounding"))
        .otherwise(pl.lit("differs"))
    )


def _compute(frames: Frames, _: Thresholds) -> Results:
    return {BandwidthChecks: check_bandwidths(frames[BandwidthTests])}


ANALYSIS: Final = Analysis(
    name="bandwidth_checks",
    version=1,
    describes="Whether a benchmark's bandwidths follow from its sizes and times",
    inputs=(BandwidthTests,),
    needs=(BandwidthTests,),
    outputs=(BandwidthChecks,),
    compute=_compute,
)
