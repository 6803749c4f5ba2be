"""What the search for hangs returns."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of hangs, without their attempt; None where there is none.

    Attributes:
        hangs: Rows of Hangs.
        suspects: Rows of HangSuspects.
        waits: Rows of HangWaits.
    """

    hangs: pl.DataFrame | None = None
    suspects: pl.DataFrame | None = None
    waits: pl.DataFrame | None = None
