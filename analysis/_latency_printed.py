"""What a benchmark printed, to the digits that it printed."""

from typing import Final

import polars as pl

from ingest.tables import BandwidthTests

#: Decimals of a bandwidth that every nccl-tests prints, and the most looked for.
#: Source: nccl-tests, src/common.cu (`%6.2f`).
LEAST_DECIMALS: Final = 2
MOST_DECIMALS: Final = 9

#: A time is printed with two digits at least (`%.1e`).
_LEAST_DIGITS: Final = 2

#: Digits of the longest time that fits into the lake.
_MOST_DIGITS: Final = 18

TEST: Final = ("run_id", "test_id")


def with_digits(tests: pl.LazyFrame) -> pl.LazyFrame:
    """Add how fine times and bandwidths were printed, as far as the numbers tell.

    The last place of a time is the largest power of ten that divides all times of a
    test with as many digits; that of bandwidths holds for the whole test.

    Args:
        tests: Rows of BandwidthTests.

    Returns:
        The rows with `time_half_ns` (half of the last place) and `decimals`.
    """
    digits = pl.col("duration_ns").cast(pl.String).str.len_chars().cast(pl.Int64)
    told = tests.with_columns(digits=digits)
    steps = [
        pl.when((pl.col("duration_ns") % 10**place == 0).all().over(*TEST, "digits"))
        .then(place)
        .otherwise(0)
        for place in range(1, _MOST_DIGITS)
    ]
    place = pl.max_horizontal(0, *steps).clip(0, pl.col("digits") - _LEAST_DIGITS)
    half = 0.5 * pl.lit(10.0).pow(place.clip(0))
    return told.with_columns(time_half_ns=half, decimals=_decimals()).drop("digits")


def _decimals() -> pl.Expr:
    """Return the decimals that every bandwidth of the test can be written with. [1]"""
    finer = [
        pl.any_horizontal(
            (column.round(places) != column).any().over(TEST)
            for column in (BandwidthTests.algbw_gbs.col, BandwidthTests.busbw_gbs.col)
        )
        .fill_null(value=False)
        .cast(pl.Int32)
        for places in range(LEAST_DECIMALS, MOST_DECIMALS)
    ]
    return LEAST_DECIMALS + pl.sum_horizontal(finer)


def half_printed() -> pl.Expr:
    """Return half of the last place of a test's bandwidths. [GB/s]"""
    return 0.5 * pl.lit(10.0).pow(-pl.col("decimals"))
