"""Failures of nodes of which nothing tells for how long they were in use."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.interrupt_rates import InterruptRates
from reports._numbers import grouped
from reports._rate_shown import WHOLE
from reports._runs import MOST_ROWS
from reports._section import Column, Content, Listing, Scope
from reports._words import name, plural

_WHY: Final = (
    "A list of failures names the nodes that failed, and none of those that did not: a"
    " count over them alone would be too high. What would give a rate: a job list with"
    " the nodes of each job (sacct), or a step log with hosts, of the same cluster and"
    " time, as one run; gpuledger then counts the failures that fell on nodes in use."
)

_SQL: Final = """\
SELECT cluster, sum(count) AS incidents, count(*) AS nodes
FROM interrupt_rates
WHERE scope = 'host' AND level = 'incident' AND category = 'all' AND component = 'all'
GROUP BY cluster
ORDER BY incidents DESC, cluster"""


def counted(frames: Frames, scope: Scope) -> Content | None:
    """Return the counts of clusters without a rate; None where there is nothing.

    Args:
        frames: The tables.
        scope: Runs of the page.
    """
    rows = scope.of_runs(frames[InterruptRates], or_none=True).filter(
        WHOLE, (pl.col("level") == "incident") & (pl.col("count") > 0)
    )
    whole = rows.filter(pl.col("scope") == "cluster").collect()
    if whole.is_empty() or whole["node_time_ns"].count():
        return None
    hosts = rows.filter(pl.col("scope") == "host").group_by("cluster")
    nodes = hosts.agg(nodes=pl.col("scope_id").n_unique()).collect()
    found = whole.join(nodes, on="cluster", how="left").sort(
        ["count", "cluster"], descending=[True, False]
    )
    count, failed = int(found["count"].sum()), int(found["nodes"].sum())
    return Content(
        heading=f"{plural(count, 'incident')} on {plural(failed, 'node')} that failed:"
        " a count and no rate, since nothing tells how many nodes there were, and for"
        " how long.",
        paragraphs=[_WHY],
        listings=[_listing(found)] if found.height > 1 else [],
    )


def _listing(found: pl.DataFrame) -> Listing:
    more = found.height - MOST_ROWS
    return Listing(
        title="Incidents by cluster",
        columns=(
            Column("Cluster"),
            Column("Incidents", is_number=True),
            Column("Nodes that failed", is_number=True),
        ),
        rows=[
            (
                name(row["cluster"], 30),
                grouped(row["count"]),
                grouped(row["nodes"] or 0),
            )
            for row in found.head(MOST_ROWS).to_dicts()
        ],
        more=plural(more, "more cluster") if more > 0 else "",
        sql=_SQL,
    )
