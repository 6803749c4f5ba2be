"""One row per GPU in a role of an attempt."""

from collections.abc import Iterator
from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._ledger_evidence import seats_seen, traced_work
from analysis._ledger_hosts import HostMaps, read_maps
from analysis._ledger_layout import place_in_layout
from analysis._ledger_log import read_log
from analysis._ledger_portions import PORTION_SEATS, portions_of
from analysis.attempts import Attempts
from analysis.rank_hours import RankHours
from analysis.runs import Runs
from ingest._schema import schema_of
from ingest.tables import (
    Collectives,
    HostMap,
    Kernels,
    Operations,
    StepTimings,
    Table,
)
from ingest.tables import _columns as c

_ATTEMPT: Final = ["run_id", "attempt"]

#: What of an attempt its GPUs have, its nodes beside it.
_HELD: Final = (
    *("run_id", "attempt", "cluster", "basis", "hosts"),
    pl.col("start_ns").alias("opened"),
    pl.col("end_ns").alias("closed"),
)


#: What is known of GPUs that only the map tells of.
_UNSEEN: Final = (
    pl.lit(value=False).alias("is_seen"),
    *(pl.lit(None, pl.Int64).alias(name) for name in ("start_ns", "end_ns")),
    pl.lit(None, pl.String).alias("trace_id"),
    pl.lit(None, pl.Int32).alias("device"),
)


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


_TYPES: Final = schema_of(Gpus)


def find_gpus(frames: Frames) -> dy.DataFrame[Gpus]:
    """Say which GPU each rank of an attempt had, and where it stands in the layout.

    Ranks that were seen have a row, and so has every row of the host map. A GPU that
    only traces know has the bounds of its traces, since profilers open at other times
    on every rank; any other has those of the attempt.

    Args:
        frames: Runs, attempts, host map, step timings, kernels, operations and
            collectives.
    """
    rows = pl.concat([Gpus.create_empty(), *gpus_by_portion(frames)])
    return Gpus.validate(rows.sort(Gpus.key), cast=True)


def gpus_by_portion(
    frames: Frames, portion_seats: int = PORTION_SEATS
) -> Iterator[pl.DataFrame]:
    """Find the same GPUs, those of some attempts at a time.

    Args:
        frames: What `find_gpus` takes.
        portion_seats: GPUs of attempts to hold at once; an attempt is not parted. [1]

    Returns:
        Rows of Gpus in the order of the key, those of a run and attempt in one portion.
    """
    traced = traced_work(frames[Kernels], frames[Operations], frames[Collectives])
    log = read_log(frames[StepTimings], traced)
    attempts, runs = frames[Attempts], frames[Runs]
    seen = seats_seen(log, traced, attempts, frames[RankHours])
    known = read_maps(frames[HostMap], attempts)
    maps = HostMaps(place_in_layout(known.gpus, runs).collect().lazy(), known.names)
    sizes = _sizes(maps, attempts, seen)
    for some in portions_of(attempts, sizes, portion_seats):
        held = some.select(_HELD)
        # a list of nodes is long: in the row of each rank it would take gigabytes
        alone = held.drop("hosts")
        here = seen.join(alone, on=_ATTEMPT).sort(Gpus.key[:5]).collect()
        rows = maps.of_attempts(held)
        if here.is_empty():
            rows = rows.with_columns(_UNSEEN)
        else:
            rows = _with_seen(rows, here.lazy(), runs)
        yield _dated(rows).select(Gpus.column_names()).cast(_TYPES).collect()


def _sizes(maps: HostMaps, attempts: pl.LazyFrame, seen: pl.LazyFrame) -> pl.LazyFrame:
    """Return a row for each attempt of each number of GPUs that it may have."""
    mapped = maps.gpus.group_by("run_id").agg(seats=pl.len())
    counted = seen.group_by(_ATTEMPT).agg(seats=pl.len())
    told = attempts.select(_ATTEMPT).join(mapped, on="run_id")
    return pl.concat([told, counted.select(told.collect_schema().names())])


def _with_seen(
    mapped: pl.LazyFrame, seen: pl.LazyFrame, runs: pl.LazyFrame
) -> pl.LazyFrame:
    """Join GPUs that were seen to those of the map; those without a rank come first."""
    rank, told = [*_ATTEMPT, "rank"], pl.lit(value=True)
    marks = seen.select(*rank, "start_ns", "end_ns", is_seen=told)
    known = mapped.join(marks, on=rank, how="left", maintain_order="left")
    others = seen.join(mapped.drop_nulls("rank"), on=rank, how="anti")
    alone = place_in_layout(others, runs).with_columns(is_seen=told)
    both = pl.concat([known, alone], how="diagonal_relaxed")
    return both.sort(rank, maintain_order=True)


def _dated(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Give each GPU the bounds of its attempt, or those of its traces within them."""
    alone = (pl.col("basis") == "traces") | pl.col("rank").is_null()
    seen_from, seen_to = (pl.when(alone).then(one) for one in ("start_ns", "end_ns"))
    return rows.with_columns(
        from_ns=pl.coalesce(seen_from, "opened").clip("opened", "closed"),
        to_ns=pl.coalesce(seen_to, "closed").clip("opened", "closed"),
        is_seen=pl.col("is_seen").fill_null(value=False),
        serial=pl.lit(None, pl.String),
    )


def _compute(frames: Frames, _: Thresholds) -> Results:
    return {Gpus: find_gpus(frames)}


def _portions(frames: Frames, _: Thresholds) -> Iterator[Results]:
    for rows in gpus_by_portion(frames):
        yield {Gpus: rows}


ANALYSIS: Final = Analysis(
    name="gpus",
    version=5,
    describes="Which GPU each rank of an attempt had, and where it stands",
    inputs=(
        Runs,
        Attempts,
        HostMap,
        StepTimings,
        RankHours,
        Kernels,
        Operations,
        Collectives,
    ),
    needs=(Attempts,),
    outputs=(Gpus,),
    compute=_compute,
    portions=_portions,
)
