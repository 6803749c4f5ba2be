"""How far another run of the same would vary a saving."""

from decimal import Decimal
from typing import Final

import polars as pl

#: Blocks of steps below which nothing is said of how much a saving varies. [1]
_MIN_BLOCKS: Final = 5

#: Share of intervals that lie below their upper end: of two ends 95 % lie between. [1]
_BELOW: Final = 0.975


def interval(blocks: pl.DataFrame) -> tuple[Decimal | None, Decimal | None]:
    """Return an interval of 95 % around the saving of blocks of steps. [ns]

    From the scatter of blocks in which it saved something, by Student's t: blocks are
    few. Where steps scatter more than their blocks tell, the steps count: that blocks
    depend on each other less makes no interval narrower. From zero on where no block
    lost.

    Args:
        blocks: Columns steps, saved_gpu_ns and saved_squared.
    """
    some = blocks.filter(pl.col("saved_gpu_ns") != 0)
    if some.height < _MIN_BLOCKS:
        return None, None
    saved = some["saved_gpu_ns"].cast(pl.Float64).sort()
    squares = float(some["saved_squared"].sort().sum())
    total = sum(some["saved_gpu_ns"].to_list())
    by_block = _half(len(saved), float(total), float((saved**2).sum()))
    by_step = _half(int(some["steps"].sum()), float(total), squares)
    half = round(max(by_block, by_step))
    least = 0 if float(str(saved.min())) > 0 else total - half
    return Decimal(max(total - half, least)), Decimal(total + half)


def _half(count: int, total: float, squares: float) -> float:
    """Return half an interval of the sum of some values, from their squares."""
    from scipy.special import stdtrit

    variance = max(squares - total**2 / count, 0.0) / (count - 1)
    return float(stdtrit(count - 1, _BELOW)) * float((variance * count) ** 0.5)
