"""Which GPUs were slowed, and what that cost, in words."""

from decimal import Decimal
from typing import Final

import polars as pl

from reports._numbers import percent
from reports._section import Scope
from reports._words import listed, plural, said
from reports.dollars import dollars, in_words

#: Share of its time from which a GPU counts as slowed.
SLOWED_FROM: Final = 0.05


def slowed(rows: pl.DataFrame) -> pl.DataFrame:
    """Return what was slowed for a share of its time that counts, most first.

    Args:
        rows: Rows of Throttling.
    """
    some = rows.filter(pl.col("throttled_ratio") >= SLOWED_FROM)
    return some.sort(
        ["throttled_ratio", "run_id", "host", "gpu_uuid", "cause"],
        descending=[True, False, False, False, False],
    )


def sentence(rows: pl.DataFrame, scope: Scope) -> str:
    """Return how many GPUs were slowed, for what, and what it cost.

    Args:
        rows: Rows of Throttling.
        scope: Runs of the page, and their prices.
    """
    gpu = ("run_id", "cluster", "host", "gpu_uuid")
    seen = rows.select(gpu).n_unique()
    if not seen:
        return (
            "Whether GPUs were throttled is not known: no counters and no reasons of"
            " lowered clocks were sampled."
        )
    some = slowed(rows)
    if some.is_empty():
        return (
            f"None of {plural(seen, 'GPU')} was throttled for {percent(SLOWED_FROM)}"
            f" of its time or more.{_victims(rows)}"
        )
    causes = [said(cause) for cause in some["cause"].unique().sort().to_list()]
    count = some.select(gpu).n_unique()
    cost = _cost(some, scope)
    held_up = (
        f" As stragglers they held up others for {in_words(cost)}."
        if cost
        else " None of them was flagged as slower than its peers."
    )
    return (
        f"{count} of {plural(seen, 'GPU')} {'was' if count == 1 else 'were'} throttled"
        f" for {percent(SLOWED_FROM)} of the time or more: {listed(causes)}."
        f"{held_up}{_victims(rows)}"
    )


def _victims(rows: pl.DataFrame) -> str:
    waiting = rows.filter("is_victim").select("host", "gpu_uuid").n_unique()
    if not waiting:
        return ""
    return (
        f" {plural(waiting, 'GPU')} drew little while busy and free of any cap: victims"
        " that waited, not causes."
    )


def _cost(some: pl.DataFrame, scope: Scope) -> Decimal:
    """Return what slow spells cost; a spell under two causes counts once."""
    spells = some.drop_nulls("lost_gpu_ns").unique(
        ["run_id", "host", "gpu_uuid", "lost_gpu_ns"], maintain_order=True
    )
    return sum(
        (
            dollars(int(lost), scope.price(run_id))
            for run_id, lost in spells.select("run_id", "lost_gpu_ns").iter_rows()
        ),
        Decimal(),
    )
