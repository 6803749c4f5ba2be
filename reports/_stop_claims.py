"""Which stops can be claimed of a provider, what they cost, and until when."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import polars as pl

from reports._claim_facts import CLAIMABLE
from reports._numbers import apportion
from reports._runs import NS_PER_DAY
from reports._section import Scope
from reports._stop_listing import STOP, costs
from reports.dollars import NS_PER_GPU_HOUR, dollars

_CENTS: Final = Decimal("0.01")

#: Setting with the days from the first sign within which a provider takes a claim.
WINDOW: Final = "claim_window_days"


@dataclass(frozen=True, slots=True)
class Claims:
    """What can be claimed.

    Attributes:
        rows: An incident each: the first that ends first, then the latest that ended.
        hours: GPU-hours of all, as the table has them.
        usd: Dollars of all.
        is_whole: Whether all that they cost is known.
        still_open: Incidents that are still within the window; None: not known.
        nodeless: Stops by such a cause of which no source names a node.
    """

    rows: list[dict[str, Any]]
    hours: Decimal
    usd: Decimal
    is_whole: bool
    still_open: int | None
    nodeless: int


def claims(told: pl.DataFrame, phases: pl.DataFrame, scope: Scope) -> Claims:
    """Return the incidents of unplanned stops that lie with the provider.

    Args:
        told: What `_stop_actions.told` returns.
        phases: Rows of LossPhases.
        scope: Runs of the page, prices and settings.
    """
    provider = told.filter(
        ~pl.col("planned")
        & pl.col("category").is_in(CLAIMABLE)
        & pl.col("incident_id").is_not_null()
    )
    named = provider.filter(pl.col("host_count") > 0)
    window, now_ns = _window_ns(scope), scope.provenance.generated_ns
    found: dict[str, dict[str, Any]] = {}
    for row in named.join(costs(phases), on=STOP, how="left").to_dicts():
        one = found.setdefault(
            row["incident_id"],
            row | {"hours": Decimal(), "usd": Decimal(), "blank": 0, "due": None},
        )
        gpu_ns = row["gpu_ns"] or 0
        one["hours"] += Decimal(gpu_ns) / NS_PER_GPU_HOUR
        one["usd"] += dollars(gpu_ns, scope.price(row["run_id"]))
        one["blank"] += int(row["gpu_ns"] is None or bool(row["unknown"]))
        if window is not None and row["first_ns"] is not None:
            one["due"] = row["first_ns"] + window
    rows = sorted(found.values(), key=lambda one: _order(one, now_ns))
    for key in ("hours", "usd"):
        shares = apportion([one[key] for one in rows], _CENTS)
        rows = [one | {key: part} for one, part in zip(rows, shares, strict=True)]
    is_open = [one["due"] >= now_ns for one in rows if one["due"] is not None]
    return Claims(
        rows=rows,
        hours=sum((one["hours"] for one in rows), Decimal()),
        usd=sum((one["usd"] for one in rows), Decimal()),
        is_whole=not any(one["blank"] for one in rows),
        still_open=None if window is None else sum(is_open),
        nodeless=provider.height - named.height,
    )


def _order(row: Mapping[str, Any], now_ns: int) -> tuple[int, int, str]:
    due = row["due"]
    if due is None:
        return 2, 0, row["incident_id"]
    is_open = due >= now_ns
    return int(not is_open), due if is_open else -due, row["incident_id"]


def _window_ns(scope: Scope) -> int | None:
    """Return within which time of its first sign an incident is to be claimed. [ns]"""
    told = scope.provenance.settings.get(WINDOW)
    return None if told is None else round(float(told) * NS_PER_DAY)
