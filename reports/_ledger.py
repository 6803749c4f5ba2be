"""The ledger as the page reads it: accounts with their GPU time and dollars."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.lost_time import LostTime
from reports._section import Scope
from reports.dollars import NS_PER_GPU_HOUR, dollars

#: Below this a person says GPU-seconds. [GPU-hours]
_HOURS_FROM: Final = Decimal("0.1")

#: What each account holds, in a line.
ACCOUNTS: Final[Mapping[str, str]] = {
    "productive": "steps that were kept, minus everything below",
    "exposed_communication": "communication that no compute hides",
    "straggler_wait": "waiting for a rank that comes late",
    "pipeline_bubble": "waiting for another pipeline stage, stage imbalance included",
    "data_stall": "waiting for input",
    "checkpoint_stall": "waiting for a checkpoint to be written",
    "idle": "inside a step with no kernel: launches, host, copies",
    "recompute": "steps that had to be done again",
    "restart": "from the last completed step to the first of the next attempt",
    "unallocated": "paid for and in no attempt: spares, repairs",
    "unattributed": "no evidence of what it was",
}


@dataclass(frozen=True, slots=True)
class Account:
    """GPU time of an account, and what it costs."""

    category: str
    gpu_ns: int
    usd: Decimal


def by_run(frames: Frames, scope: Scope) -> pl.DataFrame:
    """Return `run_id`, `category` and `gpu_ns` of the runs on the page, sorted."""
    return (
        scope.of_runs(frames[LostTime])
        .group_by(LostTime.run_id.col, LostTime.category.col)
        .agg(LostTime.gpu_ns.col.cast(pl.Int128).sum())
        .filter(LostTime.gpu_ns.col > 0)
        .sort("run_id", "category")
        .collect()
    )


def accounts(rows: pl.DataFrame, scope: Scope) -> list[Account]:
    """Return the accounts over all rows: productive first, then by size.

    Args:
        rows: Rows of `by_run`, each priced as its run is.
        scope: The prices.
    """
    time: dict[str, int] = {}
    money: dict[str, Decimal] = {}
    for run_id, category, gpu_ns in rows.iter_rows():
        cost = dollars(gpu_ns, scope.price(run_id))
        time[category] = time.get(category, 0) + gpu_ns
        money[category] = money.get(category, Decimal()) + cost
    found = [Account(category, time[category], money[category]) for category in time]
    return sorted(
        found, key=lambda a: (a.category != "productive", -a.gpu_ns, a.category)
    )


def paid(found: Sequence[Account]) -> Account:
    """Return the sum of accounts."""
    usd = sum((account.usd for account in found), Decimal())
    return Account("paid", sum(account.gpu_ns for account in found), usd)


def of(found: Sequence[Account], *categories: str) -> Account:
    """Return the sum of some accounts."""
    return paid([account for account in found if account.category in categories])


@dataclass(frozen=True, slots=True)
class Unit:
    """Unit that GPU time is said in on the page."""

    name: str
    ns: int

    @property
    def letter(self) -> str:
        """The unit after a number."""
        return "GPU-h" if self.ns == NS_PER_GPU_HOUR else "GPU-s"

    @property
    def title(self) -> str:
        """The unit as the title of an axis."""
        return f"{self.name} [{self.letter}]"

    def of(self, gpu_ns: int) -> Decimal:
        """Return GPU time in the unit, exactly."""
        return Decimal(gpu_ns) / self.ns


def unit_for(gpu_ns: int) -> Unit:
    """Return the unit that a person would say a total in."""
    hours = Decimal(gpu_ns) / NS_PER_GPU_HOUR
    if hours >= _HOURS_FROM:
        return Unit("GPU-hours", NS_PER_GPU_HOUR)
    return Unit("GPU-seconds", 10**9)
