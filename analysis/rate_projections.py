"""How often a run of another size would be interrupted."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._rate_totals import totals
from analysis.interrupt_rates import FEW_EVENTS, InterruptRates
from analysis.poisson import mean_interval, mtbf
from analysis.published_rates import PUBLISHED_MTBF
from analysis.runs import Runs
from ingest.tables import Table
from ingest.tables import _columns as c
from ingest.times import HOUR_NS

#: Sizes that are projected to: from a node to the largest that others publish. [GPUs]
SIZES: Final = tuple(8 * 2**power for power in range(15))

#: GPUs of a node where no run says how many: HGX and DGX have eight. [1]
GPUS_PER_NODE: Final = 8

_ASSUMPTION: Final = (
    "nodes fail independently, each at the observed rate, at any size and age"
)


class RateProjections(Table):
    """One row per cluster, what is counted and size of a run."""

    key: ClassVar = ("cluster", "level", "gpus")

    cluster = c.identifier("Cluster whose rate of nodes is projected.")
    level = c.choice("What is projected.", ("incident", "interruption"))
    gpus = c.number("GPUs of the run that is projected.")
    nodes = c.number("Its nodes.")
    gpus_per_node = c.number("GPUs of a node; 8 where no run says how many.")
    count = c.count("Events that the rate is of.")
    node_time_ns = c.gpu_time_ns("Node-time that it is of.")
    mtbf_ns = c.gpu_time_ns(
        "Mean time between them in a run of this size; null below 5 events.",
        nullable=True,
    )
    mtbf_low_ns = c.gpu_time_ns("Lower end of its exact 95 % interval.")
    mtbf_high_ns = c.gpu_time_ns("Upper end; null where unbounded.", nullable=True)
    peer_mtbf_ns = c.gpu_time_ns(
        "Mean time that Meta published for RSC-1 at this size.", nullable=True
    )
    peer_basis = c.choice(
        "Whether that was measured, or projected from its own rate of nodes.",
        ("measured", "projected"),
        nullable=True,
    )
    assumption = c.text("What must hold for it.")


def project_rates(frames: Frames, _: Thresholds) -> Results:
    """Carry the observed rates of nodes over to runs of other sizes.

    Source: arXiv 2410.21680, section III: MTTF = 1 / (nodes x rate of a node).
    """
    rates = frames[InterruptRates].collect()
    nodes = gpus_per_node(frames[Runs].collect())
    rows = [
        row
        for level in ("incident", "interruption")
        for total in totals(rates, level, "all").iter_rows(named=True)
        if total["scope"] == "cluster" and total["node_time_ns"]
        for row in _projected(total, nodes.get(total["cluster"], GPUS_PER_NODE))
    ]
    schema = RateProjections.create_empty().schema
    found = pl.DataFrame(rows, schema=schema, orient="row")
    return {RateProjections: found.sort(RateProjections.key)}


def gpus_per_node(runs: pl.DataFrame) -> dict[str, int]:
    """Return how many GPUs the nodes of each cluster have: what most of its runs say.

    Args:
        runs: Rows of Runs.
    """
    told = runs.drop_nulls(["cluster", "gpus_per_node"])
    most = (
        told.group_by("cluster", "gpus_per_node")
        .agg(runs=pl.len())
        .sort("runs", "gpus_per_node", descending=True)
        .unique("cluster", keep="first", maintain_order=True)
    )
    return dict(most.select("cluster", "gpus_per_node").iter_rows())


def _projected(total: Mapping[str, Any], per_node: int) -> Iterator[dict[str, Any]]:
    """Yield a row of RateProjections for each size."""
    count, node_time = total["count"], int(total["node_time_ns"])
    peers = {one.gpus: one for one in PUBLISHED_MTBF}
    found = mtbf(count, node_time, mean_interval(count))
    for gpus in SIZES:
        nodes = -(-gpus // per_node)
        peer = peers.get(gpus)
        yield {
            "cluster": total["cluster"],
            "level": total["level"],
            "gpus": gpus,
            "nodes": nodes,
            "gpus_per_node": per_node,
            "count": count,
            "node_time_ns": Decimal(node_time),
            "mtbf_ns": _each(found.mean_ns if count >= FEW_EVENTS else None, nodes),
            "mtbf_low_ns": _each(found.low_ns, nodes),
            "mtbf_high_ns": _each(found.high_ns, nodes),
            "peer_mtbf_ns": peer and Decimal(round(peer.hours * HOUR_NS)),
            "peer_basis": peer and peer.basis,
            "assumption": _ASSUMPTION,
        }


def _each(node_time_ns: int | None, nodes: int) -> Decimal | None:
    """Return the time of a run that a time of one node makes. [ns]"""
    if node_time_ns is None:
        return None
    return Decimal(round(Fraction(node_time_ns, nodes)))


ANALYSIS: Final = Analysis(
    name="rate_projections",
    version=1,
    describes="How often a run of another size would be interrupted.",
    inputs=(InterruptRates, Runs),
    needs=(InterruptRates,),
    outputs=(RateProjections,),
    compute=project_rates,
)
