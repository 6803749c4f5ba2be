"""From when to when each phase of a loss lasted."""

from typing import Final

import polars as pl

_STOP: Final = ["run_id", "attempt", "stop", "planned"]

#: Phases of an interruption whose time the ledger books as restart, in order.
RESTART_PHASES: Final = ("hang", "detect", "decide", "requeue", "start")


def moments(stops: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
    """Return when each phase of each stop began and ended.

    Without a sign of the cause all time until the end is the hang. Without a time of
    resubmission all time until the next start is the requeue. Inside an attempt, what
    follows the first sign is the start.

    Args:
        stops: Rows of Interruptions.
        attempts: Rows of Attempts.

    Returns:
        Columns run_id, attempt, stop, planned, phase, from_ns and to_ns, null where
        they are not known. [ns]
    """
    timed = _timed(stops, attempts)
    parts = [
        timed.select(
            *_STOP,
            pl.lit(phase).alias("phase"),
            begin.alias("from_ns"),
            end.alias("to_ns"),
        )
        for phase, (begin, end) in _bounds().items()
    ]
    rows = pl.concat(parts)
    known = pl.all_horizontal(pl.col("from_ns", "to_ns").is_not_null())
    return rows.with_columns(
        pl.when(known).then(pl.col("from_ns", "to_ns")).name.keep()
    )


def _timed(stops: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
    """Add `over_ns`, when the attempt got nowhere any more, and `sign_ns`."""
    ends = attempts.select("run_id", "attempt", _end="end_ns")
    placed = stops.join(ends, on=["run_id", "attempt"], how="left")
    is_hang = pl.col("kind") == "hang"
    hung = pl.when(is_hang).then("_end")
    over = pl.coalesce("decided_ns", hung, "first_step_ns")
    return placed.with_columns(
        over_ns=over,
        sign_ns=pl.col("detected_ns").clip("last_step_end_ns", over),
        is_inside=pl.col("decided_ns").is_null() & ~is_hang,
    )


def _bounds() -> dict[str, tuple[pl.Expr, pl.Expr]]:
    last, over, sign = pl.col("last_step_end_ns"), pl.col("over_ns"), pl.col("sign_ns")
    decided, started = pl.col("decided_ns"), pl.col("started_ns")
    inside = pl.col("is_inside")
    requeued = pl.min_horizontal(pl.coalesce("requeued_ns", decided), started)
    return {
        "hang": (last, pl.coalesce(sign, over)),
        "detect": (pl.when(~inside & last.is_not_null()).then(sign), over),
        "decide": (
            decided,
            pl.when(pl.col("requeued_ns").is_not_null()).then(requeued),
        ),
        "requeue": (requeued, started),
        "start": (
            pl.when(inside).then(sign).otherwise(started),
            pl.col("first_step_ns"),
        ),
    }


def cuts(stops: pl.DataFrame) -> pl.DataFrame:
    """Return the moments that cut the time around the ends of attempts.

    Args:
        stops: Rows of Interruptions.

    Returns:
        Columns run_id, attempt, side and cut_ns, for `Edges.cut`.
    """
    ended = closing_stops(stops)
    requeued = pl.coalesce("requeued_ns", "decided_ns")
    key = ["run_id", "attempt"]
    return pl.concat(
        [
            ended.select(*key, side=pl.lit("closing"), cut_ns="detected_ns"),
            ended.select(*key, side=pl.lit("between"), cut_ns=requeued),
        ]
    ).drop_nulls("cut_ns")


def closing_stops(stops: pl.DataFrame) -> pl.DataFrame:
    """Return the stop of each attempt after which it completed no step.

    It is the end of the attempt, else its last hang.
    """
    final = stops.filter(pl.col("kind").is_in(["end", "hang"]))
    ordered = final.sort("run_id", "attempt", pl.col("kind") == "end", "stop")
    return ordered.unique(["run_id", "attempt"], keep="last", maintain_order=True)
