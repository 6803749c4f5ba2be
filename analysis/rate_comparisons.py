"""Whether our failure rates differ from published ones."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._rate_totals import totals
from analysis.interrupt_rates import FEW_EVENTS, InterruptRates
from analysis.poisson import NODE_DAYS, mean_interval, per_1000_node_days
from analysis.published_rates import PUBLISHED, PublishedRate
from analysis.rate_ratios import rate_ratio
from ingest.tables import Table
from ingest.tables import _columns as c
from ingest.times import DAY_NS

#: How a rate is held against a published one.
_METHODS: Final = ("conditional_binomial", "value_in_interval", "none")

#: What is found: ours is higher or lower, no difference is shown, or too little is
#: known: fewer than 5 events, where the published rate would not give 5 either.
VERDICTS: Final = ("higher", "lower", "not_told_apart", "not_testable")


class RateComparisons(Table):
    """One row per cluster or run and published rate."""

    key: ClassVar = ("cluster", "run_id", "scope", "scope_id", "peer")

    cluster = c.identifier("Cluster.")
    run_id = c.identifier("Run; null for a cluster as a whole.", nullable=True)
    scope = c.choice("What is compared.", ("cluster", "run"))
    scope_id = c.identifier("Which one.")
    level = c.choice(
        "What of ours counts the same as the published rate.",
        ("incident", "interruption"),
    )
    category = c.identifier(
        "Causes of ours that count the same, joined by +; `all` for every one."
    )
    peer = c.text("Who published the rate, and on what.")
    peer_counts = c.text("What the published rate counts.")
    peer_source = c.text("Where it was published.")
    count = c.count("How many of ours inside the exposure.")
    node_time_ns = c.gpu_time_ns("Node-time observed.", nullable=True)
    per_1000_node_days = c.real(
        "Our rate; below 5 events, show the count instead.", nullable=True
    )
    per_1000_node_days_low = c.real("Lower end of its 95 % interval.", nullable=True)
    per_1000_node_days_high = c.real("Upper end.", nullable=True)
    peer_per_1000_node_days = c.real("The published rate.")
    peer_count = c.count("Failures that it counts, where published.", nullable=True)
    peer_node_days = c.number("Node-days that it is of.", nullable=True)
    rate_ratio = c.ratio("Our rate over the published one.", nullable=True)
    low_rate_ratio = c.ratio(
        "Lower end of its 95 % interval; where the published counts are not known, of"
        " our rate's interval alone.",
        nullable=True,
    )
    high_rate_ratio = c.ratio("Upper end; null where unbounded.", nullable=True)
    p_value = c.real("Probability of so large a difference by chance.", nullable=True)
    method = c.choice("How they were compared.", _METHODS)
    verdict = c.choice("What is found at 95 %.", VERDICTS)


def compare_rates(frames: Frames, _: Thresholds) -> Results:
    """Hold the rates of clusters and runs against published ones."""
    rates = frames[InterruptRates].collect()
    rows = [
        _compared(row, peer)
        for peer in PUBLISHED
        for row in totals(rates, peer.level, peer.category).iter_rows(named=True)
    ]
    schema = RateComparisons.create_empty().schema
    found = pl.DataFrame(rows, schema=schema, orient="row")
    return {RateComparisons: found.sort(RateComparisons.key)}


def _compared(ours: Mapping[str, Any], peer: PublishedRate) -> dict[str, Any]:
    """Return a row of RateComparisons."""
    names = ("cluster", "run_id", "scope", "scope_id", "level", "category", "count")
    told: dict[str, Any] = {name: ours[name] for name in names} | {
        "peer": peer.label,
        "peer_counts": peer.counts,
        "peer_source": peer.source,
        "peer_per_1000_node_days": peer.rate,
        "peer_count": peer.count,
        "peer_node_days": peer.node_days,
        "method": "none",
        "verdict": "not_testable",
    }
    node_time = ours["node_time_ns"]
    if not node_time:
        return told
    exposed = {"node_time_ns": Decimal(node_time)}
    return told | exposed | _tested(ours["count"], int(node_time), peer)


def _tested(count: int, node_time_ns: int, peer: PublishedRate) -> dict[str, Any]:
    rate = per_1000_node_days(count, node_time_ns, mean_interval(count))
    own = {
        "per_1000_node_days": rate.value,
        "per_1000_node_days_low": rate.low,
        "per_1000_node_days_high": rate.high,
    }
    node_days = node_time_ns / DAY_NS
    is_enough = max(count, peer.rate * node_days / NODE_DAYS) >= FEW_EVENTS
    if peer.count is None or peer.node_days is None:
        ends = (rate.low / peer.rate, rate.high / peer.rate)
        told = {
            "rate_ratio": rate.value / peer.rate,
            "low_rate_ratio": ends[0],
            "high_rate_ratio": ends[1],
            "method": "value_in_interval",
        }
        return own | told | {"verdict": _verdict(*ends, is_enough=is_enough)}
    found = rate_ratio((peer.count, peer.node_days), (count, node_days))
    return own | {
        "rate_ratio": found.ratio,
        "low_rate_ratio": found.low,
        "high_rate_ratio": found.high,
        "p_value": found.p_value,
        "method": "conditional_binomial",
        "verdict": _verdict(found.low, found.high, is_enough=is_enough),
    }


def _verdict(low: float, high: float | None, *, is_enough: bool) -> str:
    """Say what an interval of a ratio tells. It leaves 1 out where rates differ."""
    if not is_enough:
        return "not_testable"
    if low > 1:
        return "higher"
    return "lower" if high is not None and high < 1 else "not_told_apart"


ANALYSIS: Final = Analysis(
    name="rate_comparisons",
    version=1,
    describes="Whether failure rates differ from published ones.",
    inputs=(InterruptRates,),
    needs=(InterruptRates,),
    outputs=(RateComparisons,),
    compute=compare_rates,
)
