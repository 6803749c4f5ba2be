"""Whose clock a time was read from."""

import polars as pl

from analysis._clock_hosts import HOST
from analysis.gpus import Gpus

_RANK = ("run_id", "attempt", "rank")


def hosts_of_ranks(gpus: pl.LazyFrame) -> pl.LazyFrame:
    """Return the host of each rank that was on one host only, in its attempt.

    Args:
        gpus: Rows of Gpus.
    """
    told = gpus.filter(Gpus.rank.col.is_not_null() & Gpus.host.col.is_not_null())
    hosts = told.group_by(_RANK).agg(
        gpu_host=Gpus.host.col.min(), hosts=Gpus.host.col.n_unique()
    )
    return hosts.filter(pl.col("hosts") == 1).drop("hosts")


def name_clocks(
    rows: pl.LazyFrame, hosts: pl.LazyFrame, split: pl.LazyFrame
) -> pl.LazyFrame:
    """Add the clock of each row: that of its host, or of its trace where none is known.

    Processes of one host read one clock, unless their ends are seen to disagree.
    Traces of which nobody tells the host may be of one host or of many: each is a clock
    of its own, and its ends say how far it is from the others.

    Args:
        rows: Rows with `run_id`, `attempt`, `rank`, `host` and `trace_id`.
        hosts: What `hosts_of_ranks` returns.
        split: What `split_hosts` returns.

    Returns:
        The rows with `clock`, and their host where anything tells it.
    """
    told = rows.join(hosts, on=list(_RANK), how="left")
    host = pl.coalesce("host", "gpu_host")
    apart = split.select(*HOST, is_split=pl.lit(value=True))
    placed = told.with_columns(host=host).join(apart, on=list(HOST), how="left")
    whole = pl.when(pl.col("is_split").is_null()).then("host")
    named = placed.with_columns(clock=pl.coalesce(whole, "trace_id"))
    return named.drop("gpu_host", "is_split")
