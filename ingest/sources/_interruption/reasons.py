"""Why a cell of a list of interruptions is no instant, or no duration."""

from typing import Final
from zoneinfo import ZoneInfo

import polars as pl

from ingest.sources._interruption.columns import UNITS
from ingest.sources._stamps import iso_ns

#: Rules of cells that a clock or a ruler has no word for.
HINTS: Final = {
    **dict.fromkeys(
        ("start_ns|no_such_time", "end_ns|no_such_time"),
        "an hour that the zone has: clocks went past it; a wrong zone would explain it",
    ),
    "duration|number": "a number from 0 to 30 years, as 45 or 1.5",
    "duration|unit": "a unit, in the name of the column (duration_min) or as 45 min",
}

_ZONELESS: Final = ZoneInfo("UTC")
_UNIT_AT_END: Final = r"([a-z]{1,7})$"


def no_time(name: str, full: pl.Expr, is_naive: pl.Expr) -> pl.Expr:
    """Return the rule that a cell without an instant breaks.

    Args:
        name: `start` or `end`.
        full: Its stamp to the second, null where it is none.
        is_naive: Whether the stamp has no offset.
    """
    is_skipped = is_naive & iso_ns(full, _ZONELESS).is_not_null()
    rule = pl.when(is_skipped).then(pl.lit("no_such_time")).otherwise(pl.lit("time"))
    return pl.concat_str(pl.lit(f"{name}_ns|"), rule)


def no_length(unit: str | None) -> pl.Expr:
    """Return the rule that a duration breaks: no unit, or a number that is none.

    Args:
        unit: Unit that the column of durations has in its name.
    """
    own = pl.col("duration").str.to_lowercase().str.extract(_UNIT_AT_END)
    has_unit = pl.lit(unit is not None) | own.is_in(list(UNITS)).fill_null(value=False)
    rule = pl.when(has_unit).then(pl.lit("number")).otherwise(pl.lit("unit"))
    return pl.concat_str(pl.lit("duration|"), rule)
