"""How long nodes and runs were observed: what failures are counted against."""

from typing import Final

import polars as pl

from analysis._exposure_spans import by_week, spans
from analysis.intervals import union_ns

#: Columns of an exposure. `exposure_ns` is what a mean time is taken of, `node_time_ns`
#: what a rate for node-days is.
EXPOSURE: Final = (
    "scope",
    "cluster",
    "run_id",
    "scope_id",
    "on_nodes",
    "exposure_ns",
    "node_time_ns",
    "period_start_ns",
    "period_end_ns",
)

_SCOPE: Final = list(EXPOSURE[:5])

_PERIOD: Final = (
    pl.col("start_ns").min().alias("period_start_ns"),
    pl.col("end_ns").max().alias("period_end_ns"),
)
_LENGTH: Final = (pl.col("end_ns") - pl.col("start_ns")).cast(pl.Int128)


def exposures(
    attempts: pl.DataFrame, nodes: pl.DataFrame, runs: pl.DataFrame
) -> pl.DataFrame:
    """Sum up the observed time of clusters, models of GPU, runs, weeks and nodes.

    Weeks are those of a cluster (`run_id` is null) and of each run; the first and the
    last of them have the time that was observed in them, and no more.

    Args:
        attempts: Rows of Attempts, their cluster known.
        nodes: Nodes held, from `held_nodes`.
        runs: Rows of Runs, which tell how many GPUs a node has, and of which model.

    Returns:
        The columns of EXPOSURE; times that are not known in full are null. [ns]
    """
    found = spans(attempts, nodes, runs)
    weeks = by_week(found.filter(pl.col("scope") != "gpu_model"))
    by_host = of_hosts(nodes)
    return pl.concat(
        [
            _of_host(by_host, on_nodes=True),
            _of_host(by_host, on_nodes=False),
            sum_up(found),
            sum_up(weeks),
        ]
    )


def sum_up(found: pl.DataFrame) -> pl.DataFrame:
    """Sum spans up, null where the nodes of some cannot be counted.

    Args:
        found: Rows of `spans`.

    Returns:
        The columns of EXPOSURE. [ns]
    """
    summed = found.group_by(_SCOPE).agg(
        *_PERIOD, exposure_ns=_total("own"), node_time_ns=_total("nodes")
    )
    return summed.select(EXPOSURE)


def of_hosts(nodes: pl.DataFrame) -> pl.DataFrame:
    """Return the observed time of nodes; one that two runs share counts once. [ns]

    Args:
        nodes: Nodes held, from `held_nodes`.
    """
    held = nodes.group_by("cluster", "host")
    return held.agg(*_PERIOD, node_time_ns=union_ns().cast(pl.Int128))


def _of_host(by_host: pl.DataFrame, *, on_nodes: bool) -> pl.DataFrame:
    return by_host.with_columns(
        scope=pl.lit("host"),
        run_id=pl.lit(None, pl.String),
        scope_id=pl.col("host"),
        on_nodes=pl.lit(value=on_nodes),
        exposure_ns=pl.col("node_time_ns"),
    ).select(EXPOSURE)


def _total(weight: str) -> pl.Expr:
    amount = _LENGTH * pl.col(weight)
    return pl.when(~amount.is_null().any()).then(amount.sum())
