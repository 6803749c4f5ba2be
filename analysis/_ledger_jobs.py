"""Scheduler jobs as attempts of the run that they belong to."""

from typing import Final

import polars as pl

from ingest.tables import Jobs, RunCards

#: GPUs that one attempt can hold at most: ten times the largest run announced so far.
#: A count beyond it is a slip of the source and is taken as unknown.
GPUS_MAX: Final = 1_000_000

#: What attempts take from their job as it is.
_TOLD: Final = ("state", "submit_ns", "hosts", "cancelled_by", "restart_count")


def jobs_of_runs(jobs: pl.LazyFrame, cards: pl.LazyFrame) -> pl.LazyFrame:
    """Return the jobs that started for a run, in order of start.

    A job belongs to the run that it names, else to the run whose card lists it, on the
    card's cluster if there is one of that number, else to the run of its name that has
    a card on its cluster.

    Returns:
        Columns run_id, cluster, job_id, state, submit_ns, start_ns, end_ns (null while
        it runs), gpu_count (null where unknown), hosts, cancelled_by, restart_count.
    """
    started = jobs.filter(Jobs.start_ns.col.is_not_null())
    named = started.filter(Jobs.run_id.col.is_not_null())
    nameless = started.filter(Jobs.run_id.col.is_null()).drop("run_id")
    found = pl.concat([named, _listed(nameless, cards)], how="diagonal")
    sized = found.join(
        cards.select("run_id", RunCards.gpus_per_node.col), on="run_id", how="left"
    )
    on_nodes = Jobs.node_count.col * pl.col("gpus_per_node")
    gpus = pl.coalesce(_plausible(Jobs.gpu_count.col), _plausible(on_nodes))
    order = ["run_id", "start_ns", "cluster", "job_id", "end_ns"]
    return (
        sized.select(*order, *_TOLD, gpu_count=gpus)
        .sort(order)
        .unique(order[:-1], keep="last", maintain_order=True)
    )


def _plausible(count: pl.Expr) -> pl.Expr:
    return pl.when(count.is_between(1, GPUS_MAX)).then(count)


def _listed(nameless: pl.LazyFrame, cards: pl.LazyFrame) -> pl.LazyFrame:
    listed = cards.select(
        RunCards.run_id.col,
        RunCards.cluster.col.alias("card_cluster"),
        RunCards.job_ids.col.str.split(",").alias("job_id"),
    ).explode("job_id")
    stripped = listed.with_columns(pl.col("job_id").str.strip_chars())
    is_here = pl.col("cluster") == pl.col("card_cluster")
    found = nameless.join(stripped, on="job_id")
    best = found.filter(is_here | ~is_here.any().over("run_id", "job_id"))
    called = cards.select("run_id", "cluster", job_name="run_id")
    alike = nameless.join(called, on=["cluster", "job_name"])
    rows = pl.concat(
        [
            best.drop("card_cluster").with_columns(_rank=pl.lit(0)),
            alike.with_columns(_rank=pl.lit(1)),
        ],
        how="diagonal",
    )
    return (
        rows.sort("_rank", "run_id")
        .unique(["cluster", "job_id", "start_ns"], keep="first", maintain_order=True)
        .drop("_rank")
    )
