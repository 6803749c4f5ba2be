"""How long a node is away after a failure."""

from typing import Final, NamedTuple

import polars as pl

from analysis.interrupt_rates import FEW_EVENTS
from ingest.times import SECOND_NS

#: Where a mean time of repair is from: ends of failures in the logs, the run card, or
#: the setting `spare_repair_h`.
BASES: Final = ("failures", "run_card", "setting")

#: Families of codes whose end is the end of a stop, not that of a repair.
_OF_RUNS: Final = ("operator", "scheduler", "application")

_HOUR_S: Final = 3_600


class Repair(NamedTuple):
    """Mean time until a node is back, and the spares that a card says are held."""

    mean_ns: int
    basis: str
    spares: int | None


class Repairs(NamedTuple):
    """What tells of repairs, by cluster and by run."""

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
        if cluster in self.seen:
            return Repair(self.seen[cluster], "failures", spares)
        if hours is not None:
            return Repair(round(hours * _HOUR_S * SECOND_NS), "run_card", spares)
        return Repair(self.else_ns, "setting", spares)


def repair_times(failures: pl.LazyFrame, cards: pl.LazyFrame, else_s: int) -> Repairs:
    """Return what failures and run cards tell of repairs.

    A mean of fewer than five is not taken.

    Args:
        failures: Rows of Failures.
        cards: Rows of RunCards.
        else_s: Mean time where nothing is told. [s]
    """
    length = pl.col("end_ns") - pl.col("time_ns")
    ended = failures.filter(
        (length > 0) & pl.col("host").is_not_null() & ~pl.col("source").is_in(_OF_RUNS)
    )
    sums = ended.group_by("cluster").agg(
        total=length.cast(pl.Int128).sum(), count=pl.len().cast(pl.Int64)
    )
    told = sums.filter(pl.col("count") >= FEW_EVENTS).collect()
    seen = {name: int(total) // count for name, total, count in told.iter_rows()}
    columns = ("reliability_repair_h", "reliability_spare_nodes")
    rows = cards.select("run_id", *columns).collect()
    of_cards = {run: (hours, spares) for run, hours, spares in rows.iter_rows()}
    return Repairs(seen, of_cards, else_s * SECOND_NS)
