"""Nodes that fail more often than chance allows: what replacing them would save."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis.lemon_nodes import LemonNodes
from reports._numbers import percent, significant
from reports._partly import partly
from reports._repair import TITLES, Repair
from reports._savings import saving
from reports._section import Scope
from reports._words import name, plural
from reports.dollars import dollars, in_words

#: Accounts that stops fill.
_OF_STOPS: Final = ("restart", "recompute")


def lemons(rows: pl.DataFrame, frames: Frames, scope: Scope) -> Iterator[Repair]:
    """Yield each lemon node: what it lost beyond what others would have.

    It is no more than what stops cost the run that lost most to it.

    Args:
        rows: Rows of `_ledger.by_run`.
        frames: The tables.
        scope: Runs and prices of the page.
    """
    paid = _sums(rows)
    stopped = _sums(rows.filter(pl.col("category").is_in(_OF_STOPS)))
    found = frames[LemonNodes].filter("is_lemon").sort("cluster", "host").collect()
    told = found.drop_nulls(["lost_gpu_ns", "expected", "run_id"])
    for row in told.to_dicts():
        whole = int(paid.get(row["run_id"], 0))
        beyond = max(0.0, 1 - row["expected"] / row["failures"])
        most = int(stopped.get(row["run_id"], 0))
        saved = min(round(beyond * int(row["lost_gpu_ns"])), most)
        if saved <= 0:
            continue
        usd = dollars(saved, scope.price(row["run_id"]))
        is_whole = not row["unknown_interruptions"]
        said = partly(in_words(usd), has_known=True, is_whole=is_whole)
        words = (said, percent(Decimal(saved) / whole))
        yield Repair(
            what=f"replace node {name(row['host'], 40)}:"
            f" {plural(row['failures'], 'failure')},"
            f" {significant(row['expected'], 2)} expected",
            saves=saving(usd, words, row["run_id"], frames, scope),
            is_bound=False,
            confidence=f"good: p = {significant(row['p_value'], 2)}",
            evidence=TITLES["lemon_nodes"],
            section="lemon_nodes",
            who="provider",
        )


def _sums(rows: pl.DataFrame) -> dict[str, Any]:
    return dict(rows.group_by("run_id").agg(pl.col("gpu_ns").sum()).iter_rows())
