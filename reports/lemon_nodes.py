"""Which nodes fail more often than chance allows, and how many spares pay."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.lemon_nodes import LemonNodes
from analysis.runs import Runs
from analysis.spare_plans import SparePlans
from reports import _lemon_listing, _spare_chart
from reports._numbers import grouped, percent, significant
from reports._rate_shown import Row, chance
from reports._section import Content, Scope, Section
from reports._words import name, plural

_EMPTY: Final = (
    "Kernel logs, DCGM reports or a scheduler's events tell of failures, and a job"
    " list with its nodes how long each node was held. What would be found: nodes that"
    " fail more often than the rest of the fleet lets expect, with the probability that"
    " it is chance, and how many spares pay."
)


def build(frames: Frames, scope: Scope) -> Content:
    """Return the nodes that fail too often, and how many spares pay."""
    nodes = _nodes(frames, scope)
    if nodes.is_empty():
        return Content(
            heading="No node is known to have failed while a run held it.",
            empty=_EMPTY,
        )
    best = {
        cluster: found
        for cluster in nodes["cluster"].unique().sort()
        if (found := _spare_chart.best_of(frames, cluster))
    }
    first = next(iter(best.values()), None)
    return Content(
        heading=_heading(nodes, scope),
        paragraphs=[
            *_fleets(nodes),
            *(_spare_chart.sentence(found, scope) for found in best.values()),
        ],
        charts=_spare_chart.chart(frames, first) if first else [],
        listings=_lemon_listing.listing(nodes, scope),
    )


def _nodes(frames: Frames, scope: Scope) -> pl.DataFrame:
    """Return the nodes that failed in clusters of the runs on the page."""
    clusters = scope.of_runs(frames[Runs]).select("cluster").drop_nulls().collect()
    among = pl.col("cluster").is_in(clusters["cluster"].to_list())
    rows = frames[LemonNodes].filter(among | pl.lit(value=clusters.is_empty()))
    order = ["p_value", "failures", "cluster", "host"]
    down = [False, True, False, False]
    return rows.sort(order, descending=down, nulls_last=True).collect()


def _heading(nodes: pl.DataFrame, scope: Scope) -> str:
    lemons = nodes.filter("is_lemon").to_dicts()
    first = nodes.row(0, named=True)
    if lemons:
        more = f" {plural(len(lemons) - 1, 'more', 'more')}." if len(lemons) > 1 else ""
        cost = f": {_lemon_listing.cost(first, scope)}."
        if first["lost_gpu_ns"] is None:
            cost = "; what that cost is not known."
        return (
            f"{name(first['host'], 30)} failed {plural(first['failures'], 'time')}"
            f" where {significant(first['expected'], 2)} are expected,"
            f" {_odds(first)}{cost}{more}"
        )
    if first["p_value"] is None:
        failed = plural(nodes.height, "node")
        return (
            f"{failed} failed; whether one is a lemon cannot be told: {first['note']}."
        )
    most = nodes.sort("failures", "host", descending=[True, False]).row(0, named=True)
    if most["failures"] == 1:
        return "No node failed twice, so that none fails more often than chance allows."
    return (
        "No node fails more often than chance allows: the most,"
        f" {plural(most['failures'], 'failure')} of {name(most['host'], 30)}, is"
        f" {_odds(most)}; a node is named below {chance(most['threshold_p_value'])}."
    )


def _odds(row: Row) -> str:
    return f"{chance(row['p_value'])} by chance"


def _fleets(nodes: pl.DataFrame) -> list[str]:
    """Say of each fleet that was tested what is usual in it."""
    tested = nodes.drop_nulls("p_value").unique("cluster", keep="first").sort("cluster")
    return [
        (
            f"{name(row['cluster'], 30)}: {plural(row['fleet_failures'], 'failure')} of"
            f" {grouped(row['fleet_nodes'])} nodes; {_spread(row)}. The probability of"
            " each node allows for that. A node is named below"
            f" {chance(row['threshold_p_value'])}, so that one in 20 healthy fleets"
            " names any."
        )
        for row in tested.to_dicts()
    ]


def _spread(row: Row) -> str:
    """Say by how much the rates of nodes differ, or that nobody can tell."""
    low, high = row["fleet_variation_low_ratio"], row["fleet_variation_high_ratio"]
    if not low and high is None:
        return "by how much their rates differ is not told by so few"
    if not low:
        return (
            "nothing shows that their rates differ, and they may by up to"
            f" {percent(high)} of the mean"
        )
    told = percent(row["fleet_variation_ratio"])
    to = f"{percent(low)} or more" if high is None else f"{percent(low)} to"
    end = "" if high is None else f" {percent(high)}"
    return f"their rates differ by {told} of the mean (95 %: {to}{end})"


SECTION: Final = Section(
    "lemon_nodes",
    "Lemon nodes",
    (LemonNodes, SparePlans, Runs),
    build,
)
