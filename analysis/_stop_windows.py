"""The time around each stop in which its cause shows, and as what."""

from typing import Final

import polars as pl

from analysis._analysis import Thresholds
from analysis._failure_roles import ROLES
from analysis._stops import CANCELLED, COMPLETED, SCHEDULED
from analysis.attempts import Attempts
from ingest.times import SECOND_NS

#: How long before the end of an attempt its cause may have shown: Meta's rule (arXiv
#: 2410.21680), two rounds of health checks of 5 minutes.
BEFORE_END_S: Final = 600.0

#: How long after its end: Meta's rule, one more round of health checks.
AFTER_END_S: Final = 300.0

#: How long before the end of its last completed step: a run that hangs has stopped
#: stepping long before it ends, and clocks of logs are good to some seconds.
BEFORE_LAST_STEP_S: Final = 60.0

#: Roles that make a cancellation one that was not meant: processes that are torn down
#: raise the codes of users and of cleanup themselves.
_FORCING: Final = ["root", "symptom"]


def windows_of(stops: pl.DataFrame, thresholds: Thresholds) -> pl.DataFrame:
    """Return the time around each stop in which its cause shows, and as what.

    Args:
        stops: Stops at the ends of attempts and inside them.
        thresholds: Those of the attribution.

    Returns:
        Columns run_id, attempt, stop, cluster, start_ns (of the attempt), from_ns,
        to_ns and roles. A stop that the scheduler explains has no window unless the run
        had stood still before.
    """
    before, after, step = (
        round(thresholds[f"attribution_{name}_s"] * SECOND_NS)
        for name in ("before_end", "after_end", "before_last_step")
    )
    ended = stops.filter(pl.col("kind") == "end")
    inside = stops.filter(pl.col("kind") != "end")
    found = [_around_ends(ended, before, after, step), _inside(inside, after, step)]
    return pl.concat(found).filter(pl.col("from_ns") <= pl.col("to_ns"))


def _around_ends(
    stops: pl.DataFrame, before: int, after: int, step: int
) -> pl.DataFrame:
    end = Attempts.end_ns.col
    stepped = Attempts.last_step_end_ns.col - step
    stood_still = Attempts.last_step_end_ns.col < end - before
    cancelled = (Attempts.state.col == CANCELLED).fill_null(value=False)
    roles = pl.when(cancelled).then(_FORCING).otherwise(pl.lit(list(ROLES)))
    scheduled = Attempts.state.col.is_in(SCHEDULED).fill_null(value=False)
    done = (Attempts.state.col == COMPLETED).fill_null(value=False)
    is_open = ~scheduled | (stood_still.fill_null(value=False) & ~done)
    return stops.filter(is_open).select(
        *_STOP,
        from_ns=pl.max_horizontal(
            pl.min_horizontal(end - before, stepped), Attempts.start_ns.name
        ),
        to_ns=pl.when(cancelled).then(end).otherwise(end + after),
        roles=roles,
    )


def _inside(stops: pl.DataFrame, after: int, step: int) -> pl.DataFrame:
    """Return the windows of stops without an end: from the last step to the next."""
    last = pl.coalesce("last_step_end_ns", "hung_ns")
    return stops.select(
        *_STOP,
        from_ns=pl.max_horizontal(last - step, Attempts.start_ns.name),
        to_ns=pl.coalesce("first_step_ns", pl.col("hung_ns") + after),
        roles=pl.lit(_FORCING),
    )


_STOP: Final = ("run_id", "attempt", "stop", "cluster", "start_ns")
