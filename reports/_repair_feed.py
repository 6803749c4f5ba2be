"""Faults of the data feed: the work that they took for nothing."""

from collections.abc import Iterator
from decimal import Decimal

import polars as pl

from analysis import Frames
from analysis.data_feed import DataFeedViolations
from reports._numbers import grouped, percent
from reports._repair import TITLES, Repair
from reports._savings import saving
from reports._section import Scope
from reports._words import name, plural
from reports.dollars import dollars, in_words


def feeds(rows: pl.DataFrame, frames: Frames, scope: Scope) -> Iterator[Repair]:
    """Yield for each run what its feed's faults took for nothing.

    Args:
        rows: Rows of `_ledger.by_run`.
        frames: The tables.
        scope: Runs and prices of the page.
    """
    paid = dict(rows.group_by("run_id").agg(pl.col("gpu_ns").sum()).iter_rows())
    found = (
        scope.of_runs(frames[DataFeedViolations])
        .group_by("run_id")
        .agg(
            pl.col("gpu_ns").cast(pl.Int128).sum(),
            faults=pl.len(),
            first=pl.col("step").min(),
        )
        .sort("run_id")
        .collect()
    )
    several = len(scope.provenance.run_ids) != 1
    for row in found.to_dicts():
        whole = int(paid.get(row["run_id"], 0))
        saved = min(int(row["gpu_ns"] or 0), whole)
        if saved <= 0:
            continue
        usd = dollars(saved, scope.price(row["run_id"]))
        of_run = f" of {name(row['run_id'])}" if several else ""
        words = (in_words(usd), percent(Decimal(saved) / whole))
        yield Repair(
            what=f"give each sample once{of_run}:"
            f" {plural(row['faults'], 'fault')} of the data feed, the first in step"
            f" {grouped(row['first'])}",
            saves=saving(usd, words, row["run_id"], frames, scope),
            is_bound=False,
            confidence="high: read from what was given",
            evidence=TITLES["data_feed"],
            section="data_feed",
            who="us",
        )


def uncosted(frames: Frames, scope: Scope) -> list[str]:
    """Return that a feed has faults of which no cost is known.

    Args:
        frames: The tables.
        scope: Runs of the page.
    """
    faults = scope.of_runs(frames[DataFeedViolations])
    free = faults.filter(pl.col("gpu_ns").is_null()).select(pl.len()).collect().item()
    if not free:
        return []
    told = plural(int(free), "fault")
    return [
        f"Beside repairs, {told} of the data feed cost no known time (see Data feed)."
    ]
