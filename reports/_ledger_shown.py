"""Accounts as they stand on the page: rounded once, so that what is seen adds up."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.lost_time import LostTime
from reports import _ledger
from reports._ledger import Account, Unit
from reports._numbers import THIN, apportion, brief, part_in_words, rounding_unit
from reports._section import Scope
from reports.dollars import rounding_unit_usd

#: What shares are rounded to: a tenth of a percent. [1]
SHARE_UNIT: Final = Decimal("0.001")


@dataclass(frozen=True, slots=True)
class Shown:
    """An account as it stands on the page, wherever it stands.

    Attributes:
        category: The account.
        gpu_ns: Its GPU time, exactly. [ns]
        time: The same in the unit of the page, rounded.
        usd: What it costs, rounded. [USD]
        share: Its share of the time paid for, rounded. [1]
        paid_ns: The time paid for. [ns]
    """

    category: str
    gpu_ns: int
    time: Decimal
    usd: Decimal
    share: Decimal
    paid_ns: int

    def said_share(self) -> str:
        """Return the share in words."""
        exact = Decimal(self.gpu_ns) / self.paid_ns if self.paid_ns else Decimal()
        return part_in_words(self.share, exact, SHARE_UNIT)

    def usd_in_words(self) -> str:
        """Return the cost with the digits of the table; never none for something."""
        if self.gpu_ns and not self.usd:
            least = Decimal(1).scaleb(int(self.usd.as_tuple().exponent))
            return f"<{THIN}{least:f}{THIN}USD"
        return self.said_usd()

    def said_usd(self) -> str:
        """Return the cost with the digits of the table."""
        return f"{brief(self.usd)}{THIN}USD"

    def said_time(self, unit: Unit) -> str:
        """Return the GPU time in words.

        Args:
            unit: Unit of the page.
        """
        return f"{brief(self.time)} {unit.name}"


def on_page(frames: Frames, scope: Scope) -> tuple[list[Shown], Unit]:
    """Return the accounts of all runs of the page, and the unit of their time."""
    found = _ledger.accounts(_ledger.by_run(frames, scope), scope)
    unit = _ledger.unit_for(_ledger.paid(found).gpu_ns)
    return shown(found, unit), unit


def shown(found: Sequence[Account], unit: Unit) -> list[Shown]:
    """Return accounts with digits that add up to the rounded total, as they stand.

    Args:
        found: Accounts; their order is kept.
        unit: Unit of their time.
    """
    paid_ns = sum(account.gpu_ns for account in found)
    exact = [unit.of(account.gpu_ns) for account in found]
    times = apportion(exact, rounding_unit(sum(exact, Decimal())))
    costs = [account.usd for account in found]
    money = apportion(costs, rounding_unit_usd(sum(costs, Decimal())))
    ratios = [Decimal(account.gpu_ns) / (paid_ns or 1) for account in found]
    shares = apportion(ratios, SHARE_UNIT)
    return [
        Shown(account.category, account.gpu_ns, time, usd, share, paid_ns)
        for account, time, usd, share in zip(found, times, money, shares, strict=True)
    ]


def together(category: str, rows: Sequence[Shown]) -> Shown:
    """Return the sum of rows as they stand.

    Args:
        category: What the sum is called.
        rows: Some or all accounts.
    """
    return Shown(
        category,
        sum(row.gpu_ns for row in rows),
        sum((row.time for row in rows), Decimal()),
        sum((row.usd for row in rows), Decimal()),
        sum((row.share for row in rows), Decimal()),
        rows[0].paid_ns if rows else 0,
    )


def of(rows: Sequence[Shown], *categories: str) -> Shown:
    """Return the sum of some accounts as they stand.

    Args:
        rows: All accounts.
        categories: Those to add.
    """
    found = [row for row in rows if row.category in categories]
    return together(", ".join(categories), found)


def by_basis(frames: Frames, scope: Scope) -> dict[str, str]:
    """Return which share of the time paid for each evidence tells, in words.

    The shares are rounded so that they add up; the largest comes first.
    """
    rows = (
        scope.of_runs(frames[LostTime])
        .group_by(LostTime.basis.col)
        .agg(LostTime.gpu_ns.col.cast(pl.Int128).sum())
        .filter(LostTime.gpu_ns.col > 0)
        .sort(["gpu_ns", "basis"], descending=[True, False])
        .collect()
        .rows()
    )
    found = [Account(basis, gpu_ns, Decimal()) for basis, gpu_ns in rows]
    told = shown(found, _ledger.unit_for(0))
    return {one.category: one.said_share() for one in told}
