"""Nodes that fail more often than chance allows."""

from typing import ClassVar, Final

import numpy as np
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._exposure import of_hosts
from analysis._held_nodes import held_nodes
from analysis._lemon_failures import held_up, node_failures
from analysis.attempts import Attempts
from analysis.gamma_poisson import fleet
from analysis.gpus import Gpus
from analysis.incidents import IncidentEvents, Incidents
from analysis.interrupt_rates import FEW_EVENTS
from analysis.interruptions import Interruptions
from analysis.loss_phases import LossPhases
from ingest.tables import Table
from ingest.tables import _columns as c

#: Probability that a healthy fleet has any node named: it is shared out over its nodes
#: (Bonferroni), so that one in twenty fleets without a lemon accuses somebody.
LEMON_P: Final = 0.05

#: Least nodes of a fleet: three others are too few to say what is usual.
LEAST_NODES: Final = 4


class LemonNodes(Table):
    """One row per node that failed while it was observed."""

    key: ClassVar = ("cluster", "host")

    cluster = c.identifier("Cluster of the node.")
    host = c.identifier("Node.")
    failures = c.tally(
        "Incidents on it alone while an attempt held it: of hardware, network,"
        " facilities, software or unknown cause, not of users, operators or notices."
    )
    exposure_ns = c.gpu_time_ns("Time that attempts held it.")
    expected = c.real(
        "Failures of all other nodes over their time, times its own.", nullable=True
    )
    p_value = c.real(
        "Probability that a node of such a fleet fails so often by chance (gamma-"
        "Poisson, this node left out).",
        nullable=True,
    )
    equal_nodes_p_value = c.real(
        "The same if all nodes were alike: small where nodes differ more than chance,"
        " which is no proof against any one of them.",
        nullable=True,
    )
    threshold_p_value = c.real(
        "What `p_value` must be below: 0.05 over the nodes of the fleet.", nullable=True
    )
    is_lemon = c.flag("Whether it is.")
    fleet_nodes = c.tally("Nodes of the cluster that were observed.")
    fleet_failures = c.tally("Failures of them all.")
    fleet_variation_ratio = c.ratio(
        "Spread of the nodes' rates over their mean that fits best; 0: all alike.",
        nullable=True,
    )
    fleet_variation_low_ratio = c.ratio(
        "Least spread that is compatible with the failures (95 %); 0: they may all be"
        " alike.",
        nullable=True,
    )
    fleet_variation_high_ratio = c.ratio(
        "Most spread that is; null: the failures set no limit.", nullable=True
    )
    interruptions = c.tally("Interruptions that are laid to it.")
    lost_gpu_ns = c.gpu_time_ns(
        "GPU time that they cost, all phases that are known together, steps done again"
        " too; null: not known.",
        nullable=True,
    )
    unknown_interruptions = c.tally(
        "Interruptions of it of which some phase is not known: they cost more."
    )
    run_id = c.identifier("Run that lost most of it.", nullable=True)
    first_ns = c.time_ns("First failure.", nullable=True)
    last_ns = c.time_ns("Last failure.", nullable=True)
    causes = c.text("Codes of its failures and how often, separated by commas.")
    gpu_keys = c.text(
        "GPUs that its failures name, by the best identity known, and how often."
    )
    serials = c.text("Serial numbers of the node's GPUs, where they are known.")
    note = c.text("Why nothing can be said, where nothing can.")


def find_lemons(frames: Frames, thresholds: Thresholds) -> Results:
    """Hold the failures of each node against the rate of all others of its cluster."""
    observed = of_hosts(held_nodes(frames[Attempts], frames[Gpus]).collect())
    failures = node_failures(
        frames[Incidents].collect(), frames[IncidentEvents].collect()
    )
    lost = held_up(
        frames[Interruptions].collect(),
        frames[Incidents].collect(),
        frames[LossPhases].collect(),
    )
    nodes = observed.select("cluster", "host", exposure_ns="node_time_ns").join(
        failures, on=["cluster", "host"], how="left"
    )
    counted = nodes.filter(pl.col("exposure_ns") > 0).with_columns(
        pl.col("failures").fill_null(0)
    )
    parts = counted.sort("cluster", "host").partition_by("cluster", maintain_order=True)
    tested = [_tested(part, thresholds["lemon_p"]) for part in parts]
    rows = pl.concat(tested, how="diagonal") if tested else None
    return {LemonNodes: _described(rows, lost, frames)}


def _tested(nodes: pl.DataFrame, least_p: float) -> pl.DataFrame:
    """Add what the nodes of one cluster say about each other."""
    counts = nodes["failures"].to_numpy().astype(np.float64)
    exposures = nodes["exposure_ns"].cast(pl.Float64).to_numpy()
    whole = nodes.with_columns(
        fleet_nodes=pl.lit(nodes.height, pl.Int64),
        fleet_failures=pl.lit(int(counts.sum()), pl.Int64),
    )
    few = _too_few(nodes.height, int(counts.sum()))
    if few:
        return whole.with_columns(note=pl.lit(few))
    found = fleet(counts, exposures)
    return whole.with_columns(
        expected=pl.Series(found.expected),
        p_value=pl.Series(found.p_value),
        equal_nodes_p_value=pl.Series(found.equal_p_value),
        threshold_p_value=pl.lit(least_p / nodes.height),
        fleet_variation_ratio=pl.lit(found.variation),
        fleet_variation_low_ratio=pl.lit(found.variation_low),
        fleet_variation_high_ratio=pl.lit(found.variation_high, pl.Float64),
    )


def _too_few(nodes: int, failures: int) -> str:
    if nodes < LEAST_NODES:
        return f"fewer than {LEAST_NODES} nodes: no peers to hold it against"
    few = f"fewer than {FEW_EVENTS} failures of the whole fleet"
    return few if failures < FEW_EVENTS else ""


def _described(
    tested: pl.DataFrame | None, lost: pl.DataFrame, frames: Frames
) -> pl.DataFrame:
    """Return rows of LemonNodes: the nodes that failed."""
    schema = LemonNodes.create_empty().schema
    if tested is None:
        return LemonNodes.create_empty()
    serials = (
        frames[Gpus]
        .drop_nulls(["serial", "host"])
        .group_by("host")
        .agg(serials=pl.col("serial").unique().sort().str.join(","))
        .collect()
    )
    failed = tested.filter(pl.col("failures") > 0)
    joined = failed.join(lost, on=["cluster", "host"], how="left").join(
        serials, on="host", how="left"
    )
    named = joined.with_columns(
        pl.lit(None, kind).alias(name)
        for name, kind in schema.items()
        if name not in joined.columns and name != "is_lemon"
    )
    is_lemon = pl.col("p_value") < pl.col("threshold_p_value")
    stopped = pl.col("interruptions").fill_null(0)
    rows = named.with_columns(
        is_lemon=is_lemon.fill_null(value=False),
        interruptions=stopped,
        unknown_interruptions=pl.col("unknown_interruptions").fill_null(0),
        lost_gpu_ns=pl.when(stopped == 0).then(0).otherwise("lost_gpu_ns"),
    )
    return rows.select(pl.col(name).cast(kind) for name, kind in schema.items()).sort(
        LemonNodes.key
    )


ANALYSIS: Final = Analysis(
    name="lemon_nodes",
    version=2,
    describes="Nodes that fail more often than chance allows.",
    inputs=(Attempts, Gpus, Incidents, IncidentEvents, Interruptions, LossPhases),
    outputs=(LemonNodes,),
    compute=find_lemons,
    thresholds={"lemon_p": LEMON_P},
)
