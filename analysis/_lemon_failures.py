"""What failed on one node alone, and what its failures held up."""

from typing import Final

import polars as pl

from analysis._failure_roles import is_failure
from ingest.phrases import phrase

#: Categories that say nothing about the node: the job, its owner or work on the node.
_NOT_ITS_OWN: Final = ("user", "scheduler", "human", "maintenance")

_NODE: Final = ["cluster", "host"]
_STOP: Final = ["run_id", "attempt", "stop"]


def node_failures(incidents: pl.DataFrame, events: pl.DataFrame) -> pl.DataFrame:
    """Count the incidents of each node that fell on an attempt.

    Args:
        incidents: Rows of Incidents.
        events: Rows of IncidentEvents.

    Returns:
        A row for each node: `cluster`, `host`, `failures`, `first_ns`, `last_ns`,
        `causes` and `gpu_keys`.
    """
    held = events.filter(pl.col("run_id").is_not_null()).select("incident_id").unique()
    own = incidents.filter(
        is_failure()
        & (pl.col("role") == "root")
        & ~pl.col("category").is_in(_NOT_ITS_OWN)
        & pl.col("host").is_not_null()
    ).join(held, on="incident_id", how="semi")
    counts = own.group_by(_NODE).agg(
        pl.col("first_ns").min(),
        pl.col("last_ns").max(),
        failures=pl.len().cast(pl.Int64),
    )
    codes = own.with_columns(code=phrase("{} {}", "root_source", "root_code"))
    return counts.join(_listed(codes, "code", "causes"), on=_NODE, how="left").join(
        _listed(own, "gpu_key", "gpu_keys"), on=_NODE, how="left"
    )


def _listed(rows: pl.DataFrame, column: str, name: str) -> pl.DataFrame:
    """Return what a column says on each node, the most frequent first."""
    told = rows.drop_nulls(column).group_by(*_NODE, column).agg(times=pl.len())
    ordered = told.sort(
        [*_NODE, "times", column], descending=[False, False, True, False]
    )
    said = ordered.with_columns(_said=phrase("{} ({})", column, "times"))
    return said.group_by(_NODE, maintain_order=True).agg(
        pl.col("_said").str.join(", ").alias(name)
    )


def held_up(
    interruptions: pl.DataFrame, incidents: pl.DataFrame, phases: pl.DataFrame
) -> pl.DataFrame:
    """Sum up what interruptions cost that are laid to a node.

    Args:
        interruptions: Rows of Interruptions.
        incidents: Rows of Incidents.
        phases: Rows of LossPhases.

    Returns:
        A row for each node: `cluster`, `host`, `interruptions`, of how many of them a
        phase is not known (`unknown_interruptions`), `lost_gpu_ns` (null where what is
        known cost nothing, and something is not known) and the `run_id` that lost
        most. [ns]
    """
    hosts = incidents.select("incident_id", *_NODE).drop_nulls("host")
    own = phases.filter(pl.col("account").is_not_null())
    costs = own.group_by(_STOP).agg(
        lost=pl.col("gpu_ns").cast(pl.Int128).sum(),
        is_whole=pl.col("gpu_ns").is_not_null().all(),
    )
    stops = (
        interruptions.filter(~pl.col("planned"))
        .join(hosts, on="incident_id")
        .join(costs, on=_STOP, how="left")
    )
    by_run = stops.group_by(*_NODE, "run_id").agg(
        pl.col("lost").sum(),
        interruptions=pl.len().cast(pl.Int64),
        unknown=(~pl.col("is_whole").fill_null(value=False)).sum().cast(pl.Int64),
    )
    order = [False, False, True, False]
    ordered = by_run.sort([*_NODE, "lost", "run_id"], descending=order)
    is_known = (pl.col("lost").sum() > 0) | (pl.col("unknown").sum() == 0)
    return ordered.group_by(_NODE, maintain_order=True).agg(
        pl.col("interruptions").sum(),
        pl.col("run_id").first(),
        unknown_interruptions=pl.col("unknown").sum(),
        lost_gpu_ns=pl.when(is_known).then(pl.col("lost").sum()),
    )
