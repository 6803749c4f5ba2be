"""How long a node is away after a failure."""

from typing import Final, NamedTuple

import polars as pl

from analysis._analysis import Frames
from analysis._spare_returns import Returns, returns
from analysis.interrupt_rates import FEW_EVENTS
from ingest.tables import Failures, RunCards
from ingest.times import SECOND_NS

#: Where a mean time of repair is from: nodes of later attempts, ends of failures in the
#: logs, the run card, or the setting `spare_repair_h`.
BASES: Final = ("attempts", "failures", "run_card", "setting")

_ASSUMED: Final = (
    "neither later attempts, nor logs, nor the run card (repair_h under [reliability])"
    " tell how long a failed node is away"
)

#: Families of codes whose end is the end of a stop, not that of a repair.
_OF_RUNS: Final = ("operator", "scheduler", "application")

_HOUR_S: Final = 3_600


class Repair(NamedTuple):
    """Mean time until a node is back, and the spares that a card says are held.

    Attributes:
        mean_ns: The mean. [ns]
        basis: One of BASES.
        spares: Spares that the card says are held; None where it does not.
        failed: Failed nodes of stops after which an attempt was seen; None where
            attempts tell nothing.
        at_once: Those that the very next attempt of their run held.
        doubt: Why it is not known well enough to advise; empty where it is.
    """

    mean_ns: int
    basis: str
    spares: int | None
    failed: int | None = None
    at_once: int | None = None
    doubt: str = ""


class Repairs(NamedTuple):
    """What tells of repairs, by cluster and by run."""

    back: dict[str, Returns]
    seen: dict[str, int]
    cards: dict[str, tuple[float | None, int | None]]
    else_ns: int

    def of(self, cluster: str, run_id: str) -> Repair:
        """Return the best that is known of a run.

        Args:
            cluster: Cluster of the run.
            run_id: The run.
        """
        hours, spares = self.cards.get(run_id, (None, None))
        seen, back = self.seen.get(cluster), self.back.get(cluster)
        if back and (seen is None or back.away_ns <= seen):
            mean, failed, at_once, doubt = back
            return Repair(mean, "attempts", spares, failed, at_once, doubt)
        if seen is not None:
            return Repair(seen, "failures", spares)
        if hours is not None:
            return Repair(round(hours * _HOUR_S * SECOND_NS), "run_card", spares)
        return Repair(self.else_ns, "setting", spares, doubt=_ASSUMED)


def repair_times(frames: Frames, else_s: int) -> Repairs:
    """Return what attempts, failures and run cards tell of repairs.

    A mean of fewer than five is not taken. Of two means that were seen the lesser is:
    a node that works again may wait until a run holds it, or until a log says so.

    Args:
        frames: Attempts, GPUs, interruptions, incidents, failures and cards.
        else_s: Mean time where nothing is told. [s]
    """
    columns = ("reliability_repair_h", "reliability_spare_nodes")
    rows = frames[RunCards].select("run_id", *columns).collect()
    of_cards = {run: (hours, spares) for run, hours, spares in rows.iter_rows()}
    seen = _ended(frames[Failures])
    return Repairs(returns(frames), seen, of_cards, else_s * SECOND_NS)


def _ended(failures: pl.LazyFrame) -> dict[str, int]:
    """Return the mean length of failures that have an end, by cluster. [ns]"""
    length = pl.col("end_ns") - pl.col("time_ns")
    ended = failures.filter(
        (length > 0) & pl.col("host").is_not_null() & ~pl.col("source").is_in(_OF_RUNS)
    )
    sums = ended.group_by("cluster").agg(
        total=length.cast(pl.Int128).sum(), count=pl.len().cast(pl.Int64)
    )
    told = sums.filter(pl.col("count") >= FEW_EVENTS).collect()
    return {name: int(total) // count for name, total, count in told.iter_rows()}
