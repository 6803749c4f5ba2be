"""Rows of what was taken from an Nsight Systems export."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from ingest.sources._kineto.collectives import named_collectives
from ingest.sources._kineto.facts import rank_in_name
from ingest.sources._kineto.limits import limits_of
from ingest.sources._kineto.links import Links, with_step
from ingest.sources._kineto.losses import Losses
from ingest.sources._kineto.rows import kernel_rows, sound_work, step_rows
from ingest.sources._kineto.spool import Spool
from ingest.sources._nsight.session import PROCESS
from ingest.sources._nsight.values import OTHER
from ingest.sources._source import Batch, Reading
from ingest.tables import Collectives, Kernels, StepTimings, Table

_UNNAMED: Final = "unnamed kernel"


@dataclass(frozen=True, slots=True)
class Export:
    """What was taken from an export.

    Attributes:
        work: Frames of work.
        launches: Frames of calls that may have launched it.
        names: Name and category by the number of a kernel's name.
        steps: Steps by process. [ns]
        devices: GPU by process and device.
        places: Processes and devices that did some work.
        base_ns: Start of the session, where it is told. [ns]
    """

    work: Spool
    launches: Spool
    names: pl.DataFrame
    steps: pl.DataFrame
    devices: pl.DataFrame
    places: frozenset[tuple[int, int]]
    base_ns: int | None


def rows_of(export: Export, losses: Losses, reading: Reading) -> Iterator[Batch]:
    """Yield the rows of an export."""
    limits = limits_of(export.work, export.steps, export.base_ns, None)
    rank = rank_in_name(reading.name) if len(export.places) == 1 else None
    links = Links(export.launches, export.steps.clear())
    for work in export.work:
        sound = sound_work(_whole_numbers(work, losses), limits, losses)
        linked = _on_gpus(_named(_linked(links, sound, export.steps), export), export)
        yield _batch(
            {
                Kernels: kernel_rows(linked, limits, rank, reading),
                Collectives: named_collectives(linked, limits, rank, reading),
            }
        )
        if losses.is_full:
            yield losses.take()
    yield _batch({StepTimings: step_rows(export.steps, limits, rank, reading, losses)})


def _whole_numbers(work: pl.DataFrame, losses: Losses) -> pl.DataFrame:
    """Return the work of which every column was a whole number; refuse the rest."""
    others = work.filter(pl.col(OTHER).is_not_null())
    for event, raw in others.select("event", OTHER).iter_rows():
        losses.refuse_event(Kernels, "not_whole_numbers", event, raw)
    return work.filter(pl.col(OTHER).is_null()).drop(OTHER)


def _linked(links: Links, work: pl.DataFrame, steps: pl.DataFrame) -> pl.DataFrame:
    """Add `launch`, and the `step` of the process that launched."""
    linked = links.link(work)
    launched = linked.select("event", "launch", "process").drop_nulls("launch")
    found = with_step(launched, steps, by="process").select("event", "step")
    return linked.drop("step").join(found, on="event", how="left").sort("event")


def _named(work: pl.DataFrame, export: Export) -> pl.DataFrame:
    """Name the kernels, and tell the communication among them."""
    told = work.join(export.names, on="kernel", how="left", suffix="_told")
    is_kernel = pl.col("kernel").is_not_null()
    return told.with_columns(
        name=pl.when(is_kernel)
        .then(pl.col("name_told").fill_null(_UNNAMED))
        .otherwise("name"),
        category=pl.coalesce("category_told", "category"),
    )


def _on_gpus(work: pl.DataFrame, export: Export) -> pl.DataFrame:
    """Give the GPU as device, where it is told which one a process meant."""
    placed = work.with_columns(pid=pl.col("process") % PROCESS).join(
        export.devices, on=("pid", "device"), how="left"
    )
    return placed.with_columns(device=pl.coalesce("gpu", "device")).sort("event")


def _batch(rows: dict[type[Table], pl.DataFrame]) -> Batch:
    return Batch(rows={table: frame for table, frame in rows.items() if len(frame)})
