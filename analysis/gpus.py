"""One row per GPU in a role of an attempt."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._ledger_evidence import seats_seen, traced_work
from analysis._ledger_hosts import mapped_gpus
from analysis._ledger_layout import place_in_layout
from analysis._ledger_log import read_log
from analysis.attempts import Attempts
from analysis.runs import Runs
from ingest.tables import (
    Collectives,
    HostMap,
    Kernels,
    Operations,
    StepTimings,
    Table,
)
from ingest.tables import _columns as c


class Gpus(Table):
    """One row per GPU in a role of an attempt."""

    key: ClassVar = (
        "run_id",
        "attempt",
        "rank",
        "trace_id",
        "device",
        "host",
        "local_rank",
        "gpu_uuid",
    )

    cluster = c.identifier("Cluster of the GPU.", nullable=True)
    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    rank = c.index(
        "Global rank; null for a spare, and where no source tells it.", nullable=True
    )
    is_seen = c.flag("Whether the GPU was seen at work, not only on the host map.")
    trace_id = c.identifier(
        "Trace that the GPU is known by, where no rank is.", nullable=True
    )
    device = c.index("Device inside that trace, where no rank is known.", nullable=True)
    from_ns = c.time_ns("Start of the role.")
    to_ns = c.time_ns("End of the role.")
    host = c.identifier("Node of the GPU.", nullable=True)
    local_rank = c.index("Position of the GPU in its node.", nullable=True)
    gpu_uuid = c.identifier("UUID of the GPU.", nullable=True)
    pci_address = c.identifier("PCI address of the GPU in its node.", nullable=True)
    serial = c.identifier("Serial number of the GPU.", nullable=True)
    nic = c.identifier("Network card that the GPU uses.", nullable=True)
    rail = c.identifier("Rail of that network card.", nullable=True)
    switch = c.identifier("First switch of that network card.", nullable=True)
    rack = c.identifier("Rack of the node.", nullable=True)
    pod = c.identifier("Pod of the rack.", nullable=True)
    tp_rank = c.index("Position in the tensor-parallel group.", nullable=True)
    cp_rank = c.index("Position in the context-parallel group.", nullable=True)
    pp_rank = c.index("Pipeline stage.", nullable=True)
    dp_rank = c.index("Data-parallel replica.", nullable=True)
    ep_rank = c.index("Position in the expert-parallel group.", nullable=True)


def find_gpus(frames: Frames) -> dy.DataFrame[Gpus]:
    """Say which GPU each rank of an attempt had, and where it stands in the layout.

    Ranks that were seen have a row, and so has every row of the host map. A GPU that
    only traces know has the bounds of its traces, since profilers open at other times
    on every rank; any other has those of the attempt.

    Args:
        frames: Runs, attempts, host map, step timings, kernels, operations and
            collectives.
    """
    traced = traced_work(frames[Kernels], frames[Operations], frames[Collectives])
    log = read_log(frames[StepTimings], traced)
    seen = seats_seen(log, traced, frames[Attempts])
    mapped = mapped_gpus(frames[HostMap], frames[Attempts])
    placed = place_in_layout(
        _dated(_together(seen, mapped), frames[Attempts]), frames[Runs]
    )
    rows = placed.with_columns(serial=pl.lit(None, pl.String)).select(
        Gpus.column_names()
    )
    return Gpus.validate(rows.unique(Gpus.key).sort(Gpus.key).collect(), cast=True)


def _together(seen: pl.LazyFrame, mapped: pl.LazyFrame) -> pl.LazyFrame:
    """Join ranks that were seen to the host map; spares and traces follow."""
    has_rank = pl.col("rank").is_not_null()
    told = seen.with_columns(is_seen=pl.lit(value=True))
    ranks = told.filter(has_rank)
    known = ranks.join(
        mapped.filter(has_rank),
        on=["run_id", "attempt", "rank"],
        how="full",
        coalesce=True,
    )
    others = [mapped.filter(~has_rank), told.filter(~has_rank)]
    rows = pl.concat([known, *others], how="diagonal")
    return rows.with_columns(pl.col("is_seen").fill_null(value=False))


def _dated(rows: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Give each GPU the bounds of its attempt, or those of its traces within them."""
    bounds = attempts.select(
        *["run_id", "attempt", "cluster", "basis"], opened="start_ns", closed="end_ns"
    )
    alone = (pl.col("basis") == "traces") | pl.col("rank").is_null()
    seen_from = pl.when(alone).then("start_ns")
    seen_to = pl.when(alone).then("end_ns")
    return rows.join(bounds, on=["run_id", "attempt"]).with_columns(
        from_ns=pl.coalesce(seen_from, "opened").clip("opened", "closed"),
        to_ns=pl.coalesce(seen_to, "closed").clip("opened", "closed"),
    )


def _compute(frames: Frames, _: Thresholds) -> Results:
    return {Gpus: find_gpus(frames)}


ANALYSIS: Final = Analysis(
    name="gpus",
    version=5,
    describes="Which GPU each rank of an attempt had, and where it stands",
    inputs=(
        Runs,
        Attempts,
        HostMap,
        StepTimings,
        Kernels,
        Operations,
        Collectives,
    ),
    needs=(Attempts,),
    outputs=(Gpus,),
    compute=_compute,
)
