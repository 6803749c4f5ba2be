"""Which encoding of Parquet makes a column small, told by a sample of it."""

from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

DICTIONARY: Final = "RLE_DICTIONARY"
DELTA: Final = "DELTA_BINARY_PACKED"
SPLIT: Final = "BYTE_STREAM_SPLIT"
PLAIN: Final = "PLAIN"

#: Rows of a run of the sample, those that share a width in Parquet's differences, and
#: how many runs there are. [1]
_RUN_ROWS: Final = 33
_RUNS: Final = 128

#: What an entry of a dictionary takes when it is packed. [bit]
_ENTRY_BITS: Final = 28

#: What a split float takes: its sign, exponent and a few leading digits pack well, the
#: others not at all. [bit]
_FLOAT_BITS: Final = 44


def encoding_of(column: pl.Series) -> str:
    """Return the encoding of a column that is expected to be the smallest."""
    if column.dtype == pl.Boolean:
        return PLAIN
    if column.dtype == pl.String or len(column) < _RUN_ROWS * _RUNS:
        return DICTIONARY
    sample = _sample(column)
    listed = _bits_listed(sample, len(column))
    if column.dtype.is_float():
        return DICTIONARY if listed < _FLOAT_BITS else SPLIT
    return DICTIONARY if listed < _bits_of_differences(sample) else DELTA


def _sample(column: pl.Series) -> NDArray[Any]:
    """Return runs of rows, evenly spread; rows without a value are as those before."""
    step = (len(column) - _RUN_ROWS) // _RUNS
    rows = np.arange(_RUNS)[:, None] * step + np.arange(_RUN_ROWS)[None, :]
    sample = column.gather(pl.Series(rows.ravel()))
    filled = sample.fill_null(strategy="forward").fill_null(strategy="zero")
    return filled.to_numpy().reshape(rows.shape)


def _bits_listed(sample: NDArray[Any], rows: int) -> float:
    """Estimate what a row takes in a dictionary, of how often values meet. [bit]

    As with birthdays: of n values out of D, n**2 / (2 D) pairs are equal.
    """
    _, counts = np.unique(sample, return_counts=True)
    pairs = float((counts * (counts - 1) // 2).sum())
    values = sample.size**2 / (2 * pairs) if pairs else float("inf")
    found = rows if values > rows * rows else values * -np.expm1(-rows / values)
    found = max(found, len(counts))
    return float(np.log2(max(found, 1.0)) + _ENTRY_BITS * found / rows)


def _bits_of_differences(sample: NDArray[Any]) -> float:
    """Return what a row takes as the difference to the row before. [bit]"""
    widths = np.ptp(np.diff(sample.astype(np.float64), axis=1), axis=1)
    return float(np.mean(np.log2(1 + widths)))
