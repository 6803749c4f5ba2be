"""One row per run, its card joined to what was seen of it."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis.attempts import Attempts
from ingest.tables import Jobs, RunCards, Table
from ingest.tables import _columns as c


class Runs(Table):
    """One row per run, its card joined to what was seen of it."""

    key: ClassVar = ("run_id",)

    run_id = c.identifier("Run.")
    cluster = c.identifier("Cluster that it ran on.", nullable=True)
    model = c.text("Model that was trained.")
    gpu_model = c.text("Model of the GPUs.")
    gpu_count = c.count("GPUs of the run.", nullable=True)
    gpus_per_node = c.number("GPUs in one node.", nullable=True)
    tp = c.number("Tensor-parallel ranks.", nullable=True)
    cp = c.number("Context-parallel ranks.", nullable=True)
    pp = c.number("Pipeline stages.", nullable=True)
    dp = c.number("Data-parallel replicas.", nullable=True)
    ep = c.number("Expert-parallel ranks.", nullable=True)
    vpp = c.number("Virtual pipeline chunks of a stage.", nullable=True)
    rank_order = c.text("Order in which ranks are numbered, fastest first.")
    microbatches = c.number("Micro-batches of a step and replica.", nullable=True)
    tokens_per_step = c.number("Tokens of a step.", nullable=True)
    planned_steps = c.number("Steps that the run is meant to take.", nullable=True)
    billing = c.choice("What is paid for.", ("allocated", "reserved"))
    reserved_gpus = c.number("GPUs paid for outside attempts too.", nullable=True)
    usd_per_gpu_hour = c.real(
        "Price on the run card; null where there is none.", nullable=True
    )
    price_mode = c.choice(
        "How GPUs are paid for, on the run card.", ("rental", "owned"), nullable=True
    )
    has_card = c.flag("Whether a run card describes the run.")
    start_ns = c.time_ns("Start of the first attempt.", nullable=True)
    end_ns = c.time_ns("End of the last attempt.", nullable=True)


def describe_runs(
    cards: dy.LazyFrame[RunCards],
    jobs: dy.LazyFrame[Jobs],
    attempts: dy.LazyFrame[Attempts],
) -> dy.DataFrame[Runs]:
    """Join the card of each run to what was seen of it.

    A run without a card is known from its attempts, or from a job that names it and
    never started. What no card says is null; the billing is then `allocated`.

    Returns:
        One row per run that a card, an attempt or a job names.
    """
    described = cards.with_columns(has_card=pl.lit(value=True))
    seen = _seen(attempts)
    queued = jobs.filter(Jobs.run_id.col.is_not_null())
    named = [rows.select("run_id") for rows in (described, seen, queued)]
    rows = (
        pl.concat(named)
        .unique()
        .join(described, on="run_id", how="left")
        .join(seen, on="run_id", how="left")
        .with_columns(
            cluster=pl.coalesce("cluster", "seen_cluster"),
            gpu_count=pl.coalesce(RunCards.gpus.col, "seen_gpus"),
            gpu_model=RunCards.gpu.col,
            billing=RunCards.billing.col.fill_null("allocated"),
            has_card=pl.col("has_card").fill_null(value=False),
        )
    )
    ordered = rows.select(Runs.column_names()).sort(Runs.key)
    return Runs.validate(ordered.collect(), cast=True)


def _seen(attempts: pl.LazyFrame) -> pl.LazyFrame:
    return attempts.group_by("run_id").agg(
        Attempts.start_ns.col.min(),
        Attempts.end_ns.col.max(),
        seen_cluster=Attempts.cluster.col.drop_nulls().first(),
        seen_gpus=Attempts.gpu_count.col.max(),
    )


def _compute(frames: Frames, _: Thresholds) -> Results:
    return {Runs: describe_runs(frames[RunCards], frames[Jobs], frames[Attempts])}


ANALYSIS: Final = Analysis(
    name="runs",
    version=1,
    describes="What each run is, from its card and from what was seen of it",
    inputs=(RunCards, Jobs, Attempts),
    outputs=(Runs,),
    compute=_compute,
)
