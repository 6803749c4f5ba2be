"""How far another run of the same would vary a saving."""

from decimal import Decimal
from typing import Final

import polars as pl

#: Blocks of steps below which nothing is said of how much a saving varies. [1]
_MIN_BLOCKS: Final = 5

#: Share of intervals that lie below their upper end: of two ends 95 % lie between. [1]
_BELOW: Final = 0.975

#: Columns of rows of several blocks each: how many saved something, the steps of those,
#: and the squares of what each saved, summed up.
OF_SEVERAL: Final = ("blocks_count", "blocks_steps", "blocks_squares")


def interval(blocks: pl.DataFrame) -> tuple[Decimal | None, Decimal | None]:
    """Return an interval of 95 % around the saving of blocks of steps. [ns]

    From the scatter of blocks in which it saved something, by Student's t: blocks are
    few. Where steps scatter more than their blocks tell, the steps count: that blocks
    depend on each other less makes no interval narrower. From zero on where no block
    lost.

    Args:
        blocks: Columns steps, saved_gpu_ns and saved_squared; and, where a row is of
            several blocks, what OF_SEVERAL names.
    """
    some = _some(blocks)
    count = int(some["blocks_count"].sum())
    if count < _MIN_BLOCKS:
        return None, None
    saved = some["saved_gpu_ns"].cast(pl.Float64)
    squares, of_blocks = (
        float(some[name].sort().sum()) for name in ("saved_squared", "blocks_squares")
    )
    total = sum(some["saved_gpu_ns"].to_list())
    by_block = _half(count, float(total), of_blocks)
    by_step = _half(int(some["blocks_steps"].sum()), float(total), squares)
    half = round(max(by_block, by_step))
    least = 0 if float(str(saved.min())) > 0 else total - half
    return Decimal(max(total - half, least)), Decimal(total + half)


def _some(blocks: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that saved something, with the columns of OF_SEVERAL."""
    some = blocks.filter(pl.col("saved_gpu_ns") != 0)
    if set(OF_SEVERAL) <= set(some.columns):
        return some
    saved = pl.col("saved_gpu_ns").cast(pl.Float64)
    return some.with_columns(
        blocks_count=pl.lit(1), blocks_steps="steps", blocks_squares=saved**2
    )


def _half(count: int, total: float, squares: float) -> float:
    """Return half an interval of the sum of some values, from their squares."""
    from scipy.special import stdtrit

    variance = max(squares - total**2 / count, 0.0) / (count - 1)
    return float(stdtrit(count - 1, _BELOW)) * float((variance * count) ** 0.5)
