"""Time inside an attempt in which no step was completed."""

from typing import Final

import polars as pl

_ATTEMPT: Final = ("run_id", "attempt")

#: A pause is longer than so many usual distances of the log's rows, too: a log that
#: tells one step in a hundred has a hole after each.
_USUAL: Final = 10


def find_pauses(shown: pl.LazyFrame, pause_ns: int) -> pl.LazyFrame:
    """Find where an attempt stood still, or went back, without ending.

    Args:
        shown: What `shown_steps` returns; traces are samples, and are left out.
        pause_ns: Shortest time without a step. [ns]

    Returns:
        Columns run_id, attempt, pause, from_ns (end of the last step before), to_ns
        (start of the first after), step_before, step_after and went_back.
    """
    start, order = pl.col("start_ns"), ["start_ns", "end_ns", "spell", "step"]
    logged = shown.filter(pl.col("step_basis") == "steps").sort(*_ATTEMPT, *order)
    told = logged.with_columns(
        from_ns=pl.col("end_ns").cum_max().shift(1).over(_ATTEMPT),
        step_before=pl.col("step").shift(1).over(_ATTEMPT),
        _before=pl.col("spell").shift(1).over(_ATTEMPT),
        _usual=start.diff().median().over(_ATTEMPT),
    ).drop_nulls("from_ns")
    silence = start - pl.col("from_ns")
    is_long = (silence >= pause_ns) & (silence > _USUAL * pl.col("_usual"))
    went_back = pl.col("spell") > pl.col("_before")
    found = told.filter(is_long | went_back).sort(*_ATTEMPT, "start_ns")
    return found.select(
        *_ATTEMPT,
        pl.min_horizontal("from_ns", "start_ns").alias("from_ns"),
        pl.col("start_ns").alias("to_ns"),
        "step_before",
        pl.col("step").alias("step_after"),
        pause=pl.int_range(pl.len(), dtype=pl.Int32).over(_ATTEMPT),
        went_back=went_back,
    )
